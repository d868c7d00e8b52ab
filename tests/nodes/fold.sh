#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# fold.sh - codewords over several nodes: no link of a node carries more than the image once for each codeword, however
# many members the group has elsewhere (C5b); and what was made so gives the result back when any of the nodes is lost,
# also in the middle of a sum.
. "$(dirname "$0")/../cli/lib.sh"
command -v jq >/dev/null || skip "no jq"
npb_cg=$build/bin/npb_cg
"$ftrun" -n 4 --checksums 0 --spares 0 "$npb_cg" S >out 2>&1
result=$(grep '^result:' out) || fail "no result: $(cat out)"

# members of one node share two codewords of another one; a group over three nodes
two="-n 4 --virtual-nodes 2 --checksums 4 --parity 2 --checkpoint every:4"
three="-n 4 --virtual-nodes 3 --checksums 2 --parity 2 --checkpoint every:4"
# shellcheck disable=SC2086
for options in "$two" "$three" "-n 4 --virtual-nodes 2 --checksums 1 --checkpoint every:4" \
    "-n 8 --virtual-nodes 3 --checksums 1 --checkpoint every:4"; do
    ends 0 "^Verification: SUCCESSFUL" "$ftrun" --report report $options "$npb_cg" S
    # a piece may be asked for twice when a checkpoint has to be begun again: none is here
    jq -e '. as $r | (.checkpoints | length) as $c | ([.checkpoints[].bytes] | add / $c / $r.ranks) as $image
        | [(.links | group_by(.from)[], group_by(.to)[]) | map(.images.bytes) | add]
        | max / ($c * $r.checksums * $image)
        | . > 0.4 and . <= 1.05' report >note || fail "$options: $(jq -c '.links[]' report)"
done

# the loss of each node, and of a node at each step of a sum
survives() { # INJECT OPTION...
    at=$1
    shift
    ends 0 "^$result$" "$ftrun" --report report --inject "$at" "$@" "$npb_cg" S
    ! grep -q "never fired" out || fail "$at: $(grep 'never fired' out)"
    grep -q '"node_losses":1,' report || fail "$at: $(grep node_losses report) nodes were lost"
}
# shellcheck disable=SC2086
{
    for k in 0 1; do survives node=$k,point=safepoint,hit=9 $two; done
    for k in 0 1 2; do survives node=$k,point=safepoint,hit=9 $three; done
    survives gateway=0,point=gate.wanted,hit=6 $three
    survives gateway=2,point=gate.folded,hit=9 $three
    survives gateway=1,point=gate.fold.passed,hit=5 $three
    survives gateway=2,point=gate.piece.sent,hit=7 $three
    survives gateway=1,point=gate.piece.came,hit=8 $three
}
done_testing
