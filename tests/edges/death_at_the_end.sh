#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# death_at_the_end.sh - a process dies when all have agreed that the job is done: nobody waits for
# it, whoever it was.
. "$(dirname "$0")/lib.sh"

for victim in spare=0 checksum=0; do
    ends 0 "^sum over 3 ranks: 3$" "$ftrun" -n 3 --spares 2 --inject $victim,point=finalize.done "$ending"
    says_once "sum over"
    ! grep -q "never fired" out || fail "nobody died: $(cat out)"
done
ends 5 "rank 1 ended with exit status 5" "$ftrun" -n 3 --inject spare=0,point=finalize.done "$ending" exit-after 1 5

# the host's finalize would wait for the dead: it is not called, by nobody
ends 0 "^sum over 3 ranks: 3$" env LD_PRELOAD="$build/tests/edges_stuck_finalize.so" "$ftrun" -n 3 "$ending"

# a rank's death there is too late to be survived, and ends nobody else: what the others do after
# MPI_Finalize they do
ends 137 "rank 0 died after MPI_Finalize" "$ftrun" -n 3 --inject rank=0,point=finalize.done \
    "$build/tests/edges_death_at_the_end"
[ "$(grep -c "^rank . after MPI_Finalize$" out)" = 2 ] || fail "somebody was ended with rank 0: $(cat out)"

# after an earlier loss, too
ends 0 "^Verification: SUCCESSFUL$" "$ftrun" -n 4 --spares 2 --inject rank=2,point=safepoint,hit=3 \
    --inject spare=1,point=finalize.done --inject checksum=0,point=finalize.done "$npb_ft" S

# MPI_Finalized says so, and what hangs on MPI_COMM_SELF was deleted
ends 0 "^rank 0 after MPI_Finalize$" "$ftrun" -n 3 "$build/tests/edges_death_at_the_end"
[ "$(grep -c "^rank . deletes its attribute$" out)" = 3 ] || fail "not each rank deleted its attribute: $(cat out)"
done_testing
