#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# virtual.sh - jobs on several nodes of this machine: they print what they print on one node, and they end as they
# should when a rank, a keeper or a gateway is lost, and when something is asked for that cannot cross nodes.
. "$(dirname "$0")/../cli/lib.sh"
talk=$build/tests/nodes_talk

# the same output, however the ranks are spread, with logs or without
"$ftrun" -n 5 --checksums 0 --spares 0 "$talk" >alone 2>err || fail "on one node: $(cat err)"
sort alone >one
[ "$(wc -l <one)" = 5 ] || fail "on one node: $(cat one)"
for k in 1 2 3 5; do
    "$ftrun" -n 5 --checksums 0 --spares 0 --virtual-nodes $k "$talk" >out 2>err || fail "$k nodes: $(cat err)"
    sort out | cmp -s - one || fail "$k nodes: $(cat out)"
done
"$ftrun" -n 5 --virtual-nodes 2 --log off "$talk" >out 2>err || fail "2 nodes, --log off: $(cat err)"
sort out | cmp -s - one || fail "2 nodes, --log off: $(cat out)"

# a rank is lost: on a node with others, and alone on its node
for k in 2 4; do
    for r in 0 3; do
        ends 75 "rank $r was lost.*\[no-spare\]" "$ftrun" -n 4 --virtual-nodes $k "$talk" kill $r
    done
done
ends 3 "rank 2 ended with exit status 3 before MPI_Finalize" "$ftrun" -n 4 --virtual-nodes 2 "$talk" exit 2

# what cannot cross yet
ends 75 "MPI_Win_allocate_shared with ranks of several nodes.*\[across-nodes\]" \
    "$ftrun" -n 2 --virtual-nodes 2 "$talk" window
ends 75 "MPI_File_open with ranks of several nodes.*\[across-nodes\]" "$ftrun" -n 2 --virtual-nodes 2 "$talk" file
ends 75 "died while the processes started.*\[died-starting\]$" "$ftrun" -n 4 --virtual-nodes 2 \
    --checksums 4 --inject rank=1,point=init.enter "$build/bin/npb_ft" S
ends 2 "with 2 ranks and 0 checksum processes: each node carries one of them at least" \
    "$ftrun" -n 2 --virtual-nodes 3 "$talk"
ends 2 "must be a number of nodes from 1 to 64" "$ftrun" -n 2 --virtual-nodes many "$talk"
ends 2 "without checkpoints: a rank that is lost there goes back" "$ftrun" -n 2 --virtual-nodes 2 --spares 1 "$talk"
ends 2 "leave out the options that say where processes run" "$ftrun" -n 2 --virtual-nodes 2 -H localhost "$talk"

# a keeper, or a gateway, is lost. Keepers are the only children of ftrun's that have its name
child() { # PARENT: its first child that is an ftrun
    for p in $(cat /proc/"$1"/task/*/children); do
        [ "$(cat /proc/"$p"/comm)" = ftrun ] && echo "$p" && return
    done
}
for who in keeper gateway; do
    "$ftrun" -n 4 --virtual-nodes 2 "$talk" wait here >out 2>&1 &
    job=$!
    while [ ! -e here ]; do
        kill -0 $job || fail "the job has ended: $(cat out)"
        sleep 0.05
    done
    victim=$(child $job)
    [ $who = keeper ] || victim=$(child "$victim")
    kill -9 "$victim" || fail "there is no $who"
    wait $job
    status=$?
    [ $status = 75 ] && grep -q "\[node-ended\]" out || fail "a $who was killed: status $status, $(cat out)"
    rm here
done
done_testing
