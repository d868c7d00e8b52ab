#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# named_signal.sh - the signal that a rank died of is named, whether it ends the job or the rank is replaced.
. "$(dirname "$0")/lib.sh"
program=$build/tests/edges_named_signal

# named N STATUS TEXT COMMAND...: TEXT is on N lines. Before Linux 6.15 a process that was reaped at once is not named, so each
# gets some tries.
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

named 1 75 "rank 1 (pid [0-9]*) died of SIGSEGV (Segmentation fault)" "$ftrun" -n 3 --spares 0 "$ending" segv 1
named 3 75 "rank 1 (pid [0-9]*) died of SIGSEGV (Segmentation fault)" "$ftrun" -n 3 --spares 5 --report r.json "$ending" segv 1
grep -q '"signal":"SIGSEGV"' r.json || fail "the report does not name it: $(cat r.json)"

# one that is survived is named as well
named 1 0 "rank 1 (pid [0-9]*) died of SIGILL (Illegal instruction)" "$ftrun" -n 3 "$program" 1 4
says_once "^sum over 3 ranks: 3$"

# kill -9 comes from outside, and is survived without a word
ends 0 "^Verification: SUCCESSFUL$" "$ftrun" -n 4 --inject rank=2,point=safepoint,hit=3 "$npb_ft" S
! grep -q "died of" out || fail "SIGKILL was named: $(cat out)"
named 1 75 "rank 1 (pid [0-9]*) died of SIGKILL" "$ftrun" -n 4 --spares 0 --inject rank=1,point=safepoint,hit=2 "$npb_ft" S

# a dump of its memory does not take the arenas' addresses with it, or the job would take it for silent and kill it
if (ulimit -c unlimited) 2>/dev/null && grep -q '^core' /proc/sys/kernel/core_pattern; then
    ulimit -c unlimited
    named 1 75 "rank 1 (pid [0-9]*) died of SIGABRT (Aborted), core dumped" "$ftrun" -n 2 --spares 0 "$program" 1 6 always
    rm -f core*
fi
done_testing
