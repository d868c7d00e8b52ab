#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# chaos.sh - each failpoint that the library knows, each kind of victim: the job must end with the
# result of a run without failures.
#
#   chaos.sh DIRECTORY-OF-FTRUN [SHARD OF]
#   CHAOS_SEED=S   repeats a run       CHAOS_FULL=1   every rank, more hits, every program for each (make chaos)
#   CHAOS_POINTS="a b"  only these     CHAOS_KEEP=DIR keeps what failed runs said
#
# Jobs have 4 ranks (lulesh 8) and 2 checksum processes: groups {0, 2} and {1, 3}, or of even and
# odd ranks. Points that only a failure leads to are tried as second failure, of a victim in another
# group. A point must be reached by each kind of process that the table says passes it; what the
# programs cannot reach stands in unreached.txt with its reason. Of the ranks, 0 (the root of all
# trees) is always a victim, and of 1 to 3 one is drawn, so that the tests stay short. Programs are
# drawn, too, and of the pairs of point and victim a share (../share.sh).
BIN=$1
shard=${2:-0} shards=${3:-1}
here=$(dirname "$0")
. "$here/jobs.sh"

common="-n 4 --checksums 2 --spares 0 --checkpoint every:1"
programs="npb_ft kvstore medley" kernels="npb_cg lulesh"

learn $programs $kernels
[ $bad -eq 0 ] || { verdict; exit 1; }

# The failure that leads a victim to a point behind failures. The process before it in the order of
# slots is who detects a death.
first_failure() { # victim
    case $1 in
    rank=[012]) echo "rank=$((${1#rank=} + 1)),point=safepoint,hit=3" ;;
    *) case $1:$point in
        rank=3:detect.death) echo "checksum=0,point=ckpt.committed,hit=2" ;;
        rank=3:*) echo "rank=0,point=safepoint,hit=3" ;;
        checksum=0:detect.death) echo "checksum=1,point=ckpt.committed,hit=2" ;;
        checksum=0:*) echo "rank=1,point=safepoint,hit=3" ;;
        spare=0:detect.death) echo "spare=1,point=init.enter" ;;
        spare=0:*) echo "rank=2,point=safepoint,hit=3" ;;
        esac ;;
    esac
}

# Kinds that pass a point: the ranks one by one. A replacement was a spare.
victims() { # who
    case $point in
    rejoin.* | replay.*) echo "spare=0" ; return ;;
    restore.rebuild) echo "spare=0 lost-checksum" ; return ;;
    esac
    case $1:$CHAOS_FULL in
    *R*:) echo "rank=0 rank=$other" ;;
    *R*:*) echo "rank=0 rank=1 rank=2 rank=3" ;;
    esac
    case $1 in *C*) [ "$point" = restore.done ] || echo "checksum=0" ;; esac
    case $1 in *S*) echo "spare=0" ;; esac
    case $point in restore.* | resume) echo "spare=0" ;; esac
    case $point in restore.done) echo "lost-checksum" ;; esac
}

inject() { # victim hit -> arguments
    case $point in
    detect.* | agree.* | repair | assign | quiesce | release.* | rejoin.* | replay.* | park | restore.* | resume)
        if [ $1 = lost-checksum ]; then # its replacement, while it rebuilds the codeword
            echo "--inject checksum=0,point=ckpt.committed,hit=2 --inject spare=0,point=$point,hit=$2"
        else
            echo "--inject $(first_failure $1) --inject $1,point=$point,hit=$2"
        fi ;;
    *) echo "--inject $1,point=$point,hit=$2" ;;
    esac
}

try() { # victim hit programs...
    v=$1 h=$2
    shift 2
    for p in "$@"; do
        eval "want=\$expect_$p"
        case $point in transport.*) export FTRMA_TRANSPORT=fault ;; *) unset FTRMA_TRANSPORT ;; esac
        # what only a global rollback comes to; all else is tried with local recovery
        case $point in park | resume | restore.*) recovery=global ;; *) recovery=auto ;; esac
        losses=$(inject $v $h)
        case $losses in *--inject*--inject*) spares=2 ;; *) spares=1 ;; esac
        job $common --spares $spares $(ranks_of $p) --recovery $recovery $losses -- $(program $p)
        survived "$want"
        died_at $point && reached=$((reached + 1))
    done
}

is_known() { grep -q "^$1 $2 " "$here/unreached.txt"; }

index=0 unreached=0
"$BIN/ftrun" --inject list | grep -E '^[a-z.]+ +[RCS]+ ' >"$WORK/points"
while read -r point who doc; do
    index=$((index + 1))
    # These are tried by ../local/{demand,turn,long}.sh, snapshot.sh, ../edges/{death_at_the_end,mail}.sh,
    # ../save/points.sh, ../ftt/ftt.sh and ../nodes/logs.sh.
    case $point in
    ftt.* | restart.* | told.* | demand.* | ckpt.long | ckpt.waits | snapshot.* | turn.*) continue ;;
    finalize.done | mail.waits | mail.box | replay.fetched | replay.home*) continue ;;
    esac
    if [ -n "$CHAOS_POINTS" ]; then
        case " $CHAOS_POINTS " in *" $point "*) ;; *) continue ;; esac
    elif [ $((index % shards)) -ne "$shard" ]; then
        continue
    fi
    draw 3
    other=$((drawn + 1))
    for victim in $(victims $who); do
        tried || continue
        reached=0
        draw 7
        later=$((drawn + 2))
        draw 3
        case $drawn in
        0) one=npb_ft two=kvstore three=medley ;;
        1) one=kvstore two=medley three=npb_ft ;;
        *) one=medley two=npb_ft three=kvstore ;;
        esac
        if [ -n "$CHAOS_FULL" ]; then
            for h in 1 2 3 $later $((later * 5)); do try $victim $h $programs $kernels; done
        else
            draw 2
            case $drawn in 0) try $victim 1 $one ;; 1) try $victim $later $one ;; esac
            [ $reached -gt 0 ] || try $victim 1 $two
            [ $reached -gt 0 ] || try $victim 1 $three $one
            draw 12 # two-sided programs pass some of the points only
            case $drawn in 0) try $victim $later npb_cg ;; 1) try $victim $later lulesh ;; esac
        fi
        if [ $reached -eq 0 ] && ! is_known $point $victim; then
            bad=$((bad + 1))
            echo "FAILED: no $victim ever came to $point"
        elif [ $reached -eq 0 ]; then
            unreached=$((unreached + 1))
            echo "not reached: $(grep "^$point $victim " "$here/unreached.txt")"
        elif is_known $point $victim; then
            bad=$((bad + 1))
            echo "FAILED: $victim comes to $point, but unreached.txt says it cannot"
        fi
    done
done <"$WORK/points"
echo "$unreached pairs of point and victim not reached, with reasons"
verdict
