#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# slow_setup.sh - two ranks are lost after setup, in which one computes for longer than a replay waits for what no log
# has: the other replacement waits for that one's.
. "$(dirname "$0")/lib.sh"
p=$(edge slow_setup)

ends 0 "^sum [0-9]*$" "$ftrun" -n 3 "$p" 0
grep '^sum' out >expected
ends 0 "^sum [0-9]*$" "$ftrun" -n 3 --spares 2 --inject rank=0,point=run.enter --inject rank=1,point=run.enter "$p" 12
grep '^sum' out | cmp -s expected - || fail "$(cat out)"
done_testing
