# SPDX-License-Identifier: BSD-3-Clause
#
# whoami.py - os.environ, a copy of the environment from the start of the interpreter, says what MPI says, in a
# replacement too.
import os

from mpi4py import MPI
c = MPI.COMM_WORLD
me, np = c.Get_rank(), c.Get_size()
def look():
    for n, v in (("OMPI_COMM_WORLD_RANK", me), ("PMIX_RANK", me),
                 ("OMPI_COMM_WORLD_SIZE", np), ("OMPI_COMM_WORLD_LOCAL_SIZE", np)):
        if os.environ[n] != str(v):
            print("rank", me, n, "is", os.environ[n], flush=True)
            c.Abort(1)
look()
s = 0
for i in range(20):
    s = c.allreduce(i)
look()
if me == 0:
    print("sum", s)
