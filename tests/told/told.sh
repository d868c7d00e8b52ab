#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# told.sh - programs that handle losses themselves (ftrun --recovery program): each rank checks at
# each entry of body what it was told and what its memory holds.
#
#   told.sh DIRECTORY-OF-FTRUN CASE     calls steps third beyond shared freed dropped asks nodes before restart
BIN=$1
shift
. "$(dirname "$0")/../chaos/jobs.sh"

# slots: ranks 0 to 3, checksum process 4, spares 5 to 7
common="-n 4 --checksums 1 --spares 3 --checkpoint every:3 --recovery program"
prog="$BIN/told_repairs"
job $common -- $prog
want=$result
[ $status -eq 0 ] && [ -n "$want" ] || complain "without failures"
nothing_left

# hurt INJECT...: in one job, in which somebody dies, if it is tried at all (../share.sh)
hurt() {
    tried || return 0
    args=
    for i in "$@"; do args="$args --inject $i"; done
    job $common $more $args -- $prog $how
    survived "$want"
    grep -q '"who":\|"node_losses":[1-9]' "$WORK/report" || complain "nobody died"
}
# what the job just run must have said, or not
says() { [ $tried = no ] || grep -q "$1" "$WORK/$2" || complain "$3"; }
never_says() { [ $tried = no ] || ! grep -q "$1" "$WORK/$2" || complain "$3"; }
told() { says '"told_recoveries":[1-9]' report "body was not entered again"; }
untold() { never_says '"told_recoveries":[1-9]' report "body was entered again"; }
more= how=
# Two ranks are lost together: without the vote of the second nobody decides what to rebuild for the first.
both="rank=1,point=safepoint,hit=8 rank=3,point=agree.vote"

for name in "$@"; do
    case $name in
    calls) # in the middle of each kind of call; rank 0 is the root of the tree
        for v in 0 2; do
            for p in safepoint,hit=7 msg.send.before,hit=40 msg.send.half,hit=41 \
                msg.send.fragment,hit=7 msg.recv.match,hit=50 msg.recv.copied,hit=51 \
                coll.enter,hit=30 coll.round,hit=60 rma.put.half,hit=9 rma.put.after,hit=8 \
                rma.get,hit=5 rma.atomic.locked,hit=70 rma.atomic.applied,hit=71 \
                rma.atomic.done,hit=72 rma.lock.word,hit=9 rma.lock.held,hit=9 rma.unlock,hit=9 \
                rma.fence,hit=30 ckpt.copy,hit=3 ckpt.copied,hit=4 ckpt.leave,hit=2 ckpt.committed,hit=3 \
                ckpt.arrived,hit=2 ckpt.proposed,hit=2 run.body.over; do
                hurt rank=$v,point=$p
                [ $p = run.body.over ] || told
            done
        done
        # nobody is told of a checksum process
        for p in ckpt.parity.piece,hit=3 ckpt.parity.done,hit=2 ckpt.commit,hit=2; do
            hurt checksum=0,point=$p
            untold
        done ;;
    steps) # the second process is lost at each step of the recovery from the first
        for p in detect.death agree.vote agree.decided repair assign quiesce park told.keep \
            told.reset told.body resume; do
            for v in rank=0 rank=3 checksum=0 spare=1; do
                case $p:$v in
                park:[cs]* | told.*:[cs]* | resume:[cs]* | quiesce:[cs]*) continue ;; # ranks pass these
                esac
                hurt rank=2,point=coll.enter,hit=40 $v,point=$p
                told
            done
        done
        for p in rejoin.setup rejoin.image restore.rebuild rejoin.ready restore.copy told.reset \
            restore.done told.body resume; do
            hurt rank=2,point=coll.enter,hit=40 spare=0,point=$p # the replacement
            told
        done
        # all of them are lost once each, at the step before the last
        hurt rank=1,point=coll.enter,hit=40 rank=3,point=told.body rank=0,point=told.body
        told ;;
    third) # one after the other, and again and again at one place, which is no error of the program's here
        hurt rank=2,point=coll.enter,hit=40 spare=0,point=coll.enter,hit=20 spare=1,point=coll.enter,hit=20
        told
        more="--checkpoint daly"
        hurt rank=1,point=rma.fence,hit=9 spare=0,point=rma.fence,hit=9 spare=1,point=rma.fence,hit=9
        told
        says '"told_recoveries":3' report "not three recoveries" ;;
    beyond) # more than the parity of the group: some come without an image
        hurt $both
        told
        says 'told: .* 2 of them without an image' err "both have an image"
        hurt rank=1,point=safepoint,hit=8 checksum=0,point=detect.death
        told
        hurt rank=2,point=coll.enter,hit=40 spare=0,point=restore.rebuild rank=0,point=park
        told
        # then another one of the group, before the next checkpoint
        more="--checkpoint daly"
        hurt $both rank=0,point=safepoint,hit=12
        told
        says 'told: .*1 rank.* 1 of them without an image' err "rank 0 has an image of what is nowhere"
        # and after a checkpoint
        more="--checkpoint every:2"
        hurt $both rank=0,point=safepoint,hit=14
        told
        says 'told: .*1 rank.* 0 of them without an image' err "rank 0 has no image"
        # groups of their own
        more="--checksums 2 --parity 2"
        hurt $both
        says 'told: .*2 ranks.* 0 of them without an image' err "one has no image" ;;
    shared) # memory of all in the arena of rank 0
        how=shared
        hurt rank=0,point=coll.enter,hit=40
        told
        hurt rank=2,point=coll.enter,hit=40
        told
        hurt rank=0,point=coll.enter,hit=40 rank=1,point=told.keep
        told
        hurt rank=0,point=coll.enter,hit=40 rank=2,point=told.reset spare=0,point=coll.enter,hit=12
        told ;;
    freed) # a window of setup was freed in body
        how=freed
        hurt rank=1,point=safepoint,hit=3 # before that
        told
        more="--checkpoint every:2"
        hurt rank=1,point=safepoint,hit=12 # and a checkpoint since
        told
        job $common --checkpoint daly --inject rank=1,point=safepoint,hit=8 -- $prog freed
        lost '\[window-freed\]$'
        job $common --checkpoint every:2 --inject rank=1,point=safepoint,hit=12 \
            --inject rank=3,point=agree.vote -- $prog freed
        lost 'comes back without an image.*\[window-freed-told\]$' ;;
    dropped) # a communicator of setup was freed in body: survivors keep that
        how=dropped
        hurt rank=1,point=safepoint,hit=3 # before that
        told
        more="--checkpoint daly" # and no checkpoint since
        hurt rank=1,point=safepoint,hit=8
        told ;;
    asks) # the program asks for it by a call, without --recovery
        common="-n 4 --checksums 1 --spares 3 --checkpoint every:3"
        how=asks
        hurt rank=1,point=safepoint,hit=8 # and the replacement of a replacement
        told
        hurt rank=2,point=coll.enter,hit=40 spare=0,point=coll.enter,hit=20
        told
        job $common --recovery program -- $prog asks # the same twice
        survived "$want"
        for other in auto global; do
            job $common --recovery $other -- $prog asks
            [ $status -eq 2 ] || complain "status $status with --recovery $other"
            grep -q "handles losses itself (FTRMA_Handle_losses), but '--recovery $other'" "$WORK/err" ||
                complain "--recovery $other is not named"
            nothing_left
        done ;;
    nodes) # ranks 0 and 1 are on one node, and 2 and 3 on the other: a process is lost, then one more, and a node
        common="-n 4 --virtual-nodes 2 --checksums 4 --spares 8 --checkpoint every:3 --recovery program"
        for at in rank=1,point=msg.send.half,hit=41 rank=2,point=rma.put.half,hit=9 \
            rank=3,point=rma.atomic.applied,hit=71 \
            rank=0,point=rma.lock.held,hit=9 rank=2,point=ckpt.committed,hit=3; do
            hurt "$at"
            told
        done
        hurt rank=2,point=coll.enter,hit=40 rank=0,point=told.keep
        told
        hurt rank=2,point=coll.enter,hit=40 rank=3,point=told.body
        told
        for at in node=1,point=safepoint,hit=8 node=0,point=rma.put.half,hit=9 node=1,point=ckpt.copy,hit=3 \
            gateway=0,point=gate.access.applied,hit=3; do
            hurt "$at"
            told
        done
        common="-n 4 --virtual-nodes 3 --checksums 2 --spares 9 --checkpoint every:3 --recovery program"
        hurt rank=2,point=coll.enter,hit=40 node=0,point=told.body
        told ;;
    before) # as --recovery global
        hurt rank=1,point=run.leave
        hurt rank=1,point=finalize.enter
        hurt rank=2,point=run.enter
        untold
        job $common --spares 0 --inject rank=1,point=safepoint,hit=5 -- $prog
        lost '\[no-spare\]$'
        job $common --log off --inject rank=1,point=rma.atomic.applied,hit=90 -- $prog
        survived "$want"
        told ;;
    restart) # the job goes on from files: nobody has a memory to keep before all have resumed
        dir="$WORK/set"
        mkdir "$dir"
        job $common --save "$dir" --inject rank=0,point=safepoint,hit=14,again=1 --spares 0 -- $prog many
        [ $status -eq 75 ] || complain "not lost"
        nothing_left
        job $common -- $prog many
        want=$result
        how=many
        more="--restart $dir"
        job $common $more -- $prog many
        survived "$want"
        hurt rank=1,point=restore.copy
        hurt rank=1,point=resume
        job $common $more --inject rank=1,point=restore.copy --inject rank=3,point=restore.done -- $prog many
        # rank 1 may be whole again before rank 3 dies
        if [ $status -eq 0 ]; then survived "$want"; else lost '\[group-lost\]$'; fi
        hurt rank=1,point=safepoint,hit=30
        told
        ;;
    *) echo "no such case: $name"; exit 2 ;;
    esac
done
verdict
