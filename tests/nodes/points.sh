#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# points.sh - failpoint x victim on 2, 3 and 4 virtual nodes: a rank, a checksum process, a spare, a gateway, a keeper,
# or all of a node dies there. Points that are passed only after a loss are tried after one. The result is that of a
# job without a loss; or the job ends with 75 because there was nothing to go back to, or because too much was lost at
# once, and names what. Of what is drawn, one run in three has bad links. POINTS_SEED repeats what was drawn,
# POINTS_RUNS says how many runs. POINTS_EACH=1 tries each failpoint with each of its victims on 2, 3 and 4 nodes, and
# draws the rest; POINTS_FULL=1 tries all. POINTS_REACH=1 tries each pair at the first hit until somebody dies there;
# the pairs of which nobody ever comes to the point stand in unreached.txt, each with its reason. Of these three,
# POINTS_SHARD=I/N takes each N-th pair from the I-th on, from 0, and POINTS_FROM=K leaves out the first K of these,
# without what was drawn for them.
. "$(dirname "$0")/../cli/lib.sh"
. "$here/lib/jobs.sh"
seed=${POINTS_SEED:-$(date +%s)}
echo "POINTS_SEED=$seed"
kvstore="kvstore --inserts 300 --rounds 12"
npb="npb_ft S"
medley=chaos_medley
# expect PROGRAM...: its result and how many checkpoints it commits, on two nodes
expect() {
    name=$build/bin/$1
    shift
    "$ftrun" -v -n 4 --virtual-nodes 2 --checksums 4 --checkpoint every:2 "$name" "$@" >out 2>&1 ||
        fail "$name: $(cat out)"
    echo "$(sed -n 's/^result: //p' out) $(grep -c ' committed: ' out)"
}
# shellcheck disable=SC2086
expect_kvstore=$(expect $kvstore) expect_npb=$(expect $npb) expect_medley=$(expect $medley)

# a line for each run: POINT VICTIM; what a victim is follows from who passes the point. A replacement is a spare that
# has taken the place of a rank, a rebuilder one that has taken that of a checksum process.
"$ftrun" --inject list | awk '
$1 ~ /^(told|snapshot|demand|save|restart|turn|transport|ftt|gate\.lane)\.|^ckpt\.long$/ { next }
$1 ~ /^keeper\.(asked|granted|stops|goes_on|hears.out|ends|saves|saved)$/ { next }
$2 ~ /^[RCSGK]+$/ {
    if ($2 ~ /R/) print $1, $1 ~ /^(rejoin|replay)\.|^restore\.rebuild$/ ? "replacement" : "rank"
    if ($2 ~ /C/) print $1, $1 ~ /^restore\./ ? "rebuilder" : "checksum"
    if ($2 ~ /S/) print $1, "spare"
    if ($2 ~ /G/) print $1, "gateway"
    if ($2 ~ /K/) print $1, "keeper"
    print $1, "node"
}' >pairs
if [ -n "${POINTS_FULL-}${POINTS_EACH-}${POINTS_REACH-}" ]; then
    shard=${POINTS_SHARD:-0/1}
    awk -v i="${shard%/*}" -v n="${shard#*/}" -v from="${POINTS_FROM:-0}" '(NR - 1) % n == i && of_it++ >= from' \
        pairs >shard
    mv shard pairs
fi
npairs=$(wc -l <pairs)

# is_later POINT: it is passed only after a loss
is_later() {
    case $1 in
    detect.* | agree.* | repair | assign | rejoin.* | park | restore.* | resume | quiesce | release.*) return 0 ;;
    replay.* | gate.cut | gate.ended | gate.closed | gate.closed.told | gate.seen) return 0 ;;
    gate.let_go | gate.forgotten | gate.out | gate.out.done | keeper.*) return 0 ;;
    *) return 1 ;;
    esac
}

ran=0 same=0 given_up=0 passed_by=0 unreached=0
# how_many VICTIM NODES: of such processes or nodes
how_many() {
    case $1 in
    rank) echo 4 ;;
    checksum) [ "$2" = 2 ] && echo 4 || echo 2 ;;
    spare) echo 5 ;;
    replacement | rebuilder) echo 9 ;; # which spare that is, nobody knows before
    *) echo "$2" ;;
    esac
}

# who is lost first, so that the victim comes to a point that is passed after a loss
first_loss() { # FIRST
    case $1:$point:$victim in
    none:*) return ;;
    *:rebuilder) echo "checksum=0,point=ckpt.committed,hit=2;" ;;
    node:*:replacement) echo "node=1,point=safepoint,hit=5;" ;;
    *:replacement) echo "rank=1,point=safepoint,hit=5;" ;;
    *:detect.death:checksum) echo "checksum=$(((drawn + 1) % n)),point=ckpt.committed,hit=2;" ;;
    *:detect.death:spare) echo "spare=$((drawn + 1)),point=mail.taken,hit=5;" ;;
    rank:*) echo "rank=$(((drawn + 1) % 4)),point=safepoint,hit=5;" ;;
    node:*) echo "node=$(((drawn + 1) % nodes)),point=safepoint,hit=5;" ;;
    esac
}

try() { # POINT VICTIM NODES PROGRAM HIT FIRST [NUMBER OF THE VICTIM]
    point=$1 victim=$2 nodes=$3 program=$4 hit=$5 first=$6
    checksums=$(how_many checksum "$nodes") n=$(how_many "$victim" "$nodes")
    [ $# -eq 7 ] && drawn=$7 || draw "$n"
    case $victim in replacement | rebuilder) kind=spare ;; *) kind=$victim ;; esac
    what=$(first_loss "$first")$kind=$drawn,point=$point,hit=$hit
    eval "job=\$$program expected=\$expect_$program"
    set -- $expected
    # more spares than the loss of one node takes
    options="-n 4 --virtual-nodes $nodes --checksums $checksums --spares 9 --checkpoint every:2"
    ran=$((ran + 1))
    rm -rf records && mkdir records
    # shellcheck disable=SC2086
    FTRMA_AGENT_LOG=$work/records/%s TMPDIR=$work/tmp timeout -k 5 "${POINTS_LIMIT:-120}" "$ftrun" -v $options \
        --inject "$what" "$build/bin/"$job >out 2>&1 </dev/null
    status=$?
    links=${FTRMA_WIRE_FAULTS:+FTRMA_WIRE_FAULTS=$FTRMA_WIRE_FAULTS FTRMA_TEST_SEED=$FTRMA_TEST_SEED}
    said="$links $options --inject '$what' $job"
    commits=$(grep -c ' committed: ' out)
    fired=yes
    ! grep -q "$point.* never fired" out || { fired=no passed_by=$((passed_by + 1)); }
    if [ $status = 0 ]; then
        got=$(sed -n 's/^result: //p' out)
        if [ "$got" = "$1" ]; then same=$((same + 1)); else fail "$said: the result is $got, not $1"; fi
    elif [ $status = 137 ] && grep -q '^ftrun: rank [0-9]* died after MPI_Finalize$' out &&
        grep -q "^result: $1\$" out; then
        same=$((same + 1)) # that is its exit status then
    elif [ $status = 75 ] && may_end "$2" "$first"; then
        given_up=$((given_up + 1))
        [ -z "${POINTS_SHOW-}" ] || echo "75: $said: $(tail -1 out | cut -c1-200)"
    else
        cp out "$work/failed.$ran"
        [ -z "${POINTS_KEEP-}" ] || cp out "$POINTS_KEEP/failed.$$.$ran"
        fail "$said: status $status: $(grep -v '^\[ftrma' out | tail -4)"
    fi
    left=$(processes)
    [ -z "$left" ] || fail "$said: processes left: $left"
    shm_is_clean "$said"
}

# Rank 0 may have committed the first checkpoint when its node is lost and nobody else has heard (C6): by the records,
# all that published it are among the lost.
loses_root() { case $victim$drawn in node0 | gateway0 | keeper0) ;; *) return 1 ;; esac; }
none_left_has_heard() {
    lost=$(sed -n 's/.* AGREE DECIDE [0-9]* \([0-9,]*\) .*/\1/p' records/* | tr '\n' ,)
    for slot in $(grep -l 'PUBLISH COMMITTED' records/* | sed 's,.*/,,'); do
        case ,$lost in *",$slot,"*) ;; *) return 1 ;; esac
    done
    [ -n "$lost" ]
}
# May this job have ended with 75? $1: how many checkpoints it commits without a loss.
may_end() {
    reason=$(sed -n 's/^ftrun: job lost: .*\[\([a-z-]*\)\]$/\1/p' out)
    case $reason in
    node-starting | died-starting | log-elsewhere) [ "$commits" -eq 0 ] ;; # while the processes start
    group-lost | no-spare) [ "$2" != none ] && grep -q 'group [0-9]* (\|spare' out ;;
    '') return 1 ;;
    *)
        [ "$commits" -eq 0 ] || [ "$commits" -ge $(($1 - 1)) ] || [ "$2" != none ] || # before and after the run
            { [ "$reason$commits" = node-lost1 ] && loses_root && none_left_has_heard; } ;;
    esac
}

# The links of one run in three: late ones, or ones that break, or one direction alone. The accesses of kvstore wait for
# each other, a thousand times a round: late links would take it minutes.
weather() { # NODES PROGRAM
    unset FTRMA_WIRE_FAULTS
    draw 3
    [ "$drawn" = 0 ] || return 0
    draw 4
    case $2$drawn in
    npb0) f=delay=50 ;;
    npb1) f=cut=10000 ;;
    npb2) f=delay=5,cut=20000,slow=3 ;;
    npb3) f=delay=20,cut=40000 ;;
    *[01]) f=cut=100000 ;;
    *) f=cut=300000 ;;
    esac
    draw $((2 * $1))
    [ "$drawn" -ge "$1" ] || f=$f,from=$drawn
    export FTRMA_WIRE_FAULTS=$f FTRMA_TEST_SEED=$seed
}

some() { # POINT VICTIM NODES: one run of it, drawn, and one more if nobody came there so often
    k=$3
    draw 3
    case $drawn in 0) p=npb ;; 1) p=kvstore ;; *) p=medley ;; esac
    weather $k $p
    draw 4
    case $1 in gate.* | msg.* | rma.* | log.*) h=$((1 + drawn * drawn * 20)) ;; *) h=$((1 + drawn)) ;; esac
    if is_later "$1"; then
        draw 2
        [ "$drawn" = 0 ] && [ $k != 2 ] && f=node || f=rank
        h=$((1 + h / 40))
    else
        f=none
    fi
    try "$1" "$2" $k $p $h $f
    [ $fired = yes ] || [ $h = 1 ] || try "$1" "$2" $k $p 1 $f
}

is_known() { grep "^$1 $2 " "$here/unreached.txt"; }
reach() { # POINT VICTIM: until somebody dies there
    is_later "$1" && firsts="rank node" || firsts=none
    for k in 3 2; do
        for p in kvstore npb medley; do
            for f in $firsts; do
                i=0
                while [ $i -lt "$(how_many "$2" $k)" ]; do
                    try "$1" "$2" $k $p 1 $f $i
                    i=$((i + 1))
                    [ $fired = yes ] || continue
                    ! is_known "$1" "$2" || fail "somebody came to $1 ($2)"
                    return 0
                done
            done
        done
    done
    unreached=$((unreached + 1))
    is_known "$1" "$2" || fail "nobody came to $1 ($2)"
}

if [ -n "${POINTS_REACH-}" ]; then
    while read -r point victim; do
        reach "$point" "$victim"
    done <pairs
    echo "$unreached of $npairs pairs were never reached"
elif [ -n "${POINTS_FULL-}" ]; then
    while read -r point victim; do
        for k in 2 3 4; do
            for p in npb kvstore medley; do
                for h in 1 3 40; do
                    if ! is_later "$point"; then
                        try "$point" $victim $k $p $h none
                    else
                        try "$point" $victim $k $p $h rank
                        [ $k = 2 ] || try "$point" $victim $k $p $h node
                    fi
                done
            done
        done
    done <pairs
elif [ -n "${POINTS_EACH-}" ]; then
    while read -r point victim; do
        for k in 2 3 4; do
            some "$point" "$victim" $k
        done
    done <pairs
else
    runs=${POINTS_RUNS:-4}
    while [ $ran -lt "$runs" ]; do
        draw "$npairs"
        # shellcheck disable=SC2046
        set -- $(sed -n "$((drawn + 1))p" pairs)
        draw 3
        case ${POINTS_OF:-$1} in *"${1%%.*}"*) some "$1" "$2" $((drawn + 2)) ;; esac
    done
fi
echo "$ran runs: $same with the result of a run without a loss, $given_up given up as they may be;" \
    "$passed_by never came to the point"
done_testing
