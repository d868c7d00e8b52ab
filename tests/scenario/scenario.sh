#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# scenario.sh - plays a program of this folder without failures, then with each failure that belongs
# to it, or with a share of these (../share.sh).
#
#   scenario.sh DIRECTORY-OF-FTRUN NAME...
BIN=$1
shift
. "$(dirname "$0")/../chaos/jobs.sh"

common="-n 4 --checksums 2 --spares 3 --checkpoint every:1"

clean() { # the run that the others are compared to; $ckpt: another policy
    job $common $ckpt -- "$BIN/scenario_$name"
    expect=$result
    [ $status -eq 0 ] && [ -n "$expect" ] || complain "without failures"
    nothing_left
}

# hurt INJECT...: all in one run, with a spare for each, and somebody must have died
hurt() {
    tried || return 0
    args="--spares $#"
    for i in "$@"; do args="$args --inject $i"; done
    job $common $ckpt $args -- "$BIN/scenario_$name"
    survived "$expect"
    grep -q '"who":' "$WORK/report" || complain "nobody died"
}

# exposed INJECT...: all in one run, which takes all back once because the rank that is lost is exposed
exposed() {
    args=
    for i in "$@"; do args="$args --inject $i"; done
    job $common $ckpt $args -- "$BIN/scenario_$name"
    survived "$expect"
    grep -q '"why":"exposed"' "$WORK/report" && grep -q '"rollbacks":1,' "$WORK/report" ||
        complain "all did not go back once for an exposed rank"
}

# hurt_waiting VICTIMS HIT: in the wait of that number, or in one before it: whether a call has to
# wait depends on who is sooner
hurt_waiting() {
    for v in $1; do
        tried || continue
        for hit in $(seq "$2" -1 1); do
            job $common $ckpt --inject "$v,point=msg.wait,hit=$hit" -- "$BIN/scenario_$name"
            survived "$expect"
            grep -q '"who":' "$WORK/report" && continue 2
        done
        complain "nobody died"
    done
}

# hurt_asleep OPTIONS: rank 2, as it sleeps before the target of a checkpoint
hurt_asleep() {
    tried || return 0
    export LATE_SLEEP=1
    job $common $ckpt --inject rank=2,point=ckpt.waits $1 -- "$BIN/scenario_$name"
    unset LATE_SLEEP
    survived "$expect"
    grep -q '"who":"rank 2"' "$WORK/report" || complain "rank 2 was not lost in its sleep"
}

# The bytes of all images of the job just run.
image_bytes() {
    awk '/checkpoint [0-9]+ committed:/ { for (i = 1; i < NF; i++) if ($i == "committed:") n += $(i + 1) }
        END { print n + 0 }' "$WORK/err"
}

# clean_all CHECKPOINTS: as clean, with that many committed. One that is not when a rank comes to
# the next is called off, and the run is made again.
clean_all() {
    for try in $(seq 20); do
        clean
        [ "$(grep -c 'checkpoint [0-9]* committed:' "$WORK/err")" -eq "$1" ] && return
    done
    complain "not $1 checkpoints in any of $try runs"
}

hurt_each() { # victims, then points with hits
    vs=$1
    shift
    for p in "$@"; do for v in $vs; do hurt "$v,point=$p"; done; done
}

for name in "$@"; do
    ckpt=
    [ $name != far ] || ckpt="--log off"
    [ $name != held ] || ckpt="--log-limit 1"
    if [ $name = polls ]; then # two snapshots, then a barrier; they take 2 s each, not 2, 40 and 420
        ckpt="--snapshot peek"
        LIMIT=${CHAOS_LIMIT:-200}
    fi
    clean
    case $name in
    late) # STEPS / 2, and those of the entry and the exit
        ckpt="--checkpoint every:2"
        clean
        n=$(grep -c 'checkpoint [0-9]* committed:' "$WORK/err")
        [ "$n" -ge 5 ] || complain "$n checkpoints: $(grep 'called off' "$WORK/err" | tail -n 1)"
        # who computes, who waits for it, and who stands at the target when it is given again
        hurt rank=1,point=safepoint,hit=8
        hurt rank=0,point=ckpt.arrived,hit=4
        hurt_asleep ""
        hurt_asleep "--inject rank=0,point=ckpt.arrived,hit=2" ;;
    behind) # setup sends nothing; body 3 rounds; then 6 rounds of messages
        hurt_each "rank=0 rank=2" run.leave finalize.enter msg.send.before,hit=12 \
            msg.send.fragment,hit=12 msg.recv.copied,hit=20 coll.enter,hit=5 coll.leave,hit=7
        hurt rank=1,point=run.leave rank=2,point=finalize.enter
        hurt rank=0,point=coll.leave,hit=6 rank=1,point=coll.leave,hit=8
        ckpt="--checkpoint every:100"
        hurt_each "rank=1 rank=3" run.body.over run.leave coll.enter,hit=5
        for p in run.body.over finalize.enter msg.recv.copied,hit=20; do # all of it is run again
            job -n 4 --checksums 0 --spares 2 --inject rank=1,point=$p -- "$BIN/scenario_$name"
            survived "$expect"
        done ;;
    left)
        grep -q 'active requests' "$WORK/err" || complain "there was a checkpoint at body's end"
        hurt_each "rank=0 rank=3" safepoint,hit=2 safepoint,hit=3 run.body.over
        for p in run.leave finalize.enter; do # no way back any more
            job $common --inject rank=2,point=$p -- "$BIN/scenario_$name"
            lost 'rank 2 .*FTRMA_Run has returned without its last checkpoint.*\[lost-exit-image\]$'
        done ;;
    pauses)
        hurt rank=0,point=coll.enter,hit=4
        hurt rank=1,point=safepoint,hit=3 rank=3,point=safepoint,hit=4 ;;
    refused)
        grep -q 'checkpoint 1 called off: a rank has active requests' "$WORK/err" ||
            complain "the first checkpoint was not called off"
        for ckpt in "--recovery auto" "--recovery global"; do
            hurt_each "rank=0 rank=1" run.enter coll.enter,hit=1 coll.leave,hit=4 \
                msg.send.after,hit=2 msg.wait finalize.enter
        done
        hurt rank=1,point=coll.enter,hit=5 rank=0,point=finalize.enter
        hurt rank=2,point=coll.enter,hit=5 spare=0,point=coll.enter,hit=3 ;; # the replacement, behind FTRMA_Run as well
    ready)
        for READY_LOGS in 0 400; do
            export READY_LOGS
            export FTRMA_LOG_READY=$READY_LOGS
            clean
        done
        unset READY_LOGS FTRMA_LOG_READY
        hurt_each "rank=1 checksum=0" ckpt.commit,hit=1 ckpt.commit,hit=2
        hurt_each rank=2 run.enter ckpt.copied,hit=1 ckpt.copied,hit=3 safepoint,hit=4
        hurt checksum=1,point=ckpt.parity.piece,hit=1 rank=1,point=safepoint,hit=4 ;;
    scratch)
        clean_all 14
        few=$(image_bytes)
        SCRATCH_KEPT=1
        export SCRATCH_KEPT
        clean_all 14
        unset SCRATCH_KEPT
        # of the four ranks: the window in 7 (entry, rounds 0 to 5), it and the private memory in 7
        # more (rounds 6 to 11, body's end)
        [ $(($(image_bytes) - few)) -eq $(((7 + 2 * 7) * 4 * 16384 * 8)) ] ||
            complain "images with it are $(image_bytes) bytes, without $few"
        for ckpt in "--recovery auto" "--recovery global" "--snapshot peek" "--snapshot partial --recovery global"; do
            hurt_each "rank=1" ckpt.copied,hit=1 safepoint,hit=3 safepoint,hit=8 \
                msg.recv.copied,hit=15 run.body.over run.leave
            hurt rank=0,point=safepoint,hit=7 rank=3,point=safepoint,hit=10
        done
        SCRATCH_LATE=1 # rank 3 is behind the checkpoint that was called off, and taken the second time
        export SCRATCH_LATE
        ckpt="--checkpoint every:3 --recovery global"
        hurt rank=2,point=safepoint,hit=8 rank=3,point=safepoint,hit=13
        [ $tried = no ] || grep -q 'active requests' "$WORK/err" || complain "no checkpoint was called off"
        unset SCRATCH_LATE
        FTRMA_DEMAND_AT=0
        export FTRMA_DEMAND_AT
        for d in bulk stream; do
            ckpt="--checkpoint every:5 --demand $d"
            hurt_each "rank=0 rank=1" safepoint,hit=4 msg.recv.copied,hit=18 safepoint,hit=10
            hurt_each "rank=2" demand.flipped,hit=1 demand.flipped,hit=2
        done
        unset FTRMA_DEMAND_AT ;;
    setup)
        hurt_each "rank=0 rank=3" setup.comm msg.send.before,hit=7 msg.send.fragment,hit=3 \
            msg.send.fragment,hit=60 msg.recv.match,hit=5 msg.recv.copied,hit=9 \
            msg.recv.done,hit=11 coll.enter,hit=3 coll.round,hit=4 coll.leave,hit=5 run.enter
        hurt_waiting "rank=0 rank=3" 6
        hurt rank=1,point=run.enter rank=3,point=run.enter # the sender of a setup message, then its receiver
        hurt rank=1,point=run.enter rank=2,point=run.enter # a rank that has received by wildcards, and the next one
        hurt rank=1,point=safepoint,hit=1 rank=2,point=safepoint,hit=2
        hurt rank=2,point=msg.recv.copied,hit=6 rank=1,point=safepoint,hit=1
        # the replacement, in the middle of its setup
        hurt rank=0,point=coll.leave,hit=4 spare=0,point=msg.recv.copied,hit=5
        hurt rank=0,point=safepoint,hit=2 spare=0,point=msg.recv.copied,hit=5 ;;
    setup_rma)
        for p in safepoint,hit=2 run.enter; do
            hurt rank=1,point=$p
            job $common --recovery global --inject rank=1,point=$p -- "$BIN/scenario_$name"
            lost 'rank 1 .*one-sided communication was used outside of FTRMA_Run.*\[outside-global\]$'
        done ;;
    hammer)
        hurt_each "rank=0 rank=1 rank=3" ckpt.copy,hit=3 ckpt.copied,hit=4 ckpt.leave,hit=2 \
            ckpt.arrived,hit=3 rma.atomic.locked,hit=150 rma.atomic.applied,hit=151 \
            rma.atomic.done,hit=152
        hurt checksum=0,point=ckpt.parity.piece,hit=3 rank=1,point=rma.atomic.applied,hit=200 ;;
    flight)
        hurt_each "rank=0 rank=2" safepoint,hit=4 safepoint,hit=9 safepoint,hit=17 \
            ckpt.copied,hit=7 ckpt.leave,hit=6 msg.send.half,hit=20 msg.recv.copied,hit=20 \
            msg.recv.match,hit=9 msg.send.fragment,hit=3
        hurt rank=0,point=safepoint,hit=8 rank=3,point=safepoint,hit=12 rank=1,point=msg.recv.done,hit=30 ;;
    bigput)
        hurt_each "rank=0 rank=1 rank=2" safepoint,hit=3 rma.put.half,hit=3 rma.fence,hit=5
        hurt rank=0,point=rma.put.half,hit=4 rank=1,point=rma.put.half,hit=5 ;;
    locks)
        hurt_each "rank=0 rank=1 rank=3" rma.lock.held,hit=7 rma.lock.held,hit=8 rma.unlock,hit=9 \
            rma.unlock,hit=10 rma.put.after,hit=11
        hurt rank=0,point=rma.lock.held,hit=5 rank=1,point=rma.lock.held,hit=5 ;;
    uneven)
        grep -q 'called off\|skipped\|passed over' "$WORK/err" || complain "no checkpoint was called off"
        hurt_each "rank=0 rank=3" safepoint,hit=2 safepoint,hit=5 run.body.over
        ckpt="--checkpoint daly --mtbf 0.001"
        clean
        hurt_each "rank=0 rank=3" safepoint,hit=3 run.body.over
        # one before its safepoint waits for one behind: called off, and then there is a barrier
        job $common --snapshot peek -- "$BIN/scenario_uneven"
        survived "$expect"
        grep -q 'stops all ranks after calling off 2 snapshots in a row' "$WORK/err" ||
            complain "no barrier after two snapshots" ;;
    requests)
        grep -q 'active requests' "$WORK/err" || complain "no safepoint was passed over for active requests"
        hurt_each "rank=0 rank=1" safepoint,hit=2 safepoint,hit=3 safepoint,hit=6 safepoint,hit=9
        hurt_waiting "rank=0 rank=1" 3
        for kind in file split generalized; do # every second safepoint has one, and body's end has none
            export REQUESTS_OF="$WORK/$kind"
            ckpt="--checkpoint every:2 --recovery global"
            clean
            grep -q 'active requests' "$WORK/err" || complain "no safepoint was passed over for a request of the host's"
            hurt_each rank=0 safepoint,hit=4
            hurt_each rank=1 safepoint,hit=5
            ckpt="--checkpoint every:2"
            hurt_each rank=1 safepoint,hit=6 finalize.enter
        done
        unset REQUESTS_OF ;;
    fences)
        hurt_each "rank=0 rank=1 rank=2 rank=3" rma.fence,hit=5 rma.fence,hit=12 coll.round,hit=20 rma.put.half,hit=9
        # body entered without a checkpoint, since there are no checksum processes
        job -n 4 --checksums 0 --spares 2 --inject rank=1,point=safepoint,hit=2 -- "$BIN/scenario_fences"
        survived "$expect" # run again from its start
        job -n 4 --checksums 0 --spares 2 --recovery global \
            --inject rank=1,point=safepoint,hit=2 -- "$BIN/scenario_fences"
        lost 'rank 1 .*the body of FTRMA_Run was entered with neither a checkpoint nor logs' ;;
    shared) # rank 0 has the memory of all
        hurt_each "rank=0 rank=3" safepoint,hit=3 ckpt.copied,hit=4 coll.round,hit=60
        [ $tried = no ] || grep -q 'a shared window' "$WORK/report" ||
            complain "it was not the shared window that all went back for"
        hurt rank=0,point=setup.win,hit=4
        hurt rank=2,point=rma.fence,hit=3
        hurt rank=0,point=safepoint,hit=2 spare=0,point=setup.win
        hurt rank=0,point=safepoint,hit=3 spare=0,point=restore.copy
        hurt rank=0,point=coll.round,hit=50 rank=1,point=coll.round,hit=50
        for p in run.enter run.leave; do # no checkpoint to go back to yet, or any more
            job $common --inject rank=2,point=$p -- "$BIN/scenario_$name"
            lost 'rank 2 .*it shared memory with other ranks'
        done ;;
    crossing) # of each algorithm: all that can cross its cut does, in each round; then all go back, or one alone
        for a in delay peek double partial; do
            ckpt="--checkpoint every:1 --snapshot $a"
            hurt rank=1,point=ckpt.committed,hit=5
            [ $a = double ] || hurt rank=2,point=safepoint,hit=7
            ckpt="$ckpt --recovery global"
            hurt rank=3,point=ckpt.committed,hit=6
            [ $a = double ] || hurt rank=0,point=ckpt.leave,hit=5 rank=2,point=safepoint,hit=8
        done
        ckpt="--snapshot peek --recovery global --log off"
        hurt rank=0,point=ckpt.committed,hit=4 ;;
    far)
        hurt_each "rank=0 rank=3" msg.sync.sent,hit=4 msg.sync.told,hit=5 msg.recv.match,hit=9 ckpt.copied,hit=5
        hurt_waiting "rank=0 rank=3" 7 ;;
    polls)
        n=$(grep -c 'called off: a rank waits' "$WORK/err")
        [ "$n" -ge 3 ] || complain "$n checkpoints were called off, not 3"
        grep -q 'stops all ranks after calling off 2 snapshots in a row' "$WORK/err" ||
            complain "no barrier after two snapshots" ;;
    matched)
        hurt rank=0,point=coll.advance
        grep -q '"rollbacks":0,' "$WORK/report" || complain "all went back" ;;
    held) # rank 0 keeps nothing for the others, and they all for it
        for p in msg.send.fragment,hit=30 msg.send.fragment,hit=250 msg.sync.sent,hit=1 msg.sync.sent,hit=2 msg.wait; do
            hurt rank=0,point=$p
            [ $tried = no ] || grep -q '"rollbacks":0,' "$WORK/report" || complain "all went back"
        done
        hurt_each rank=1 msg.recv.done,hit=12 msg.sync.told,hit=2
        ckpt="--log-limit 1 --snapshot peek"
        hurt_each "rank=0 rank=1" safepoint,hit=4
        hurt rank=0,point=msg.send.fragment,hit=400 ;;
    overtaken) # all go back, since a replacement could not tell that the put was over
        for OVERTAKEN in log cut get snapshot; do
            export OVERTAKEN
            ckpt="--checkpoint every:3" also=checksum=0,point=ckpt.parity.piece,hit=2 # it is not committed before
            case $OVERTAKEN in
            log) ckpt="--checkpoint every:100 --log-limit 1 --demand off" also= ;;
            snapshot) ckpt="$ckpt --snapshot peek" ;;
            esac
            clean
            exposed $also rank=1,point=safepoint,hit=4
        done
        unset OVERTAKEN ;;
    *) echo "no such scenario: $name"; exit 2 ;;
    esac
done
verdict
