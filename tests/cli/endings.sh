#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# endings.sh - the exit status of ftrun is the program's own, however that comes about.
. "$(dirname "$0")/lib.sh"

ends 0 "^sum over 3 ranks: 3$" "$ftrun" -n 3 "$ending"
says_once "sum over"
ends 0 "^sum over 16 ranks: 120$" "$ftrun" -n 16 "$ending" # more processes than cores
ends 0 "^sum over 1 ranks: 0$" "$ftrun" -n 1 --checksums 0 --spares 0 "$ending"

ends 3 "rank 1 ended with exit status 3 before MPI_Finalize" "$ftrun" -n 3 "$ending" exit 1 3
says_once "last words of rank 1"
ends 1 "rank 1 ended with exit status 0 before MPI_Finalize" "$ftrun" -n 3 "$ending" exit 1 0
ends 5 "ended with exit status 5 before MPI_Finalize" "$ftrun" -n 3 "$ending" exit -1 5
for how in _exit _Exit quick_exit; do
    ends 4 "rank 2 ended with exit status 4 before MPI_Finalize" "$ftrun" -n 3 "$ending" $how 2 4
done
ends 7 "rank 0 called MPI_Abort(7)" "$ftrun" -n 3 "$ending" abort 0 7
says_once MPI_Abort
ends 7 "ended: rank 1 ends the job with status 7" "$ftrun" -v -n 3 "$ending" abort 1 7
! grep -q "job lost" out || fail "MPI_Abort was taken for a loss: $(cat out)"
ends 1 "MPI_Abort(256)" "$ftrun" -n 3 "$ending" abort -1 256

ends 5 "rank 0 ended with exit status 5" "$ftrun" -n 3 "$ending" exit-after -1 5
ends 5 "rank 1 ended with exit status 5" "$ftrun" -n 3 "$ending" exit-after 1 5
ends 5 "rank 1 ended with exit status 5" "$ftrun" -n 3 "$ending" _exit-after 1 5
ends 137 "rank 0 died after MPI_Finalize" "$ftrun" -n 3 "$ending" kill-after 0
ends 0 "^sum over 3 ranks: 3$" "$ftrun" -n 3 "$ending" atexit -1 0
ends 4 "rank 0 ended with exit status 4" "$ftrun" -n 3 "$ending" atexit -1 4
ends 0 "^sum over 3 ranks: 3$" "$ftrun" -n 3 "$ending" child 1 3 # a child's _exit is not the rank's
done_testing
