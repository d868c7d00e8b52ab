#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# theorems.sh DIRECTORY NAME - runs a small program under the traced library, and checks its trace.
# Of a mutant the check must fail, and say why.
BIN=${1:?usage: theorems.sh DIRECTORY NAME}
name=${2:?usage: theorems.sh DIRECTORY NAME}
. "$(dirname "$0")/../chaos/jobs.sh"
ORDERS_FILE=$WORK/trace
export ORDERS_FILE

# traced OPTIONS -- PROGRAM...: runs it with an empty trace. The rank to be lost is named, if all others put to it again
# and again: in figure 4 only one does.
traced() {
    ORDERS_LOST=
    case $* in
    *theorem_gsync | *theorem_locks) ORDERS_LOST=$(printf '%s' "$*" | sed -n 's/.*--inject rank=\([0-9]*\).*/\1/p') ;;
    esac
    export ORDERS_LOST
    : > "$ORDERS_FILE"
    truncate -s 8M "$ORDERS_FILE"
    job -n 4 --checksums 1 --spares 1 --checkpoint every:3 "$@"
}

rules() { # RULE...: they hold for the trace of the job just run
    "$BIN/theorem_check" "$ORDERS_FILE" "$@" > "$WORK/said" || {
        complain "$(cat "$WORK/said")"
        "$BIN/theorem_check" "$ORDERS_FILE" dump > "$WORK/dump"
        [ -z "${CHAOS_KEEP:-}" ] || cp "$WORK/dump" "$CHAOS_KEEP/$name.dump"
    }
    cat "$WORK/said"
}

# clean PROGRAM...: without failures, the trace of which must satisfy the rules of $cut
clean() {
    traced -- "$@"
    expect=$result
    [ $status -eq 0 ] && [ -n "$expect" ] || complain "without failures"
    [ -z "$cut" ] || rules "$cut"
}

# lost INJECT RULES PROGRAM...: a rank is lost, and runs again alone
lost() {
    inject=$1 hold=$2
    shift 2
    traced --inject "$inject" -- "$@"
    survived "$expect"
    grep -q 'recovered alone' "$WORK/err" || complain "nobody was recovered alone"
    # shellcheck disable=SC2086
    rules $hold
}

# caught RULE WORDS OPTIONS...: a broken library; whatever the job comes to, the checker says so
caught() {
    ORDERS_MUTANT=${name#mutant_}
    export ORDERS_MUTANT
    rule=$1 words=$2
    shift 2
    traced "$@"
    [ $status -ne 124 ] && [ $status -ne 137 ] || complain "hangs"
    if "$BIN/theorem_check" "$ORDERS_FILE" "$rule" > "$WORK/said"; then
        complain "the checker has found nothing"
    fi
    grep "$words" "$WORK/said" | head -n 2
    grep -q "^$rule: does not hold.*$words" "$WORK/said" || complain "it does not say: $words"
}

gsync="$BIN/theorem_gsync" locks="$BIN/theorem_locks" cut=
case $name in
definition_3_1) # all ways to take a checkpoint; locks may be held where the paper wants none
    cut=3.1
    for how in barrier delay peek partial double; do
        FTRMA_SNAPSHOT=$how
        export FTRMA_SNAPSHOT
        clean "$locks" shared
        clean "$gsync"
    done ;;
theorem_3_1) # the gsync scheme; that it does not deadlock: the job ends
    cut=3.1
    clean "$gsync" ;;
theorem_3_2) # the locks scheme
    cut=3.1
    clean "$locks" ;;
theorem_4_1)
    clean "$gsync"
    for where in rank=0,point=rma.put.before,hit=20 rank=2,point=rma.put.after,hit=14 rank=2,point=rma.get,hit=9 \
        rank=1,point=rma.get,hit=16; do
        lost $where "4.1 4.2 orphan" "$gsync"
    done ;;
theorem_4_2)
    clean "$gsync"
    for where in rank=0,point=rma.fence,hit=7 rank=3,point=rma.fence,hit=8 rank=2,point=rma.fence,hit=9 \
        rank=2,point=rma.fence,hit=12; do
        lost $where "4.1 4.2 orphan" "$gsync"
    done ;;
algorithm_3)
    clean "$locks"
    for where in rma.put.after,hit=20 rma.lock.held,hit=14 rma.unlock,hit=17 rma.flush,hit=30; do
        lost "rank=1,point=$where" "4.1 so orphan" "$locks"
    done ;;
figure_4)
    clean "$BIN/theorem_orphan"
    lost rank=1,point=log.stamped,hit=1 "4.1 orphan" "$BIN/theorem_orphan" ;;
mutant_open-epoch) caught 3.1 "its epoch is not closed" -- "$gsync" ;;
mutant_late-put) caught 3.1 "issued after the cut is in the image" -- "$gsync" ;;
mutant_chain) caught 3.1 "before this one in cohb" -- "$locks" ;;
mutant_twice) caught 4.1 "replayed twice" --inject rank=2,point=rma.fence,hit=7 -- "$gsync" ;;
mutant_skipped) caught 4.1 "never replayed" --inject rank=2,point=rma.fence,hit=7 -- "$gsync" ;;
mutant_swapped) caught 4.2 "after an action of a later gsync" --inject rank=2,point=rma.fence,hit=9 -- "$gsync" ;;
mutant_unlocked) caught so "a lock had ordered" --inject rank=1,point=rma.unlock,hit=17 -- "$locks" ;;
mutant_postponed) caught orphan "its target is an orphan" --inject rank=1,point=log.stamped,hit=1 -- \
    "$BIN/theorem_orphan" ;;
*)
    echo "theorems.sh: there is no $name" >&2
    exit 2 ;;
esac
echo "$name: $runs jobs, $bad bad"
[ $bad -eq 0 ]
