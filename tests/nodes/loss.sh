#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# loss.sh - a job on several nodes of this machine loses processes, and whole nodes: it ends with the result that it has
# without a loss. LOSS_SEED repeats what was drawn.
. "$(dirname "$0")/../cli/lib.sh"
. "$here/lib/jobs.sh"
npb_cg=$build/bin/npb_cg
command -v jq >/dev/null || skip "no jq"
seed=${LOSS_SEED:-$(date +%s)}
echo "LOSS_SEED=$seed"
alone "$npb_cg" S

two="-n 4 --virtual-nodes 2 --checksums 4 --spares 8 --checkpoint every:2"
three="-n 4 --virtual-nodes 3 --checksums 2 --spares 9 --checkpoint every:3"

# a process is lost, at each kind of place
# shellcheck disable=SC2086
for at in rank=0,point=safepoint,hit=9 rank=1,point=msg.recv.match,hit=700 rank=3,point=ckpt.copy,hit=5 \
    checksum=0,point=ckpt.parity.piece,hit=4 rank=2,point=ckpt.arrived,hit=7 checksum=1,point=ckpt.parity.done,hit=6; do
    tried || continue
    "$ftrun" $three --inject "$at" "$npb_cg" S >out 2>&1
    same "$at" $?
    grep -q "never fired" out && fail "$at: $(grep 'never fired' out)"
done
# ... and another process while all go back
# shellcheck disable=SC2086
for second in rank=2,point=restore.copy rank=1,point=restore.done rank=1,point=park; do
    tried || continue
    "$ftrun" $three --inject "rank=0,point=safepoint,hit=9;$second" "$npb_cg" S >out 2>&1
    same "$second" $?
done

# loses WHO NODE OPTION...: while a rank stands at a drawn safepoint
loses() {
    who=$1 node=$2
    shift 2
    tried || return 0
    draw 4
    at=rank=$drawn,point=safepoint
    draw 200
    at=$at,hit=$((5 + drawn)),action=stop
    loses_node "$who" "$node" "$ftrun" --report report --trace trace --inject "$at" "$@" "$npb_cg" S
    same "the $who of node $node, $at, $*" $?
    grep -q "ftrun: node$node lost, and with it" out || fail "nobody says that node $node was lost: $(cat out)"
    jq -e ".node_losses == 1 and .nodes[$node].lost and .result == \"ok\"" report >note ||
        fail "the report: $(head -20 report)"
    # the timeline has the death of each process of the node, and the last line counts none of them besides
    [ "$(jq '[.[] | select(.name == "failure")] | length' trace)" = "$(jq '.failures | length' report)" ] ||
        fail "losses of the trace: $(grep '"failure"' trace); of the report: $(jq -c .failures report)"
    grep -q "ftrun: the job lost 1 node; " out || fail "the last line counts otherwise: $(cat out)"
}
# shellcheck disable=SC2086
for who in ${LOSS_WHO-keeper gateway}; do
    for node in 0 1; do
        loses $who $node $two
    done
    draw 3
    loses $who "$drawn" $three
done

# at the end of body, while the other ranks wait until their last message has come to the node that is lost
parting=$build/tests/nodes_parting
alone "$parting"
for delay in 30 60; do
    # shellcheck disable=SC2086
    FTRMA_WIRE_FAULTS=delay=$delay FTRMA_TEST_SEED=$seed \
        "$ftrun" $three --inject node=0,point=run.body.over "$parting" >out 2>&1
    same "the node of rank 0 at the end of body, links $delay ms late" $?
    grep -q "ftrun: after the loss of node0 all ranks went back" out || fail "nobody went back: $(cat out)"
done

# what is not survived is said
ends 75 "\[node-ended\]\|\[node-lost\]\|\[no-spare\]\|\[too-many-lost\]\|parity" \
    "$ftrun" -n 4 --virtual-nodes 2 --checksums 4 --spares 2 --checkpoint every:2 \
    --inject "rank=0,point=safepoint,hit=9;rank=1,point=safepoint,hit=9;rank=2,point=safepoint,hit=9" "$npb_cg" S
ends 2 "only '--snapshot barrier' crosses nodes yet" \
    "$ftrun" -n 4 --virtual-nodes 2 --checksums 4 --spares 8 --snapshot delay "$npb_cg" S
nothing_left "after all"
done_testing
