#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# during.sh - a node is lost in the middle of a checkpoint, of its commit, of a process's recovery, of another node's
# recovery, or of none: the result is that of a job without a loss.
. "$(dirname "$0")/../cli/lib.sh"
npb_cg=$build/bin/npb_cg
"$ftrun" -n 4 --checksums 0 --spares 0 "$npb_cg" S >out 2>&1
result=$(grep '^result:' out) || fail "no result: $(cat out)"

# survives LOST INJECT OPTION...: LOST: how many nodes are lost
survives() {
    lost=$1 at=$2
    shift 2
    ends 0 "^$result$" "$ftrun" --report report --checkpoint every:2 --inject "$at" "$@" "$npb_cg" S
    ! grep -q "never fired" out || fail "$at: $(grep 'never fired' out)"
    grep -q "\"node_losses\":$lost," report || fail "$at: not $lost nodes were lost: $(grep node_losses report)"
}
two="-n 4 --virtual-nodes 2 --checksums 4"
four="-n 4 --virtual-nodes 4 --checksums 2 --spares 12"
# shellcheck disable=SC2086
{
    survives 1 node=1,point=ckpt.copy,hit=4 $two
    survives 1 node=0,point=ckpt.committed,hit=3 $two
    # while all go back for a rank of its own
    survives 1 "rank=0,point=safepoint,hit=5;node=0,point=restore.copy" $two --spares 10
    # two nodes, one after the other
    survives 2 "node=3,point=safepoint,hit=5;node=2,point=safepoint,hit=9" $four
}
# a node without ranks: nobody goes back
"$ftrun" -n 2 --checksums 0 --spares 0 "$npb_cg" S >out 2>&1
result=$(grep '^result:' out) || fail "no result: $(cat out)"
survives 1 node=0,point=ckpt.parity.done,hit=3 -v -n 2 --virtual-nodes 3 --checksums 1
! grep -q "went back\|fallback:" out || fail "a node without ranks: ranks went back: $(cat out)"
done_testing
