#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# logs.sh - a rank dies on one of several nodes of this machine: its replacement, on the same node, runs again alone
# from the logs of all nodes, and the others go on. It dies again at each step of that, others die meanwhile, its node
# and others are lost. The result is that of a run without a loss. LOGS_SEED repeats what was drawn, LOGS_KILLS says
# how many jobs are killed at from outside.
. "$(dirname "$0")/../cli/lib.sh"
. "$here/lib/jobs.sh"
npb_cg=$build/bin/npb_cg
command -v jq >/dev/null || skip "no jq"
seed=${LOGS_SEED:-$(date +%s)}
echo "LOGS_SEED=$seed"
# report WHAT FILTER: holds of the report
report() { jq -e "$2" report >note ||
    fail "$1: the report is not so that $2: $(jq -c '[.rollback_reasons,.local_recoveries,.failures]' report)"; }

# Ranks 0 and 1 are on node 0, in slots 0 to 7; 2 and 3 on node 1.
two="-v -n 4 --virtual-nodes 2 --checksums 4 --spares 8 --checkpoint every:3 --report report"
three="-v -n 4 --virtual-nodes 3 --checksums 2 --spares 9 --checkpoint every:3 --report report"
alone "$npb_cg" S

# alone, whatever the spare with the lowest number is
# shellcheck disable=SC2086
for at in "$two rank=2,point=safepoint,hit=9" "$two rank=1,point=msg.send.half,hit=700" \
    "$three rank=3,point=msg.recv.match,hit=900" "$three rank=0,point=msg.recv.done,hit=333"; do
    "$ftrun" ${at% *} --inject "${at##* }" "$npb_cg" S >out 2>&1
    same "$at" $?
    report "$at" '.rollbacks == 0 and .local_recoveries == 1'
done
grep -q "replacement: rank 0 is now carried by slot [0-4] " out || fail "not on its node: $(grep replacement: out)"

# again while it replays: the replacement of the replacement; and with another rank, when all go back
# shellcheck disable=SC2086
for second in spare=4,point=rejoin.setup spare=4,point=replay.begin \
    spare=4,point=replay.live spare=4,point=replay.live.done; do
    "$ftrun" $two --inject "rank=2,point=safepoint,hit=9;$second" "$npb_cg" S >out 2>&1
    same "$second" $?
    report "$second" '.rollbacks == 0 and (.failures | length) == 2'
done
# shellcheck disable=SC2086
for second in rank=1,point=quiesce rank=3,point=agree.decided; do
    "$ftrun" $two --inject "rank=2,point=safepoint,hit=9;$second" "$npb_cg" S >out 2>&1
    same "$second" $?
done

# ... and then its node, with a survivor on it; or that of others, which sends it what follows the cut, where it has no
# other member of the group
# shellcheck disable=SC2086
for second in gateway=1,point=gate.seen,hit=5 node=1,point=replay.live; do
    "$ftrun" $two --inject "rank=2,point=safepoint,hit=9;$second" "$npb_cg" S >out 2>&1
    same "$second" $?
    report "$second" '.node_losses == 1 and .rollback_reasons[-1].why == "a node lost"'
done
"$ftrun" -n 2 --checksums 0 --spares 0 "$npb_cg" S >out 2>&1
result=$(grep '^result:' out)
"$ftrun" -n 2 --virtual-nodes 3 --checksums 2 --spares 6 --checkpoint every:3 --report report \
    --inject "rank=0,point=safepoint,hit=9;gateway=2,point=gate.cut" "$npb_cg" S >out 2>&1
same "gate.cut" $?
report "gate.cut" '.node_losses == 1 and .rollbacks == 1'

alone "$npb_cg" S
# logs that are long ask for a checkpoint over nodes, too; a rank is lost as it asks, and runs again alone
clock="-v -n 4 --virtual-nodes 2 --checksums 4 --spares 8 --mtbf 1000d --report report"
# shellcheck disable=SC2086
FTRMA_LOG_LIMIT=2M "$ftrun" $clock --recovery global "$npb_cg" S >out 2>&1
same "without logs" $?
report "without logs" '(.checkpoints | length) == 2'
# shellcheck disable=SC2086
FTRMA_LOG_LIMIT=2M "$ftrun" $clock --inject "rank=2,point=ckpt.long,hit=1" "$npb_cg" S >out 2>&1
same "ckpt.long" $?
# slow cores: logs may be over their budget before that checkpoint is there, and all go back
report "ckpt.long" '(.checkpoints | length) > 2 and (.failures | length) == 1'

# Accesses to windows of other nodes are logged, too: whoever is lost in one, or suffers one, runs again alone.
kvstore="$build/bin/kvstore --inserts 40 --rounds 6"
# shellcheck disable=SC2086
alone $kvstore
# shellcheck disable=SC2086
for at in "$two rank=2,point=rma.flush,hit=90" "$two rank=1,point=rma.flush,hit=60" \
    "$three rank=3,point=log.event,hit=60"; do
    "$ftrun" ${at% *} --inject "${at##* }" $kvstore >out 2>&1
    same "kvstore: $at" $?
    report "kvstore: $at" '.rollbacks == 0 and .local_recoveries == 1'
done
# again while it reads the logs of other nodes
# shellcheck disable=SC2086
"$ftrun" $two --inject "rank=2,point=rma.flush,hit=90;spare=4,point=replay.fetched" $kvstore >out 2>&1
same "replay.fetched" $?
report "replay.fetched" '.rollbacks == 0 and (.failures | length) == 2'
# another rank is lost meanwhile, or what was recovered is lost with its node
# shellcheck disable=SC2086
for second in rank=1,point=quiesce node=1,point=replay.live.done; do
    "$ftrun" $two --inject "rank=2,point=rma.flush,hit=90;$second" $kvstore >out 2>&1
    same "$second" $?
done
# ... or a node that has these logs is, when a part of them is here
# shellcheck disable=SC2086
"$ftrun" -n 2 --checksums 0 --spares 0 $kvstore >out 2>&1
result=$(grep '^result:' out)
# shellcheck disable=SC2086
loses_node gateway 2 "$ftrun" -v -n 2 --virtual-nodes 3 --checksums 2 --spares 6 --checkpoint every:3 --report report \
    --inject "rank=0,point=rma.flush,hit=90;spare=2,point=replay.fetched,action=stop" $kvstore
same "a gateway lost at replay.fetched" $?
report "a gateway lost at replay.fetched" '.node_losses == 1 and .rollbacks == 1'
alone "$build/bin/npb_ft" S
# shellcheck disable=SC2086
for at in "$two rank=1,point=rma.fence,hit=6" "$three rank=2,point=log.put,hit=9"; do
    "$ftrun" ${at% *} --inject "${at##* }" "$build/bin/npb_ft" S >out 2>&1
    same "npb_ft: $at" $?
    report "npb_ft: $at" '.rollbacks == 0 and .local_recoveries == 1'
done

# from outside, whoever it is
alone "$npb_cg" S
i=0
while [ $i -lt "${LOGS_KILLS:-2}" ]; do
    i=$((i + 1))
    draw 2
    options=$two
    [ "$drawn" = 0 ] || options=$three
    : >out
    # shellcheck disable=SC2086
    TMPDIR=$work/tmp "$ftrun" $options "$npb_cg" S >out 2>&1 &
    job=$!
    until grep -q started: out || ! kill -0 $job; do sleep 0.05; done
    draw 1500
    sleep $((drawn / 1000)).$(printf %03d $((drawn % 1000)))
    draw 40
    # shellcheck disable=SC2046
    set -- $(for p in $(processes); do [ "$(cat /proc/"$p"/comm 2>/dev/null)" = npb_cg ] && echo "$p"; done)
    [ $# = 0 ] || { shift $((drawn % $#)) && kill -9 "$1" 2>/dev/null; }
    wait $job
    status=$?
    # the kill came between MPI_Finalize and exit: the result is there, and the rank's death is told
    [ $status != 137 ] || ! grep -q '^ftrun: rank [0-9]* died after MPI_Finalize$' out || status=0
    same "killed from outside, $options" $status
done
ends 2 "images of one rank alone do not cross nodes yet; write '--demand off'" \
    "$ftrun" -n 4 --virtual-nodes 2 --checksums 4 --demand stream "$npb_cg" S
nothing_left "after all"
done_testing
