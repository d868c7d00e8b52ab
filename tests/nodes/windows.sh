#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# windows.sh - one-sided programs on several nodes of this machine: a target that computes delays nobody, and the
# applications have the result that they have on one node.
. "$(dirname "$0")/../cli/lib.sh"

for job in "2 2" "3 3" "4 2" "5 3"; do
    set -- $job
    "$ftrun" -n "$1" --virtual-nodes "$2" "$build/tests/nodes_busy" >out 2>&1 || fail "$1 ranks, $2 nodes: $(cat out)"
    grep -q '^ok$' out || fail "$1 ranks, $2 nodes: $(cat out)"
done

result() { # OPTION... PROGRAM...: the result that it prints
    "$ftrun" -n 4 --checksums 0 --spares 0 "$@" >out 2>&1 && grep '^result:' out || { cat out; return 1; }
}
for program in "npb_ft S" "kvstore --inserts 200 --rounds 4"; do
    set -- $program
    name=$build/bin/$1
    shift
    alone=$(result "$name" "$@") || fail "$name on one node: $alone"
    for k in 2 4; do
        there=$(result --virtual-nodes $k "$name" "$@") || fail "$name on $k nodes: $there"
        [ "$alone" = "$there" ] || fail "$name on $k nodes: $there, on one: $alone"
    done
done
done_testing
