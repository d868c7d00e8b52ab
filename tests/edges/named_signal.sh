#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# named_signal.sh - the signal that a rank died of is named, whether it ends the job or the rank is
# replaced.
. "$(dirname "$0")/lib.sh"
program=$build/tests/edges_named_signal

# named N STATUS TEXT COMMAND...: TEXT is on N lines. Before Linux 6.15 a process that was reaped at
# once is not named, so each gets some tries.
named() {
    n=$1 status=$2 line=$3
    shift 3
    for try in 1 2 3 4 5 6 7 8 9 10; do
        rm -f once.*
        ends "$status" "" "$@"
        [ "$(grep -c -- "$line" out)" != "$n" ] || return 0
    done
    fail "not named, $try times: $line: $(cat out)"
}

named 1 75 "^ftrun: rank 1 lost (pid [0-9]*, SIGSEGV[^)]*), not recovered; 0 spares left$" \
    "$ftrun" -n 3 --spares 0 "$ending" segv 1
named 3 75 "^ftrun: rank 1 lost (pid [0-9]*, SIGSEGV[^)]*)" "$ftrun" -n 3 --spares 5 --report r.json "$ending" segv 1
grep -q '"signal":"SIGSEGV"' r.json || fail "the report does not name it: $(cat r.json)"

# one that is survived is named as well
named 1 0 "^ftrun: rank 1 lost (pid [0-9]*, SIGILL[^)]*), .*; 0 spares left$" "$ftrun" -n 3 "$program" 1 4
says_once "^sum over 3 ranks: 3$"

# a line for each loss, and one for all; none with --quiet
ends 0 "^ftrun: rank 2 lost (SIGKILL), recovered alone in [0-9.]* m*s; 0 spares left$" \
    "$ftrun" -n 4 --inject rank=2,point=safepoint,hit=3 "$npb_ft" S
says_once '^ftrun: the job had 1 loss: 1 rank recovered alone; 0 spares left$'
ends 0 "^Verification: SUCCESSFUL$" "$ftrun" --quiet -n 4 --inject rank=2,point=safepoint,hit=3 "$npb_ft" S
! grep -q "^ftrun" out || fail "--quiet, and yet: $(cat out)"
named 1 75 "^ftrun: rank 1 lost (SIGKILL), not recovered" "$ftrun" -n 4 --spares 0 \
    --inject rank=1,point=safepoint,hit=2 "$npb_ft" S

# a dump of its memory does not take the arenas' addresses with it, or the job would take it for
# silent and kill it
if (ulimit -c unlimited) 2>/dev/null && grep -q '^core' /proc/sys/kernel/core_pattern; then
    ulimit -c unlimited
    named 1 75 "^ftrun: rank 1 lost (pid [0-9]*, SIGABRT, core dumped)" "$ftrun" -n 2 --spares 0 "$program" 1 6 always
    rm -f core*
fi
done_testing
