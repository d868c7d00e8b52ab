#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# output.sh - what the ranks print is shown once and completely, whoever is killed: byte for byte as
# without failures, by rank.
. "$(dirname "$0")/lib.sh"
lines=$build/tests/cli_lines

# run ARGUMENTS OF FTRUN...: files out and err, by rank in out.0, err.0 ... (each has letters of its
# own, see lines.c)
run() {
    TMPDIR=$work/tmp timeout -k 5 "$CLI_LIMIT" "$ftrun" -n 4 --checksums 2 --spares 2 --checkpoint every:1 \
        --quiet --report r.json "$@" >out 2>err </dev/null
    got=$?
    [ $got = 0 ] || fail "'$*' ended with $got: $(tail -5 err)"
    nothing_left "$*"
    for f in out err; do
        for r in ab0 cd1 ef2 gh3; do tr -cd "$r" <$f >$f.$r; done
    done
}

same() {
    for r in ab0 cd1 ef2 gh3; do
        for f in out err; do cmp "clean.$f.$r" "$f.$r" || fail "$*: another $f of $r than without failures"; done
    done
    [ "$(wc -c <out)" = "$(wc -c <clean.out)" ] || fail "$*: more or less on stdout"
    [ "$(wc -c <err)" = "$(wc -c <clean.err)" ] || fail "$*: more or less on stderr"
}

run "$lines" whole
[ "$(tr -cd 0 <out | wc -c)" = 71 ] || fail "rank 0 did not print 71 lines: $(cat out)"
! grep -qvxE '[ab]{10}0|[cd]{10}1|[ef]{10}2|[gh]{10}3' out err ||
    fail "torn lines: $(grep -vxE '[a-h]{10}[0-3]' out err)"
for r in 0 1 2 3; do
    grep "$r$" out >clean.rank
    [ "$(sort clean.rank | uniq -d | wc -l)" = 0 ] || fail "rank $r printed a line twice"
done

run "$lines"
for f in out err; do
    cp $f clean.$f
    for r in ab0 cd1 ef2 gh3; do mv $f.$r clean.$f.$r; done
done
hurt() { # INJECT...: in one job, if it is tried at all (../share.sh)
    tried || return 0
    args="--spares $#"
    for i in "$@"; do args="$args --inject $i"; done
    run $args "$lines"
    same "$@"
    grep -q '"who":' r.json || fail "$*: nobody died"
}
for v in rank=0 rank=2; do
    for p in coll.enter,hit=3 run.enter safepoint,hit=1 safepoint,hit=3 safepoint,hit=7 \
        ckpt.copy,hit=4 ckpt.copied,hit=3 \
        ckpt.leave,hit=2 rma.fence,hit=5 rma.put.after,hit=6 run.body.over run.leave finalize.enter; do
        hurt $v,point=$p
    done
done
hurt rank=1,point=safepoint,hit=5 rank=3,point=safepoint,hit=9                     # one after the other
hurt rank=1,point=safepoint,hit=6 rank=2,point=safepoint,hit=6                     # both at once
hurt rank=1,point=rma.fence,hit=9 spare=0,point=coll.enter,hit=2                   # the replacement, in setup
hurt rank=1,point=rma.fence,hit=9 spare=0,point=restore.done                       # or when it has just restored
# a survivor's rollback, then its own death
hurt rank=3,point=safepoint,hit=4 rank=0,point=safepoint,hit=8
run --recovery global --checkpoint every:5 --inject rank=2,point=safepoint,hit=9 "$lines" # far back
same "a global rollback over four safepoints"

# the events' lines are ours, and not counted
run -v --inject rank=2,point=safepoint,hit=5 "$lines"
grep -q "is live again" err || fail "-v: no events"
sed 's/\[ftrma .*//' err >words
for r in ab0 cd1 ef2 gh3; do
    cmp "clean.out.$r" "out.$r" || fail "-v: another out of $r than without failures"
    tr -cd "$r" <words | cmp - "clean.err.$r" || fail "-v: another err of $r than without failures"
done

# a wrapper's redirections stay, odd descriptors harm nobody
export lines
run --inject rank=1,point=safepoint,hit=5 -- sh -c 'exec "$lines" 2>&1'
[ "$(cat err)" = "" ] || fail "2>&1: there is something on stderr: $(cat err)"
[ "$(wc -c <out)" = $(($(wc -c <clean.out) + $(wc -c <clean.err))) ] || fail "2>&1: more or less on stdout"
run -- sh -c '"$lines" | sed "s/^/>/"'
! grep -qv "^>" out || fail "piped: $(grep -v "^>" out)"
rm -f file.*
export work
run -- sh -c 'exec "$lines" >"$work/file.$OMPI_COMM_WORLD_RANK"'
[ ! -s out ] && [ "$(cat file.[0-3] | wc -c)" = "$(wc -c <clean.out)" ] || fail "into files: $(wc -c out file.*)"
for closed in '>&-' '2>&-' '<&-' '<&- >&- 2>&-'; do
    run -- sh -c "exec \"\$lines\" $closed"
done
(
    exec >&-
    TMPDIR=$work/tmp timeout -k 5 "$CLI_LIMIT" "$ftrun" -n 2 "$lines" 2>err </dev/null
) || fail "without a stdout ftrun ended with another status: $(tail -3 err)"
nothing_left "no stdout"

# nobody reads: the job goes on to its end
for i in 1 2 3; do
    { TMPDIR=$work/tmp timeout -k 5 "$CLI_LIMIT" "$ftrun" -n 4 "$lines" 2>err </dev/null &&
        touch ended.$i; } | head -1 >/dev/null
    [ -e ended.$i ] || fail "into a pipe that nobody reads: $(tail -3 err)"
    nothing_left "into a pipe that nobody reads"
done

# mpirun's own ways with output
run --host-args --tag-output "$lines" whole
! grep -qv '^\[1,[0-9]*\]<stdout>' out || fail "--tag-output: $(head -3 out)"
done_testing
