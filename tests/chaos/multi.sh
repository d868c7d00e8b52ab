#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# multi.sh - more than one failure: together, one during the recovery from another, one after the
# other, too many, stopped processes, and kills from outside at random times.
#
#   multi.sh DIRECTORY-OF-FTRUN [CASES]     default: all of together during row parity lost bug stop
#                                           unheard clock saved random
#   CHAOS_SEED=S   CHAOS_RANDOM=N   kills from outside (default 12)   CHAOS_SAVED=N   jobs that save (default 6)
BIN=$1
shift
cases=${*:-together during row parity lost bug stop unheard clock saved random}
. "$(dirname "$0")/jobs.sh"

# 2 checksum processes: groups {0, 2} and {1, 3}; slots: ranks 0 to 3, checksum processes 4 and 5,
# spares 6 to 8
two="-n 4 --checksums 2 --spares 3 --checkpoint every:1"
ft="$BIN/npb_ft S"
kv="$BIN/kvstore --inserts 300 --rounds 5 --slots 128"
medley="$BIN/chaos_medley"
job $two -- $ft
want_ft=$result
nothing_left
job $two -- $kv
want_kv=$result
nothing_left
job $two -- $medley
want_medley=$result
nothing_left
[ -n "$want_ft" ] && [ -n "$want_kv" ] && [ -n "$want_medley" ] || complain "no result without failures"

# failures N: so many must have been seen
failures() {
    seen=$(grep -o '"who":' "$WORK/report" | wc -l)
    [ "$seen" -ge "$1" ] || complain "only $seen failures were seen, not $1"
}

lost_two() { # PROGRAM --inject...: if it is tried at all (../share.sh)
    tried || return 0
    program=$1
    shift
    eval "command=\$$program want=\$want_$program"
    job $two "$@" -- $command
    survived "$want"
    [ $program = medley ] || failures 2
}

together() { # two ranks of different groups, a rank and the checksum process of the other group
    for h in 2 3 4; do
        lost_two ft --inject rank=0,point=safepoint,hit=$h --inject rank=1,point=safepoint,hit=$h
        lost_two kv --inject rank=2,point=safepoint,hit=$h --inject checksum=1,point=ckpt.commit,hit=$h
        lost_two medley --inject rank=3,point=coll.round,hit=$((h * 3)) --inject rank=2,point=safepoint,hit=$h
    done
}

# Rank 0 fails, and while that is being recovered a second process fails: its replacement, another
# rank, or a checksum process.
during() {
    for point in park resume restore.copy restore.done replay.begin replay.live quiesce \
        rejoin.image rejoin.head rejoin.setup rejoin.ready restore.rebuild agree.vote agree.decided repair assign; do
        case $point in park | resume | restore.copy | restore.done) recovery=global ;; *) recovery=auto ;; esac
        for second in spare=0 rank=3 checksum=1 again; do
            case $point:$second in
            rejoin.*:rank* | replay.*:rank* | restore.rebuild:rank* | park:spare* | park:again) continue ;;
            # never passed there, by such a process
            quiesce:check* | park:check* | rejoin.*:check*) continue ;;
            replay.*:check* | restore.*:check* | resume:check*) continue ;;
            # a spare has no rank yet
            quiesce:again | agree.*:again | repair:again | assign:again) continue ;;
            esac
            victim=$second at_least=2
            # the replacement, and then its replacement as well
            [ $second = again ] && victim="spare=0,point=$point --inject spare=1" at_least=3
            job $two --recovery $recovery --inject rank=0,point=safepoint,hit=3 --inject $victim,point=$point -- $ft
            survived "$want_ft"
            failures $at_least
            died_at $point || complain "nobody died at $point"
        done
    done
}

row() { # as many in a row as there are spares
    job $two --inject rank=0,point=safepoint,hit=2 --inject spare=0,point=safepoint,hit=3 \
        --inject spare=1,point=safepoint,hit=4 -- $ft
    survived "$want_ft"
    failures 3
    job $two --inject rank=1,point=safepoint,hit=2 --inject rank=2,point=safepoint,hit=4 \
        --inject rank=3,point=safepoint,hit=5 -- $kv
    survived "$want_kv"
    failures 3
    job $two --inject rank=3,point=run.enter --inject rank=1,point=coll.round,hit=9 \
        --inject rank=0,point=run.body.over -- $medley
    survived "$want_medley"
    failures 3
}

clock() { # the root, whose clock says when checkpoints are due, is lost before the first: its successor's says so
    daly="-n 4 --checksums 2 --spares 3 --mtbf 0.05"
    job $daly -- $ft --iters 200
    want=$result
    job $daly --inject rank=0,point=safepoint,hit=1 -- $ft --iters 200
    survived "$want"
    failures 1
    taken=$(grep -o '"version":' "$WORK/report" | wc -l)
    [ "$taken" -ge 3 ] ||
        complain "after the root's death only $taken checkpoints were taken: the first, the last, and none between"
}

parity() { # a checksum process is lost, a spare rebuilds the codeword, then a rank of its group is lost
    for h in 1 2 3; do
        lost_two kv --inject checksum=0,point=ckpt.committed,hit=$h --inject rank=2,point=safepoint,hit=$((h + 2))
        lost_two ft --inject checksum=1,point=ckpt.parity.piece,hit=$h --inject rank=1,point=safepoint,hit=$((h + 2))
    done
}

# Together: the second dies when it takes over that the first one is lost, and so does not say that
# it accesses nothing of it any more, for which a replacement waits in its setup. [Both die when
# they have copied for the same checkpoint: whoever is late, on a machine with much else to do, is
# lost when the first one has been recovered, and both are survived.]
lost_jobs() {
    job $two --inject rank=0,point=ckpt.copied,hit=3 --inject rank=2,point=assign -- $ft
    lost 'group 0 .*lost rank 0 and rank 2'
    job $two --inject rank=1,point=ckpt.copied,hit=3 --inject checksum=1,point=ckpt.proposed,hit=2 -- $kv
    [ $status -eq 0 ] || lost 'group 1 .*lost' # either order of the two events may come
    job -n 4 --checksums 1 --spares 2 --checkpoint every:1 --inject rank=0,point=ckpt.copied,hit=3 \
        --inject rank=1,point=assign -- $ft
    lost 'group 0 .*lost rank 0 and rank 1'
    job $two --recovery global --inject rank=0,point=safepoint,hit=3 \
        --inject spare=0,point=rejoin.setup --inject rank=2,point=assign,hit=2 -- $ft
    lost 'group 0 .*lost'
    job -n 4 --checksums 1 --spares 0 --checkpoint every:1 --inject rank=3,point=safepoint,hit=3 -- $kv
    lost 'rank 3 was lost, and too few spares are left'
    job -n 4 --checksums 2 --spares 1 --checkpoint every:1 --inject rank=0,point=safepoint,hit=2 \
        --inject rank=1,point=safepoint,hit=4 -- $kv
    lost 'rank 1 was lost, and too few spares are left'
    job -n 4 --checksums 2 --spares 1 --checkpoint every:1 \
        --inject checksum=1,point=ckpt.committed,hit=2 --inject rank=0,point=safepoint,hit=5 -- $kv
    lost 'rank 0 was lost, and too few spares are left'
}

bug() { # a rank that dies thrice at the same place
    job $two --inject rank=1,point=safepoint,hit=3,again=1 -- $ft
    died_at safepoint || complain "nobody died"
    job $two --checkpoint off --inject rank=2,point=setup.win,again=1 -- $medley
    lost 'rank 2 died 3 times at the same place.*probably a bug'
    job $two --checkpoint every:100 --inject rank=1,point=safepoint,hit=3,again=1 -- $ft
    lost 'rank 1 died 3 times at the same place.*probably a bug'
}

stop() { # silent: killed, replaced, and never heard of again
    export FTRMA_PING_TIMEOUT_MS=600
    for what in rank=1,point=rma.put.half,hit=5 rank=2,point=safepoint,hit=3 \
        rank=0,point=coll.round,hit=4 checksum=0,point=ckpt.parity.piece,hit=2; do
        job $two --inject $what,action=stop -- $ft
        survived "$want_ft"
        failures 1
    done
    job $two --inject rank=3,point=rma.atomic.applied,hit=7,action=stop -- $kv
    survived "$want_kv"
    failures 1
    unset FTRMA_PING_TIMEOUT_MS
}

process() { # SLOT: the number of the process of the job under way
    for p in $(processes_left); do
        p=${p%/environ}
        grep -aqzx "OMPI_COMM_WORLD_RANK=$1" "$p/environ" 2>/dev/null &&
            grep -qx kvstore "$p/comm" 2>/dev/null || continue
        echo "${p#/proc/}"
        return
    done
}

threads_are() { ! grep -hs '^State:' "/proc/$1/task/"*/status | grep -qv "State:[[:space:]]*$2"; } # PROCESS LETTER

# All these processes sleep, and none of them has run between two looks.
moves() { for p in "$@"; do cat "/proc/$p/task/"*/status; done 2>/dev/null | grep -E '^State|switches'; }
asleep() {
    before=
    while :; do
        now=$(moves "$@")
        [ "$now" = "$before" ] && ! echo "$now" | grep -q '^State:[[:space:]]*[RT]' && return
        before=$now
        sleep 0.02
    done
}

# The first checkpoint is committed, and of those that stand at FTRMA_Run's entry a replacement does
# not hear of it, since who would have told it is lost. Slots 0 to 2 are ranks, 3 is the checksum
# process, and when rank 2 is lost, slot 4 takes its place, below 1, below 0.
unheard() {
    entry="-n 3 --checksums 1 --spares 3 --checkpoint every:1"
    job $entry -- $kv
    want_entry=$result
    export FTRMA_PING_TIMEOUT_MS=0
    (
        until p=$(process 3) && [ -n "$p" ] && threads_are "$p" T; do sleep 0.02; done # all but this one have answered
        root=$(process 0) teller=$(process 1)
        asleep "$root" "$teller" "$(process 4)" "$(process 5)"
        kill -STOP "$root"
        until threads_are "$root" T; do :; done
        kill -CONT "$p"
        asleep "$p"
        kill -KILL "$teller"
        until [ ! -d "/proc/$teller" ] || threads_are "$teller" Z; do :; done
        kill -CONT "$root" # hears the last answer, commits, and sees the death
    ) &
    killer=$!
    job $entry --inject rank=2,point=run.enter --inject checksum=0,point=ckpt.parity.done,action=stop -- $kv
    kill $killer 2>/dev/null
    wait $killer 2>/dev/null
    survived "$want_entry"
    failures 2
    unset FTRMA_PING_TIMEOUT_MS
}

# A job that saves is lost at a drawn failpoint, since there is no spare or since more die than the parity is; whatever
# was saved, another job comes to the same result from it, though a rank dies there as well. Or ftrun starts it again.
saved() {
    set -- safepoint ckpt.copy ckpt.copied ckpt.leave ckpt.arrived ckpt.commit ckpt.committed \
        ckpt.proposed coll.enter coll.round run.enter run.body.over run.leave finalize.enter
    points="$*" npoints=$# n=0 lost=0
    while [ $n -lt ${CHAOS_SAVED:-6} ]; do
        n=$((n + 1))
        draw 3
        case $drawn in
        0) program=$ft want=$want_ft ;;
        1) program=$kv want=$want_kv ;;
        2) program=$medley want=$want_medley ;;
        esac
        rm -rf "$WORK/sets"
        draw 3
        save="--save $WORK/sets,every=$((drawn + 1))"
        draw 4
        first=$drawn second=$(((drawn + 2) % 4)) # of one group
        draw 2
        if [ $drawn -eq 0 ]; then
            drawn_place
            args="--spares 0 --inject rank=$first,$place"
        else
            drawn_place
            args="--inject rank=$first,$place --inject rank=$second,$place"
        fi
        draw 3
        [ $drawn -ne 0 ] || args="$args --restarts 4"
        job $two $args $save -- $program
        if [ $status -eq 75 ]; then
            lost 'job lost: '
            lost=$((lost + 1))
        else
            survived "$want"
        fi
        args=
        if ls -d "$WORK/sets/set."*[0-9] >/dev/null 2>&1; then
            draw 4
            first=$drawn
            drawn_place
            job --restart "$WORK/sets" --checksums 2 --spares 2 --checkpoint every:1 \
                --inject rank=$first,$place -- $program
            survived "$want"
        elif [ $status -eq 75 ]; then # lost before there was a checkpoint
            job --restart "$WORK/sets" --checksums 2 -- $program
            [ $status -eq 2 ] && grep -q "no set to go on from\|no set there is complete" "$WORK/err" ||
                complain "there was nothing to go on from"
            nothing_left
        fi
    done
    echo "saved: $lost of $n jobs were lost"
}

drawn_place() {
    draw $npoints
    place=point=$(echo $points | cut -d' ' -f$((drawn + 1)))
    draw 8
    case $place in *run.* | *finalize*) ;; *) place=$place,hit=$((drawn + 1)) ;; esac
}

# The processes of kvstore in this job.
programs() {
    for pid in $(pgrep -x kvstore); do
        grep -aqzx "FTRMA_TEST_MARK=$MARK" "/proc/$pid/environ" && echo "$pid"
    done
}

random() { # kill -9 from outside, after a random time, of a random process
    long="$BIN/kvstore --inserts 6000 --rounds 60 --slots 2048 --think-us 50"
    job $two -- $long
    want_random=$result
    n=0 kills=0
    while [ $n -lt ${CHAOS_RANDOM:-12} ]; do
        n=$((n + 1))
        draw 300
        wait_ms=$(printf %03d "$drawn")
        draw 9
        victim=$drawn
        : >"$WORK/err" # what the run before has committed is not meant
        (
            # Every fourth kill comes at any time, also in the host's MPI_Init. For the others the processes are looked
            # up beforehand, since that takes long on a busy machine.
            if [ $((n % 4)) -ne 0 ]; then
                until set -- $(programs) && [ $# -eq 9 ]; do sleep 0.01; done
                until grep -qs committed "$WORK/err"; do sleep 0.01; done
            fi
            sleep "0.$wait_ms"
            [ $((n % 4)) -ne 0 ] || set -- $(programs)
            [ $# -le $victim ] || { shift $victim && kill -9 $1; }
        ) 2>/dev/null &
        killer=$!
        job $two -- $long
        kill $killer 2>/dev/null
        wait $killer 2>/dev/null
        grep -q '"who":' "$WORK/report" && kills=$((kills + 1))
        # the host's own start does not outlive a death
        if grep -q 'before the end of MPI_Init\|before it had loaded' "$WORK/err"; then
            nothing_left
        elif grep -q 'died after MPI_Finalize' "$WORK/err"; then # too late: the program's own end
            [ "$result" = "$want_random" ] || complain "another result than $want_random"
            nothing_left
        else
            survived "$want_random"
        fi
    done
    echo "random: $kills of $n kills were in time"
    [ $kills -gt 0 ] || complain "no kill was in time"
}

for c in $cases; do
    case $c in
    lost) lost_jobs ;;
    together | during | row | parity | bug | stop | unheard | clock | saved | random) $c ;;
    *) echo "no such case: $c"; exit 2 ;;
    esac
    echo "$c: done after $runs runs, $bad failed"
done
verdict
