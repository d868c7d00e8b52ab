#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# local.sh - runs programs of this folder without failures, then with a rank killed at a random
# place, then with two failures in a row: the result must be that of the run without, and it is
# counted how often the survivors could go on without going back. Of the runs with two failures it
# makes a share (../share.sh).
#
#   local.sh DIRECTORY-OF-FTRUN PROGRAM...      programs.sh has the names
#   LOCAL_SEED=S      repeats the draws           LOCAL_RUNS=N    runs with one failure for each program (default 1)
#   LOCAL_DEMAND=1    a single failure must not lead to a rollback; in 5 runs or more a cheat must be found out
#   LOCAL_HOST=1      the host MPI alone must come to the same result too
#   LOCAL_EVERY=K      safepoints between checkpoints (default 4)
#   LOCAL_NODES=K      on K virtual nodes
#   LOCAL_POINTS="a b", LOCAL_RANK=R, LOCAL_HIT=H   fix what is drawn otherwise
#   CHAOS_KEEP, CHAOS_LINES, CHAOS_LIMIT            as in ../chaos
BIN=$1
shift
here=$(dirname "$0")
LOCAL_SEED=${LOCAL_SEED:-$(date +%s)}
LOCAL_RUNS=${LOCAL_RUNS:-1}
CHAOS_SEED=$LOCAL_SEED
. "$here/../chaos/jobs.sh"
. "$here/programs.sh"

# A spare for each failure, and on nodes as many as a node may have to take over.
case ${LOCAL_NODES-} in
'') common="--checksums 2 --recovery auto" spares_0="--spares 0" spares_1="--spares 1" spares_2="--spares 2" ;;
2) common="--virtual-nodes 2 --checksums 4 --spares 8 --recovery auto" spares_0= spares_1= spares_2= ;;
*) common="--virtual-nodes $LOCAL_NODES --checksums 2 --spares 9 --recovery auto" spares_0= spares_1= spares_2= ;;
esac
single=0 stayed=0 elsewhere=0 all_deaths=0 all_recoveries=0 all_rollbacks=0 refused=0 missed=0 diverged=0

# The most hits that a rank may come to at a point, as far as is known: fewer after each run in
# which nobody died there.
limit_of() { eval "limit=\${limit_$(echo "$1" | tr . _):-60}"; }
set_limit() { eval "limit_$(echo "$1" | tr . _)=$2"; }

draw_place() { # sets point and hit; 1 when nothing is left to draw
    n=0
    while [ $n -lt 50 ]; do
        n=$((n + 1))
        draw $npoints
        set -- $points
        shift "$drawn"
        point=$1
        limit_of "$point"
        [ "$limit" -gt 0 ] || continue
        draw "$limit"
        hit=${LOCAL_HIT:-$((drawn + 1))}
        return 0
    done
    return 1
}

# Without FTRMA_Run not everything can be survived; then it must say so. Returns 0 when it did.
refuses() {
    case $kind in unmodified | onesided | threaded) ;; *) return 1 ;; esac
    [ "$status" -eq 75 ] && [ -z "$LOCAL_DEMAND" ] || return 1
    lost 'one-sided communication was used outside of FTRMA_Run|cannot be run again|lost|log|another thread'
    refused=$((refused + 1))
}

check() {
    judge
    all_deaths=$((all_deaths + deaths)) all_rollbacks=$((all_rollbacks + rollbacks))
    all_recoveries=$((all_recoveries + recoveries))
    grep -q diverged "$WORK/err" && diverged=$((diverged + 1))
    refuses && return
    want=$expect
    [ $kind = cheat ] && want=$result # whatever it is, there must be one
    [ -n "$want" ] || complain "no result"
    survived "$want"
}

once() { # one failure, at a place that is really come to
    tries=0 deaths=0
    while [ "$deaths" -eq 0 ] && [ $tries -lt 12 ]; do
        tries=$((tries + 1))
        draw_place || break
        draw 4
        victim=${LOCAL_RANK:-$drawn}
        job -n $ranks $common $spares_1 $ckpt --inject "rank=$victim,point=$point,hit=$hit" -- $cmd
        check
        if [ "$deaths" -eq 0 ]; then
            missed=$((missed + 1))
            set_limit "$point" $((hit / 2))
            [ -z "$LOCAL_HIT" ] || return
        fi
    done
    if [ "$deaths" -eq 0 ]; then
        complain "nobody died in $tries tries"
        return
    fi
    if [ $kind != unmodified ] && [ "$status" -eq 0 ] && [ $((rollbacks + recoveries)) -eq 0 ]; then
        elsewhere=$((elsewhere + 1)) # in setup or behind body, where nobody else would have to go back anyway
        return
    fi
    single=$((single + 1))
    if [ "$status" -eq 0 ] && [ "$rollbacks" -eq 0 ]; then
        stayed=$((stayed + 1))
    elif [ -n "$LOCAL_DEMAND" ] && [ $kind != cheat ]; then
        complain "did not stay local: $rollbacks rollbacks"
    fi
}

# One after the other: a rank of the other group, or the replacement of the first.
twice() {
    draw_place || return
    draw 4
    first=$drawn first_place="point=$point,hit=$hit"
    draw_place || return
    case $1 in
    other) draw 2; second="rank=$(((first + 1 + 2 * drawn) % 4)),point=$point,hit=$((hit + 5))" ;;
    same) second="spare=0,point=$point,hit=$((hit / 2 + 1))" ;;
    esac
    job -n $ranks $common $spares_2 $ckpt --inject "rank=$first,$first_place" --inject "$second" -- $cmd
    check
}

# Without osc/rdma of Open MPI 4.1.4, which dies in an 8-byte MPI_Compare_and_swap and starves one
# who waits for the lock of its own window.
host_agrees() {
    alone=$(timeout -k 5 "$LIMIT" mpirun --allow-run-as-root --oversubscribe --mca osc ^rdma \
        -n $ranks $cmd 2>&1 </dev/null |
        grep '^result:')
    [ $kind = cheat ] || [ "$alone " = "$expect" ] || complain "the host alone: $alone, not $expect"
}

for name in "$@"; do
    select_program "$name"
    points ${LOCAL_POINTS:-$classes}
    SEED=$((LOCAL_SEED + $(echo "$name" | cksum | cut -d' ' -f1) % 1000003))
    lcg=$((SEED % 2147483647))
    case $kind in
    protected | cheat | threaded) ckpt="--checkpoint every:${LOCAL_EVERY:-4}" ;;
    *) ckpt="--checkpoint off" ;;
    esac
    for p in $points; do set_limit "$p" $most; done
    job -n $ranks $common $spares_0 $ckpt -- $cmd
    expect=$result
    [ "$status" -eq 0 ] && [ -n "$expect" ] || complain "without failures"
    nothing_left
    [ -z "$LOCAL_HOST" ] || host_agrees
    case $base in stencil | npb_* | lulesh | kvstore) plain= ;; *) plain=--plain ;; esac
    if [ $kind = protected ] && [ -n "$plain" ]; then # the same without FTRMA_Run
        job -n $ranks --checksums 0 --spares 0 -- $cmd $plain
        survived "$expect"
    fi
    found_before=$diverged
    tried # the runs with one failure count as the first case, which is always tried
    i=0
    while [ $i -lt "$LOCAL_RUNS" ]; do
        once
        i=$((i + 1))
    done
    [ -z "$no_rollback" ] || continue
    draw 2
    kinds="other same"
    [ "$LOCAL_RUNS" -gt 1 ] || { [ $drawn -eq 0 ] && kinds=other || kinds=same; }
    # one of them, or with more runs both
    for k in $kinds; do
        if [ $kind = cheat ] || tried; then twice $k; fi
    done
    [ -z "$LOCAL_DEMAND" ] || [ $kind != cheat ] || [ "$LOCAL_RUNS" -lt 5 ] || [ $diverged -gt $found_before ] ||
        complain "no divergence was found"
done
SEED=$LOCAL_SEED
echo "$all_deaths ranks died; single failures that stayed local: $(share $stayed $single)," \
    "and $elsewhere outside of body; local recoveries $all_recoveries, rollbacks $all_rollbacks," \
    "refused with a reason $refused, divergences named $diverged, runs in which nobody died $missed"
echo "repeat with LOCAL_SEED=$LOCAL_SEED"
verdict
