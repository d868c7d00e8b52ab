#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# windows_loss.sh - one-sided programs on several nodes of this machine lose processes, and whole nodes, inside of their
# accesses and between them: they end with the result that they have without a loss.
. "$(dirname "$0")/../cli/lib.sh"
. "$here/lib/jobs.sh"
kvstore="$build/bin/kvstore --inserts 300 --rounds 20"
# ranks 0 and 1 are on node 0, and 2 and 3 on node 1
options="-v -n 4 --virtual-nodes 3 --checksums 2 --spares 9 --checkpoint every:2"

lost_and_same() { # as same
    same "$@"
    grep -q "went back to checkpoint\|agreement:" out || fail "$1: nothing was lost"
}

alone "$npb_ft" S
for at in rank=0,point=safepoint,hit=4 rank=1,point=rma.fence,hit=6 rank=2,point=ckpt.copy,hit=2; do
    tried || continue
    # shellcheck disable=SC2086
    "$ftrun" $options --inject "$at" "$npb_ft" S >out 2>&1
    lost_and_same "npb_ft: $at" $?
done

# shellcheck disable=SC2086
alone $kvstore
for at in rank=3,point=rma.atomic.locked,hit=200 rank=1,point=rma.flush,hit=900 rank=2,point=rma.put.after,hit=20 \
    "rank=0,point=safepoint,hit=6;rank=2,point=restore.copy"; do
    tried || continue
    # shellcheck disable=SC2086
    "$ftrun" $options --inject "$at" $kvstore >out 2>&1
    lost_and_same "kvstore: $at" $?
done

kvstore="$build/bin/kvstore --inserts 800 --rounds 100"
# shellcheck disable=SC2086
alone $kvstore
for who in keeper gateway; do
    for node in 0 1; do
        tried || continue
        # shellcheck disable=SC2086
        loses_node $who $node "$ftrun" $options \
            --inject "rank=$((node + 1)),point=safepoint,hit=$((3 + node)),action=stop" $kvstore
        lost_and_same "kvstore: the $who of node $node" $?
    done
done
done_testing
