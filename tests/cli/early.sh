#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# early.sh - programs that crash or end before MPI_Init, or never call it: the others are not left
# waiting.
. "$(dirname "$0")/lib.sh"

ends 1 "process 0 (pid [0-9]*) died before the end of MPI_Init" "$ftrun" -n 3 "$ending" segv-before 0
ends 1 "died before the end of MPI_Init" "$ftrun" -n 3 "$ending" segv-before 4 # a spare's process
ends 1 "died before the end of MPI_Init" "$ftrun" -n 3 "$ending" segv-before
ends 9 "process 1 (pid [0-9]*) ended with exit status 9 before the end of MPI_Init" \
    "$ftrun" -n 3 "$ending" exit-before 1 9
ends 9 "ended with exit status 9 before the end of MPI_Init" "$ftrun" -n 3 "$ending" _exit-before 1 9
ends 9 "ended with exit status 9 before the end of MPI_Init" "$ftrun" -n 3 "$ending" exit-before -1 9
ends 1 "process 1 ended without calling MPI_Init" "$ftrun" -n 3 "$ending" exit-before 1 0
ends 0 "ended without ever calling MPI_Init" "$ftrun" -n 3 "$ending" exit-before -1 0
ends 0 "^no MPI here$" "$ftrun" -n 3 "$ending" no-mpi
ends 3 "ended with exit status 3" "$ftrun" -n 3 "$ending" no-mpi -1 3
ends 0 "" "$ftrun" -n 2 true
done_testing
