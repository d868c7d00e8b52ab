# SPDX-License-Identifier: BSD-3-Clause
#
# python_hash.py - ranks send round a ring in the order of a set of words, which depends on the hash
# seed of the interpreter.
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
words = {"word%d" % i: i for i in range(20)}
total = 0
for turn in range(10):
    for word in set(words):
        got = comm.sendrecv(turn * len(word), (rank + 1) % size, words[word], None, (rank - 1) % size, MPI.ANY_TAG)
        total += got + turn
print("rank %d has %d" % (rank, total), flush=True)
