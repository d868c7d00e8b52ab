# SPDX-License-Identifier: BSD-3-Clause
#
# rows.py - ranks add to each other's windows and keep arrays of several kinds. `fails`: body raises an exception.
# `exits`: body calls sys.exit(7). `refusals`: what cannot be protected is refused.
import sys

import numpy
from mpi4py import MPI

import ftrma

how = sys.argv[1] if len(sys.argv) > 1 else ""
world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
window = MPI.Win.Allocate(8 * size, 8, comm=world)
sums = numpy.frombuffer(window, dtype="i8")
sums[:] = 0
step = numpy.zeros((), "i4")
plane = numpy.zeros((6, 7), order="F")
row = numpy.zeros((3, 5), "c8")[1]
table = numpy.zeros(4, [("count", "i4"), ("name", "S6")])
scratch = numpy.zeros(100)


def refused(error, array):
    try:
        ftrma.protect(array)
    except error as said:
        print("refused:", said, flush=True)
        return
    print("not refused:", array, flush=True)
    world.Abort(1)


def work():
    while step < 60:
        ftrma.safepoint()
        window.Fence()
        for other in range(size):
            window.Accumulate(numpy.array([rank + step], "i8"), other, [rank, 1, MPI.LONG], MPI.SUM)
        window.Fence()
        scratch[:] = sums.sum()
        plane[:] += scratch[0] % 17
        row[:] += 1j * sums[rank]
        table["count"] += sums[0] % 5
        table["name"][step % 4] = b"s%d" % step
        step[...] += 1
        if step == 20:
            print("rank %d is at step 20" % rank)
            if how == "fails" and rank == 1:
                raise ValueError("no more")
            if how == "exits" and rank == 1:
                sys.exit(7)


if how == "refusals":
    refused(TypeError, 3)
    refused(TypeError, step[()])
    refused(TypeError, numpy.array([None]))
    refused(ValueError, plane[:, ::2])
    refused(ValueError, numpy.broadcast_to(row, (2, 5)))
    plane.flags.writeable = False
    refused(ValueError, plane)
    sys.exit(0)
for array in (step, plane, row, table):
    ftrma.protect(array)
ftrma.unprotect(scratch)
ftrma.run(work)
try:
    ftrma.protect(plane)
except RuntimeError as said:
    print("after run():", said)
names = sum(map(sum, table["name"].tolist()))
total = world.reduce(float(plane.sum() + abs(row).sum() + table["count"].sum() + sums.sum() + names))
if rank == 0:
    print("result: %r" % total)
window.Free()
