# heat.py - heat.c in Python: a rod that is held at 1 at one end cools at the other; neighbours exchange their edges.
import numpy
from mpi4py import MPI

import ftrma

cells, steps = 100, 2000
world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
left = rank - 1 if rank > 0 else MPI.PROC_NULL
right = rank + 1 if rank + 1 < size else MPI.PROC_NULL
u = numpy.zeros(cells + 2)  # this rank's part of the rod; next to it the neighbours' edges
step = numpy.zeros(1, int)  # an array, for only arrays can be protected


def work():  # starts from step[0], whatever its value is
    while step[0] < steps:
        ftrma.safepoint()
        world.Sendrecv(u[1:2], left, 0, u[-1:], right, 0)
        world.Sendrecv(u[-2:-1], right, 1, u[:1], left, 1)
        if rank == 0:
            u[0] = 1
        u[1:-1] += 0.25 * (u[:-2] - 2 * u[1:-1] + u[2:])  # in place: u stays the array that is protected
        step[0] += 1


ftrma.protect(u)
ftrma.protect(step)
ftrma.run(work)
total = world.reduce(u[1:-1].sum())
if rank == 0:
    print("result: %.15f after %d steps" % (total, step[0]))
