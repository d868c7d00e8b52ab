#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# points.sh - the writer of a set, ftrun, or a rank is killed at each step of a save and of a restart: the job
# goes on, and from what is in the directory another one comes to the same result. Steps are those that `ftrun
# --inject list` names.
. "$(dirname "$0")/lib.sh"

seed=${FTRMA_TEST_SEED:-$(date +%s)}
lcg=$((seed % 2147483647))
draw() { # N: sets drawn to 0..N-1
    lcg=$(((lcg * 1103515245 + 12345) % 2147483648))
    drawn=$((lcg / 65536 % $1))
}
echo "FTRMA_TEST_SEED=$seed"

program="$build/bin/kvstore --inserts 300 --rounds 40 --slots 128"
learn $program
ends 75 "job lost" "$ftrun" $job --save d,every=2 $(lost_at 4) $program
ends 75 "job lost" "$ftrun" $job --restart d --save d,every=2 $(lost_at 4) $program
[ "$(sets d | wc -w)" = 2 ] || fail "not two sets to begin with: $(ls -R d)"
cp -r d first

goes_on() { # WHAT: from what is in d
    ends 0 '^result:' "$ftrun" --checksums 2 --checkpoint every:1 --restart d $program
    same "restart after $1"
}

# The writer dies, and then the job; the next one goes on from what there is, with older sets there,
# so that one is to go.
"$ftrun" --inject list >points
for p in $(sed -n 's/^\([a-z.]*\) *W .*/\1/p' points); do
    ends 75 "job lost" "$ftrun" $job --restart d --save d,every=2 --inject writer=0,point=$p $(lost_at 4) $program
    ! grep -q "never fired" out || fail "no writer came to $p: $(cat out)"
    n=$(sets d | wc -w)
    [ "$n" -ge 2 ] && [ "$n" -le 3 ] || fail "after the writer's death at $p: $(ls -R d)"
done
goes_on "the writers' deaths"

# ftrun is killed while the writer of a set, or a rank that is on its way from the files to body, stands there.
killed_at() { # VICTIM POINT
    rm -rf d && cp -r first d
    TMPDIR=$work/tmp FTRMA_PING_TIMEOUT_MS=0 "$ftrun" $job --restart d --save d,every=2 \
        --inject $1,point=$2,action=stop \
        "$build/bin/kvstore" --inserts 300 --rounds 10000000 --slots 128 >out 2>&1 </dev/null &
    pid=$!
    until somebody_stands; do
        kill -0 $pid 2>/dev/null || break
        sleep 0.05
    done
    kill -9 $pid 2>/dev/null || fail "ftrun had ended before $1 came to $2: $(cat out)"
    wait $pid 2>/dev/null
    for p in $(standing); do kill -CONT $p 2>/dev/null; done # they end by themselves, but for one that stands
    while [ -n "$(processes)" ]; do sleep 0.05; done
    flock d/lock true # one that ends gives it back last
    rm -rf "$work/tmp" && mkdir -m 1777 "$work/tmp"
    goes_on "ftrun's death at $2"
}
standing() {
    for p in $(pgrep -x ftrun-writer; pgrep -x kvstore); do
        grep -qs '^State:.T' /proc/$p/status && grep -qzsx "TMPDIR=$work/tmp" /proc/$p/environ && echo $p
    done
}
somebody_stands() { [ -n "$(standing)" ]; }
for p in $(sed -n 's/^\(save[a-z.]*\) *W .*/\1/p' points); do
    killed_at writer=0 $p
done
for p in $(sed -n 's/^\(restart[a-z.]*\) *R .*/\1/p' points) restore.copy restore.done resume; do
    draw 4
    killed_at rank=$drawn $p
done

# A rank dies on the way from the files to body. Whoever dies while the first checkpoint is
# committed may be the only one who knows.
i=0
others="run.enter ckpt.commit ckpt.committed restore.copy restore.done resume"
for p in $(sed -n 's/^\(restart[a-z.]*\) *R .*/\1/p' points) $others; do
    i=$((i + 1))
    draw 4
    [ $((i % 2)) = 0 ] || drawn=0 # the root of all agreements
    ends 0 '^result:' "$ftrun" $job --restart d --inject rank=$drawn,point=$p $program
    ! grep -q "never fired" out || fail "rank $drawn never came to $p: $(cat out)"
    same "rank $drawn dies at $p"
done
for p in ckpt.parity.piece ckpt.committed; do
    ends 0 '^result:' "$ftrun" $job --restart d --inject checksum=0,point=$p $program
    same "checksum process 0 dies at $p"
done
done_testing
