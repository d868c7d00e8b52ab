#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# orphans.sh - synchronous sends that the program has freed, and that are over: they prevent no checkpoint, neither at
# FTRMA_Run's entry, without which body would not run, nor at a safepoint, nor at body's end.
. "$(dirname "$0")/lib.sh"
program=$(edge orphans)
run="$ftrun -n 3 --checksums 1 --spares 2 --checkpoint every:1"
ends 0 "^result: " $run -v "$program"
grep '^result:' out >want
! grep 'has active requests' out >wrong || fail "a checkpoint was called off: $(cat wrong)"
ends 0 "rank 1 lost" $run --inject rank=1,point=run.leave "$program"
grep '^result:' out | cmp -s - want || fail "another result: $(cat out)"
done_testing
