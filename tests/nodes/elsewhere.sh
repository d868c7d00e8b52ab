#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# elsewhere.sh - a rank dies on one of several nodes of this machine, and its node has no spare: its replacement, on
# another node, fetches the home log and runs again alone, and the others go on. It dies at each step of that, and the
# node that has the log is lost meanwhile. The result is that of a run without a loss.
. "$(dirname "$0")/../cli/lib.sh"
. "$here/lib/jobs.sh"
npb_cg=$build/bin/npb_cg
kvstore="$build/bin/kvstore --inserts 40 --rounds 6"
command -v jq >/dev/null || skip "no jq"
# report WHAT FILTER: holds of the report
report() { jq -e "$2" report >note ||
    fail "$1: the report is not so that $2: $(jq -c '[.rollback_reasons,.local_recoveries,.failures]' report)"; }
# elsewhere WHAT: the last replacement is on another node than the first process of the rank
elsewhere() {
    slot=$(sed -n 's/.*replacement: rank .* carried by slot \([0-9]*\) .*/\1/p' out | tail -n 1)
    jq -e --argjson slot "$slot" '.failures[0].node as $was |
        .nodes[] | select(.first_slot <= $slot and $slot < .first_slot + .slots) | .name != $was' report >note ||
        fail "$1: slot $slot is on the lost process's node"
}

# Ranks 2 and 3 are on node 1, which has no spare. Messages only, then accesses of all kinds; in `together` a
# communicator of each node's ranks, too.
two="-v -n 4 --virtual-nodes 2 --checksums 4 --spares 1 --checkpoint every:3 --report report"
moved() { # WHERE PROGRAM...
    at=$1
    shift
    # shellcheck disable=SC2086
    "$ftrun" $two --inject "$at" "$@" >out 2>&1
    same "$at $*" $?
    report "$at $*" '.rollbacks == 0 and .local_recoveries == 1'
    elsewhere "$at $*"
}
alone "$npb_cg" S
moved rank=3,point=safepoint,hit=20 "$npb_cg" S
# shellcheck disable=SC2086
alone $kvstore
moved rank=2,point=rma.flush,hit=60 $kvstore
together="$build/tests/nodes_together 40"
# shellcheck disable=SC2086
"$ftrun" $two $together >out 2>&1 || fail "$together: $(cat out)"
result=$(grep '^result:' out)
for at in rank=2,point=rma.lock.word,hit=30 rank=3,point=rma.lock.held,hit=90 \
    rank=2,point=rma.atomic.applied,hit=33 rank=3,point=rma.unlock,hit=100; do
    # shellcheck disable=SC2086
    moved $at $together
done
# all go back, and one of them runs setup again elsewhere: it is in the communicator that it was in
# shellcheck disable=SC2086
"$ftrun" $two --recovery global --inject rank=2,point=safepoint,hit=20 $together >out 2>&1
same "--recovery global" $?
report "--recovery global" '.rollbacks == 1'
elsewhere "--recovery global"

# Rank 0 is on node 1 with spares 1 and 2, both of which are used up; spare 3 is on node 2.
three="-v -n 2 --virtual-nodes 3 --checksums 2 --spares 4 --checkpoint every:3 --report report"
used="rank=0,point=safepoint,hit=5;spare=1,point=safepoint,hit=4;spare=2,point=safepoint,hit=3"
# shellcheck disable=SC2086
"$ftrun" $three $together >out 2>&1 || fail "$together: $(cat out)"
result=$(grep '^result:' out)
# it dies again, on the way: the log is where it was, or here
for point in rejoin.setup replay.home replay.home.done replay.begin replay.live; do
    # shellcheck disable=SC2086
    "$ftrun" $three --inject "$used;spare=3,point=$point" $together >out 2>&1
    same "$point" $?
    report "$point" ".rollbacks == 0 and .failures[-1].failpoint == \"$point\" and (.failures | length) == 4"
    elsewhere "$point"
done
# the node that has the log is lost with a part of it here: nothing else was there, and all go back
# shellcheck disable=SC2086
loses_node gateway 1 "$ftrun" $three --inject "$used;spare=3,point=replay.home,action=stop" $together
same "the node of the log" $?
report "the node of the log" '.rollbacks == 1 and .nodes[1].lost'

# before the first checkpoint: there is nothing to go back to
# shellcheck disable=SC2086
"$ftrun" $two $together >out 2>&1 || fail "$together: $(cat out)"
result=$(grep '^result:' out)
for recovery in auto global program; do
    # shellcheck disable=SC2086
    "$ftrun" $two --recovery $recovery --inject rank=2,point=run.enter $together >out 2>&1
    same "setup, --recovery $recovery" $?
    report "setup, --recovery $recovery" '(.failures | length) == 1 and .rollbacks == 0'
    elsewhere "setup, --recovery $recovery"
done
# ... and nothing else has the log, if its node is lost now
# shellcheck disable=SC2086
loses_node gateway 2 "$ftrun" -v -n 2 --virtual-nodes 3 --checksums 2 --spares 1 --checkpoint every:3 \
    --inject "rank=1,point=run.enter;spare=0,point=replay.home,action=stop" $together
[ $? = 75 ] || fail "the node of the log, before the first checkpoint: not 75: $(tail -n 3 out)"
grep -q 'rank 1 cannot repeat its setup on node node1.*\[log-elsewhere\]$' out ||
    fail "the node of the log, before the first checkpoint: $(tail -n 3 out)"
nothing_left "after all"
done_testing
