#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# beyond.sh - what the loss of a node ends: the job ends with 75, the line names the node, and what was lost with it or
# the group, and the reason; and that this would be so was said before the start.
. "$(dirname "$0")/../cli/lib.sh"
talk=$build/tests/nodes_talk

# beyond BEFORE AFTER OPTION...: BEFORE comes before any loss, and AFTER is why the job ends
beyond() {
    before=$1 after=$2
    shift 2
    ends 75 "" "$ftrun" -n 4 --virtual-nodes 2 "$@"
    grep -n "^ftrun: .*$before" out >said || fail "$*: nothing said before the start: $(grep '^ftrun' out)"
    grep -n "^ftrun: job lost: .*$after" out >lost || fail "$*: not '$after': $(grep '^ftrun' out)"
    [ "$(cut -d: -f1 <said | head -1)" -lt "$(cut -d: -f1 <lost | head -1)" ] || fail "$*: said too late: $(cat out)"
    ! grep -q "never fired" out || fail "$*: $(grep 'never fired' out)"
}

whole="-v --checksums 4 --spares 8"
only="any one node is survived from the first checkpoint, which FTRMA_Run begins with, until FTRMA_Run ends"
outside="a node was lost (rank 2 (node1) and rank 3 (node1)) before the first checkpoint or after FTRMA_Run"
# shellcheck disable=SC2086
{
    # before the first commit: in setup, and while that checkpoint is taken; and after FTRMA_Run
    beyond "$only" "$outside" $whole --inject node=1,point=setup.win "$npb_ft" S
    beyond "$only" "$outside" $whole --inject node=1,point=ckpt.copy "$npb_ft" S
    beyond "$only" "$outside" $whole --inject node=1,point=finalize.enter "$npb_ft" S
}
# more of a group than its parity
beyond "the loss of any node would end this job: node0 holds 3 members of group 0, whose parity rebuilds 1" \
    "group 0 (.*) lost rank 2 (node1) and rank 3 (node1), all of them in node node1 .*\[group-lost\]" \
    --checksums 1 --checkpoint every:2 --inject node=1,point=safepoint,hit=3 "$npb_ft" S
# too few spares elsewhere
beyond "the loss of any node would end this job: node0 carries 4 ranks and checksum processes, and the other" \
    "rank 2 (node1).* were lost, and too few spares are left (needed: 4, left: 1).*\[no-spare\]" \
    --checksums 4 --spares 2 --checkpoint every:2 --inject node=1,point=safepoint,hit=3 "$npb_ft" S
# no checkpoints at all, and a program without FTRMA_Run
beyond "the loss of any process or node would end this job: it takes no checkpoints" \
    "node1 is lost (its keeper or its gateway has ended), and without checksum processes .*\[node-ended\]" \
    --checksums 0 --spares 0 --inject node=1,point=safepoint,hit=3 "$npb_ft" S
beyond "the loss of a node would end this job: the program does not call FTRMA_Run itself" \
    "node1 is lost (its keeper or its gateway has ended), and without checksum processes .*\[node-ended\]" \
    --checksums 0 --spares 0 --inject node=1,point=msg.send.after "$talk"
# a process, after accesses to the other node that no log has: it has put to each rank many times
ends 75 "lost: outside of FTRMA_Run a window of another node was accessed, .*\[outside-nodes\]" \
    "$ftrun" -n 4 --virtual-nodes 2 --checksums 4 --inject rank=1,point=rma.put.after,hit=30 \
    "$build/bin/local_patterns" A --plain
# Only the lost one has made such accesses: its testament says so, or else, when its node is lost, their target does.
for access in put get; do
    for inject in rank=1,point=coll.enter,hit=4 rank=1,point=safepoint,hit=9 node=0,point=safepoint,hit=9; do
        ends 75 "lost: outside of FTRMA_Run a window of another node was accessed, .*\[outside-nodes\]" \
            "$ftrun" -n 4 --virtual-nodes 2 --checksums 4 --spares 8 --checkpoint every:3 --inject $inject \
            "$build/tests/nodes_first" $access
    done
    ends 75 "lost: outside of FTRMA_Run a window of another node was accessed, .*\[outside-nodes\]" \
        "$ftrun" -n 4 --virtual-nodes 2 --checksums 4 --inject rank=1,point=coll.enter,hit=9 \
        "$build/tests/nodes_first" $access plain
    ends 75 "lost: outside of FTRMA_Run a window of another node was accessed, .*\[outside-nodes\]" \
        "$ftrun" -n 4 --virtual-nodes 4 --checksums 4 --spares 12 --checkpoint every:3 \
        --inject node=1,point=safepoint,hit=9 "$build/tests/nodes_first" $access
done
done_testing
