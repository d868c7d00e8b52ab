#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# demand.sh - demand checkpoints, all the time (FTRMA_DEMAND_AT=0), with a failure at each of their
# steps, and another one behind it, so that what the first has left is really used.
#
#   demand.sh DIRECTORY-OF-FTRUN CASE...       steps, over, used, codeword, back, neighbours, covered, codes
#   FTRMA_DEMAND=stream                        each new image over the one before
#   DEMAND_ALL=1                               codes: every pair, and not one drawn for each step
#   DEMAND_SEED=S   repeats the draws (which program plays)
#   CHAOS_KEEP, CHAOS_LINES, CHAOS_LIMIT       as in ../chaos
#
# 4 ranks and 2 checksum processes: groups {0, 2} and {1, 3}, or, case codes, one with two
# codewords. Between entry and exit there is no coordinated checkpoint.
BIN=$1
shift
here=$(dirname "$0")
CHAOS_SEED=${DEMAND_SEED:-$(date +%s)}
. "$here/../chaos/jobs.sh"
. "$here/programs.sh"
export FTRMA_DEMAND_AT=0
common="-n 4 --checksums 2 --spares 3 --checkpoint every:100000"

play() { # draws a program: sets program, rounds
    draw 4
    case $drawn in
    0) select_program patterns_A ;;
    1) select_program putload ;;
    2) select_program stencil_protect ;;
    3) select_program isend_barrier ;;
    esac
    program=$cmd
    learn_rounds 60
}

learn_rounds() { # N: sets cmd, expect: the program with so many rounds, and what it prints without failures
    rounds=$1
    cmd="$program --rounds $rounds"
    FTRMA_DEMAND=off job $common -- $cmd
    expect=$result
    [ "$status" -eq 0 ] && [ -n "$expect" ] || complain "without failures"
    nothing_left
}

injected() { # PLACE...: a job with these failures; hit=LATE: towards the end
    args=
    for p in "$@"; do
        case $p in *=LATE) p=${p%LATE}$((rounds * 5 / 6)) ;; esac
        args="$args --inject $p"
    done
    job $common $args -- $cmd
    judge
    met=0
    if [ "$status" -eq 75 ] && [ $# -gt 1 ]; then # two of one group that happen to meet: the ladder
        met=1
        lost 'group [01] .*lost'
    else
        survived "$expect"
    fi
}

# until_true CHECK PLACE...: the same, and CHECK holds behind it. How many images are taken while
# the ranks do so many rounds is the scheduler's to say, nobody waits for them: if it was too early,
# again with four times the rounds.
until_true() {
    check=$1
    shift
    while :; do
        injected "$@"
        $check && break
        [ $rounds -lt 3000 ] || { complain "not so: $check"; break; }
        learn_rounds $((rounds * 4))
    done
    [ $rounds -eq 60 ] || learn_rounds 60
}

# Rank 1, or a checksum process, dies at a step, and another one of the group, or nobody, when it
# hears of it: both are lost by one decision. Then another rank, for which what they have left is
# used.
pairs() { # VICTIM POINT OTHERS...
    victim=$1,point=demand.$2,hit=3 point=$2
    shift 2
    draw $#
    for other in "$@"; do
        if [ -n "$DEMAND_ALL" ] || [ "$drawn" -eq 0 ]; then
            case $other in
            none) injected "$victim" "rank=2,point=safepoint,hit=1450" ;;
            *) injected "$victim" "$other,point=agree.vote,hit=1" "rank=2,point=safepoint,hit=1450" ;;
            esac
            died_at "demand.$point" || complain "nobody died at demand.$point"
            pairs_met=$((pairs_met + met))
        fi
        drawn=$((drawn - 1))
    done
}

# Somebody died at failpoint $1, and nobody before.
first_died_at() { [ "$(grep -o '"failpoint":"[^"]*"' "$WORK/report" | head -n 1)" = "\"failpoint\":\"$1\"" ]; }

demand_checkpoints_above() { [ "$(field demand_checkpoints)" -gt "$1" ]; }

# The replacements of rank 1 have rebuilt so many images: two each, the committed one and the
# latest.
images_rebuilt() { [ "$(grep -c 'rebuilt: rank 1 ' "$WORK/err")" -eq "$1" ]; }

for case in "$@"; do
    play
    case $case in
    steps) # a rank, or its checksum process, dies at each step; then another rank of that group
        for point in asked take copied flipped trimmed; do
            until_true "first_died_at demand.$point" "rank=1,point=demand.$point,hit=2" rank=3,point=safepoint,hit=LATE
        done
        for point in piece staged tagged; do
            until_true "first_died_at demand.$point" "checksum=1,point=demand.$point,hit=3" \
                rank=1,point=safepoint,hit=LATE
        done ;;
    # The same where the new image is written over the old one. The rank that then needs it is the
    # other one of the group, or the same one.
    over)
        export FTRMA_DEMAND=stream
        for point in over copied; do
            until_true "first_died_at demand.$point" "rank=1,point=demand.$point,hit=3" rank=3,point=safepoint,hit=LATE
            injected "rank=1,point=demand.$point,hit=3" "spare=0,point=safepoint,hit=9"
        done
        for point in lift piece staged tagged; do
            until_true "first_died_at demand.$point" "checksum=1,point=demand.$point,hit=4" \
                rank=1,point=safepoint,hit=LATE
        done
        # another one of the group is lost, in whatever state an image is; it goes back to its
        # latest one, and again
        for hit in 20 21 22 23; do
            injected "rank=3,point=safepoint,hit=$hit" "spare=0,point=safepoint,hit=9"
            [ "$rollbacks" -eq 0 ] && [ $met -eq 0 ] || complain "did not stay local"
        done
        injected "checksum=1,point=demand.piece,hit=6" "rank=0,point=safepoint,hit=12"
        # a coordinated image is written over the latest one, too: it is not missed
        common="$common --checkpoint every:20"
        for place in rank=1,point=ckpt.copied rank=1,point=ckpt.commit checksum=1,point=ckpt.parity.piece; do
            injected "$place,hit=2" "rank=3,point=safepoint,hit=45"
        done ;;
    used) # lost again and again, it goes back to its latest image each time
        until_true "demand_checkpoints_above 8"
        until_true "images_rebuilt 2" rank=1,point=safepoint,hit=LATE
        [ "$rollbacks" -eq 0 ] || complain "did not stay local"
        injected "rank=1,point=safepoint,hit=40" "spare=0,point=safepoint,hit=12"
        [ "$rollbacks" -eq 0 ] && [ $met -eq 0 ] || complain "did not stay local" ;;
    # the checksum process is lost, and its replacement serves; and a staging is under way when
    # another group is hit
    codeword)
        until_true "first_died_at demand.staged" checksum=1,point=demand.staged,hit=6 rank=1,point=safepoint,hit=LATE
        [ "$rollbacks" -eq 0 ] || complain "did not stay local"
        injected "rank=0,point=safepoint,hit=30" "checksum=1,point=demand.tagged,hit=9"
        # A rank dies when it has told the replacement which image is its latest. As long as that one
        # has no codeword, two of a group with one codeword are lost then; case codes has two.
        until_true "died_at demand.latest.said" checksum=1,point=demand.staged,hit=6 rank=1,point=demand.latest.said ;;
    back) # whoever logged for a rank that went back to its latest image is exposed; all go back to the committed ones
        injected "rank=1,point=safepoint,hit=30" "rank=2,point=safepoint,hit=33"
        injected "rank=1,point=safepoint,hit=30" "rank=2,point=replay.live.done" "rank=3,point=safepoint,hit=55" ;;
    neighbours) # a loss does not take the home log of the rank before with it: each of them goes back alone
        export FTRMA_DEMAND=off
        for list in "isend_barrier 23 26" "patterns_A 50 55" "stencil_protect 50 55"; do
            set -- $list
            select_program "$1"
            cmd="$cmd --rounds 60"
            job $common -- $cmd
            expect=$result
            injected "rank=1,point=safepoint,hit=20" "rank=0,point=safepoint,hit=$2" "rank=3,point=safepoint,hit=$3"
            [ "$rollbacks" -eq 0 ] && [ "$recoveries" -eq 3 ] || complain "did not stay local: $1"
        done
        unset FTRMA_DEMAND ;;
    covered) # all are exposed by the loss of a rank with an image taken alone: covered by images alone
        select_program patterns_A
        cmd="$cmd --rounds 1500" # there is time for an image between the losses
        FTRMA_DEMAND=off job $common -- $cmd
        expect=$result
        for at in 50 0; do
            export FTRMA_DEMAND_AT=$at
            injected "rank=1,point=safepoint,hit=20" "rank=0,point=safepoint,hit=1450"
            [ "$rollbacks" -eq 0 ] && [ "$recoveries" -eq 2 ] || complain "did not stay local"
            # on a machine that is busy otherwise a thousand images alone may push the event of a
            # checkpoint out, which is said
            [ "$(field checkpoints)" -eq 2 ] || [ "$(field events_lost)" -gt 0 ] ||
                complain "a coordinated checkpoint was taken between entry and exit"
            [ $at -ne 0 ] || [ "$(field demand_checkpoints)" -ge 1 ] || complain "no image was taken alone"
        done
        # gets that are not logged go on after an image: here it is all who take one, once
        select_program patterns_B
        cmd="$cmd --rounds 60"
        FTRMA_DEMAND=off job $common -- $cmd
        expect=$result
        export FTRMA_LOG=puts
        injected "rank=1,point=safepoint,hit=20"
        unset FTRMA_LOG
        [ "$(field checkpoints)" -eq 3 ] || complain "not one coordinated checkpoint after the loss" ;;
    codes) # a group of four with two codewords: any two of the six are lost, at each step
        common="-n 4 --checksums 2 --parity 2 --spares 5 --checkpoint every:100000"
        cmd="${cmd%--rounds*}--rounds 1500" # there is time for images before that
        FTRMA_DEMAND=off job $common -- $cmd
        expect=$result
        pairs_met=0
        for FTRMA_DEMAND in ${FTRMA_DEMAND:-bulk stream}; do
            export FTRMA_DEMAND
            injected
            [ "$(field demand_checkpoints)" -gt 8 ] || complain "few demand checkpoints"
            injected "rank=1,point=safepoint,hit=40"
            [ "$rollbacks" -eq 0 ] || complain "did not stay local"
            over= lift=
            [ $FTRMA_DEMAND = bulk ] || over=over lift=lift
            for point in take $over copied flipped; do
                pairs rank=1 $point none checksum=0 checksum=1 rank=3
            done
            for point in $lift piece staged tagged; do
                pairs checksum=0 $point none checksum=1 rank=0 rank=1
                pairs checksum=1 $point none checksum=0 rank=0 rank=1
            done
            # Rank 1 is lost; then the lead while it says its tag, to its helper first and then to the
            # ranks, or the helper.
            for point in checksum=0,point=demand.tag.said,hit=1 \
                checksum=0,point=demand.tag.said,hit=2 checksum=1,point=demand.tag.heard; do
                injected "rank=1,point=safepoint,hit=200" "$point" "rank=2,point=safepoint,hit=1450"
                died_at "$(echo "$point" | sed 's/.*point=\([a-z.]*\).*/\1/')" || complain "nobody died at $point"
            done
            # rank 1 is lost as it tells the lead's replacement of its latest image: two of six
            injected checksum=0,point=demand.staged,hit=3 rank=1,point=demand.latest.said
            died_at demand.latest.said || complain "nobody died at demand.latest.said"
            [ $met -eq 0 ] || complain "two of a group with two codewords are lost, and the job with them"
        done
        echo "$pairs_met of $runs runs lost a third one too early" ;;
    esac
done
echo "repeat with DEMAND_SEED=$SEED"
verdict
