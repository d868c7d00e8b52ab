#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# wrapper.sh - the program is a shell that starts the MPI program, as a child or in its own place.
. "$(dirname "$0")/lib.sh"
export ending # the shells below expand it

ends 0 "^sum over 2 ranks: 1$" "$ftrun" -n 2 -- sh -c '"$ending"'
ends 0 "^sum over 2 ranks: 1$" "$ftrun" -n 2 -- sh -c 'exec "$ending"'
ends 0 "^sum over 2 ranks: 1$" "$ftrun" -n 2 -- sh -c '/bin/true; "$ending"; exit 0'
ends 0 "^sum over 2 ranks: 1$" "$ftrun" -n 2 -- sh -c '/bin/true; exec "$ending"'
ends 4 "rank 1 ended with exit status 4" "$ftrun" -n 2 -- sh -c '"$ending" exit-after 1 4; exit 0'
ends 4 "rank 1 ended with exit status 4 before MPI_Finalize" "$ftrun" -n 2 -- sh -c '"$ending" exit 1 4; exit 0'
ends 1 "died before the end of MPI_Init" "$ftrun" -n 2 -- sh -c '/bin/true; exec "$ending" segv-before 0'
ends 139 "ended with exit status 139" "$ftrun" -n 2 -- sh -c '"$ending" segv-before 0; exit $?'
ends 3 "ended with exit status 3" "$ftrun" -n 2 -- sh -c 'exit 3'
# where /bin is /usr/bin and comes first on PATH, as in jobs of Grid Engine
ends 0 "^sum over 2 ranks: 1$" env "PATH=/bin:$PATH" "$ftrun" -n 2 "$ending"
export npb_ft
ends 0 "^Verification: SUCCESSFUL$" "$ftrun" -n 2 --inject rank=1,point=safepoint,hit=3 -- \
    sh -c '/bin/true; "$npb_ft" S; exit 0'
done_testing
