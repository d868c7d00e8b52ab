#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# rebuild.sh DIRECTORY-OF-FTRUN - images of up to 8 MiB, of which a replacement makes the rest while
# it runs setup (G2), and takes memory for the next ones beside body. It is lost in that, or before,
# or after; or a rank is, of whose image the rest is made; or all go back. CHAOS_SEED=S repeats a run.
BIN=$1
. "$(dirname "$0")/jobs.sh"
echo "CHAOS_SEED=$SEED"
sizes="$BIN/chaos_sizes 8"
group="-n 4 --checksums 2 --parity 2 --spares 4 --checkpoint every:2"

job $group -- $sizes
want=$result
[ -n "$want" ] || complain "no result without failures"
for recovery in auto global; do
    for second in none spare=0,point=rejoin.head spare=0,point=rejoin.setup spare=0,point=restore.rebuild \
        spare=0,point=restore.done spare=0,point=rejoin.ready rank=2,point=agree.decided rank=2,point=repair \
        rank=2,point=quiesce checksum=1,point=agree.decided spare=0,point=resume spare=0,point=replay.live; do
        case $recovery:$second in global:*quiesce | global:*replay.live) continue ;; esac
        tried || continue
        draw 4
        first=$drawn
        [ $first != 2 ] || first=3
        draw 3
        inject="--inject rank=$first,point=safepoint,hit=$((drawn + 4))"
        [ $second = none ] || inject="$inject --inject $second"
        # shellcheck disable=SC2086
        job $group --recovery $recovery $inject -- $sizes
        survived "$want"
        grep -q 'never fired' "$WORK/err" && complain "nobody was lost there"
        grep -q "^\[ftrma.*rebuilt: rank $first " "$WORK/err" || complain "rank $first was not rebuilt"
    done
done
# A head that is longer than the first piece: all of it is there when setup begins.
group="-n 4 --checksums 2 --spares 2 --checkpoint every:1"
job $group -- "$BIN/chaos_head"
want=$result
[ -n "$want" ] || complain "no result without failures"
for recovery in auto global; do
    for first in 0 1; do
        job $group --recovery $recovery --inject rank=$first,point=safepoint,hit=5 -- "$BIN/chaos_head"
        survived "$want"
        grep -q "^\[ftrma.*rebuilt: rank $first " "$WORK/err" || complain "rank $first was not rebuilt"
    done
done
verdict
