# SPDX-License-Identifier: BSD-3-Clause
#
# jobs.sh - for the scripts beside it, after ../../cli/lib.sh: what is drawn, and whether a job gave the result of a run
# without a loss.

# draw N: a number below it, into $drawn. Not in a subshell: $seed goes on from it.
draw() {
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    drawn=$((seed / 65536 % $1))
}

# timed COMMAND...: how long it took, in ms, into $took
timed() {
    began=$(date +%s%N)
    "$@"
    ended=$?
    took=$((($(date +%s%N) - began) / 1000000))
    return $ended
}

# alone PROGRAM...: its result on one node, into $result; timed
alone() {
    timed "$ftrun" -n 4 --checksums 0 --spares 0 "$@" >out 2>err || fail "$* on one node: $(cat out err)"
    result=$(grep '^result:' out)
    [ -n "$result" ] || fail "$*: no result in $(cat out)"
}

# lease MS: hosts have one of that length, or a longer one where a job takes longer than that even on one node: on a
# machine with so much to do a host may get no turn for seconds, and is lost.
lease() {
    export FTRMA_LEASE_MS="$1"
    [ "$took" -lt "$1" ] || FTRMA_LEASE_MS=$took
}

# same WHAT STATUS: its output is in `out`, and may be in `err`
same() {
    [ "$2" = 0 ] || fail "$1: status $2: $(cat out err 2>/dev/null | grep -v '^\[ftrma' | tail -n 5)"
    [ "$(grep '^result:' out)" = "$result" ] || fail "$1: $(grep '^result:' out), not $result"
}

# has_committed N: waits until the job (its pid is in $job, if it is known) has said in `err` that checkpoint N is there
has_committed() {
    for _ in $(seq 6000); do
        ! grep -q "checkpoint $1 committed" err 2>/dev/null || return 0
        [ -z "${job-}" ] || kill -0 "$job" 2>/dev/null || break
        sleep 0.02
    done
    grep -q "checkpoint $1 committed" err || fail "checkpoint $1 has not come: $(cat err)"
}
