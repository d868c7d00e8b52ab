#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# kernels_log.sh - npb_cg_log and lulesh_log, which outlive losses by their own logs: the same bits
# as npb_cg and lulesh on the host alone, whoever is lost, where, and however all go on.
#
#   kernels_log.sh DIRECTORY-OF-FTRUN cg|lulesh|twice|draws|large
#   LOCAL_SEED=S repeats the draws
#
# draws: LOCAL_RUNS (20) jobs of each kernel with up to three losses, wherever they come. large (make
# kernels): classes A and B, and 8 ranks of 20^3 elements.
#
# Where a rank is lost at a safepoint, all others are in the same iteration: the lost one has sent
# nothing of it, and each needs something of all others. Whoever is slow may be about to enter it.
BIN=$1
here=$(dirname "$0")
CHAOS_SEED=${LOCAL_SEED:-$(date +%s)}
. "$here/../chaos/jobs.sh"
. "$here/programs.sh"

ended=0 deaths=0

pick() { # one of the arguments, in $picked
    draw $#
    shift "$drawn"
    picked=$1
}

# kernel NAME RANKS ARGUMENTS...: sets want, ranks and cmd, and tries both programs without a loss
kernel() {
    name=$1 ranks=$2
    shift 2
    alone "$ranks" "$BIN/$name" "$@"
    want=$result
    cmd="$BIN/${name}_log $*"
    alone "$ranks" $cmd
    [ "$result" = "$want" ] || complain "not the result of $name: $want"
    job -n "$ranks" -- $cmd
    survived "$want"
    went 0 0 0
}

# went LOCAL GLOBAL BACK [BACK]: what the program said of its rollbacks. The iterations that survivors went back are one
# of BACK, or less by one for each survivor that was slow.
went() {
    said=$(grep '^rollback: ' "$WORK/out")
    back=$(expr "$said" : "rollback: $1 local, $2 global; survivors went back \([0-9]*\) iterations;")
    shift 2
    for most in "$@"; do
        [ "${back:--1}" -le "$most" ] && [ "${back:--1}" -ge $((most ? most - ranks + 1 : 0)) ] && return
    done
    complain "rollbacks of another kind, or not $* iterations back: $said"
}

# lose OPTIONS INJECT...: OPTIONS of the program
lose() {
    options=$1 inject=
    shift
    for i in "$@"; do inject="$inject --inject $i"; done
    job -n "$ranks" --spares "${spares:-$#}" $inject -- $cmd $options
}

# rescued OPTIONS INJECT...
rescued() {
    lose "$@"
    ! grep -q '"fired":false' "$WORK/report" || complain "not everybody died"
    survived "$want"
    grep -q '"told_recoveries":[1-9]' "$WORK/report" || complain "nobody was told"
}

# The next rank had the image of the one that is lost: the program says so, and ends.
beyond() { # LOST
    [ $status -eq 1 ] && grep -q "rank $1 is lost, and so is the copy of its checkpoint" "$WORK/err" ||
        complain "not ended for want of a copy"
    nothing_left
}

# Each rank is lost once: a checkpoint is taken every 10 iterations, messages of 5 are logged, and
# all others have come to 2 or 8 iterations from a drawn checkpoint.
ways() { # ITERATIONS
    for v in $(seq 0 $((ranks - 1))); do
        draw $(($1 / 10 - 2))
        c=$((10 * drawn + 10))
        if [ $((v % 2)) -eq 0 ]; then
            rescued "--every 10 --log 5" "rank=$v,point=safepoint,hit=$((c + 3))"
            went 1 0 0
        else
            rescued "--every 10 --log 5" "rank=$v,point=safepoint,hit=$((c + 9))"
            went 0 1 $((8 * (ranks - 1)))
        fi
    done
    rescued "--every 10" "rank=0,point=safepoint,hit=$((c + 9))"
    went 1 0 0
}

# Lost at the third checkpoint, which nobody can have seen complete: all go on from the one before,
# and logs of all iterations since are needed. The first checkpoint is what setup makes.
borders() {
    rescued "--every 10" rank=1,point=coll.enter,hit=4
    went 1 0 0
    rescued "--every 10 --log 9" rank=1,point=coll.enter,hit=4
    went 0 1 $((10 * (ranks - 1)))
    rescued "--every 10 --log 0" rank=1,point=safepoint,hit=4
    went 0 1 $((3 * (ranks - 1)))
}

# In the midst of an iteration and of a checkpoint. At the end of body nobody needs to go back.
places() { # POINTS...
    for p in "$@"; do
        draw "$ranks"
        rescued "--every 7" "rank=$drawn,point=$p"
        went 1 0 0
    done
}

# One to three losses, drawn, where the first is an iteration of the program's. Two neighbours may
# be too much; then the program must say so.
drawn() { # ITERATIONS MESSAGES, of a rank
    injects=
    points msg coll safepoint
    draw 3
    losses=$((drawn + 1))
    for i in $(seq $losses); do
        # shellcheck disable=SC2086
        pick $points
        at=$picked
        case $at in msg.*) most=$2 ;; coll.*) most=12 ;; *) most=$1 ;; esac
        draw "$ranks"
        who=rank=$drawn
        if [ "$i" -gt 1 ]; then # during the repair, or soon after it
            draw 3
            [ "$drawn" -eq 0 ] && pick park told.keep told.reset told.body resume $at && at=$picked
            draw 2
            [ "$drawn" -eq 0 ] && who=spare=$((i - 2)) most=$((most / 3 + 1))
        fi
        case $at in park | told.* | resume) most=1 ;; esac
        draw $most
        injects="$injects $who,point=$at,hit=$((drawn + 1))"
    done
    draw 4
    every=$((4 * drawn + 3))
    draw $((every + 1))
    # shellcheck disable=SC2086
    spares=3 lose "--every $every --log $drawn" $injects
    deaths=$((deaths + $(grep -o '"fired":true' "$WORK/report" | wc -l)))
    if [ $status -eq 1 ]; then
        beyond '[0-9]*'
        ended=$((ended + 1))
    else
        survived "$want"
    fi
}

case $2 in
cg)
    kernel npb_cg 4 S --iters 2
    ways 50
    borders
    places msg.send.before,hit=101 msg.send.half,hit=152 msg.send.after,hit=203 msg.recv.match,hit=104 \
        msg.recv.copied,hit=155 msg.recv.done,hit=206 coll.enter,hit=4 coll.round,hit=5 run.body.over
    lose "" rank=1,point=run.leave # told of nothing: the library keeps what body has left
    survived "$want"
    kernel npb_cg 4 W --iters 1
    rescued "" rank=2,point=safepoint,hit=20
    went 1 0 0 ;;
lulesh)
    kernel lulesh 8 -s 4 -i 40
    ways 40
    places msg.send.before,hit=101 msg.recv.match,hit=104 coll.enter,hit=4 ;;
twice)
    kernel npb_cg 4 S --iters 2
    # one after the other; the second one needs of the first what that has not sent again
    rescued "--every 10" rank=1,point=safepoint,hit=17 rank=2,point=safepoint,hit=20
    went 2 0 0
    # in another interval; the replacement; another way each time
    rescued "--every 10" rank=1,point=safepoint,hit=14 rank=2,point=safepoint,hit=40
    went 2 0 0
    rescued "--every 10" rank=1,point=safepoint,hit=24 spare=0,point=safepoint,hit=9
    went 2 0 0
    # rank 0 comes to its safepoint of iteration 12 twice, and is lost in 27; or once, if it was told before, and is
    # lost in 28
    rescued "--every 10 --log 5" rank=3,point=safepoint,hit=13 rank=0,point=safepoint,hit=29
    went 1 1 21 24
    # at once, but no neighbours; neighbours, of which setup can make all
    rescued "--every 10" rank=0,point=safepoint,hit=17 rank=2,point=safepoint,hit=17
    rescued "--every 10" rank=1,point=safepoint,hit=4 rank=2,point=safepoint,hit=4
    # during the repair: another one, and the replacement, which gets its image anew
    rescued "--every 10" rank=1,point=safepoint,hit=17 rank=3,point=told.body
    rescued "--every 10" rank=1,point=safepoint,hit=17 rank=2,point=msg.send.after,hit=17
    for at in coll.enter,hit=2 msg.recv.done,hit=2 msg.send.after,hit=1; do
        rescued "--every 10" rank=1,point=safepoint,hit=17 "spare=0,point=$at"
    done
    # whoever had the image, too
    lose "--every 10" rank=1,point=safepoint,hit=17 rank=2,point=told.keep
    beyond 1
    lose "--every 10" rank=3,point=safepoint,hit=17 rank=0,point=told.body
    beyond 3 ;;
draws)
    kernel npb_cg 4 S --iters 2
    for r in $(seq "${LOCAL_RUNS:-20}"); do drawn 50 250; done
    kernel lulesh 8 -s 4 -i 30
    for r in $(seq "${LOCAL_RUNS:-20}"); do drawn 30 300; done
    echo "$deaths ranks were lost, $ended jobs ended for want of a copy" ;;
large)
    LIMIT=1800
    kernel npb_cg 4 A
    ways 375
    kernel npb_cg 4 B
    ways 1875
    kernel lulesh 8 -s 20 -i 100
    ways 100 ;;
*)
    echo "no such case: $2"
    exit 2 ;;
esac
verdict
