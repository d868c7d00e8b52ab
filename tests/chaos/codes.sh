#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# codes.sh - a group of four ranks with m codewords loses any m of its 4 + m processes at once and
# comes back with the same result; and groups that are kept apart outlive the loss of whole failure
# domains.
#
#   codes.sh DIRECTORY-OF-FTRUN M [all|N]     every set of m victims (default), or N of them drawn by the seed
#   codes.sh DIRECTORY-OF-FTRUN domains
#   CHAOS_SEED=S   repeats a run
#
# Victims die at the same order of a checkpoint, which has reached all before any of them can be
# missed: in most runs they are lost by one decision, in the others one of them during the recovery
# from another.
BIN=$1 m=$2 many=${3:-all}
. "$(dirname "$0")/jobs.sh"

ft="$BIN/npb_ft S"
kv="$BIN/kvstore --inserts 300 --rounds 5 --slots 128"
sizes="$BIN/chaos_sizes"
at_once=0

# position 0..3: a rank, from 4 on: a checksum process
victim() { if [ "$1" -lt 4 ]; then echo "rank=$1"; else echo "checksum=$(($1 - 4))"; fi; }

# Runs a program with these victims, and judges it.
lose() { # positions
    draw 3
    case $drawn in 0) point=ckpt.proposed ;; 1) point=ckpt.commit ;; 2) point=ckpt.committed ;; esac
    draw 3
    hit=$((2 + drawn))
    inject=
    for v in "$@"; do inject="$inject --inject $(victim "$v"),point=$point,hit=$hit"; done
    draw 4
    case $drawn in
    0) program=$ft want=$want_ft ;;
    1) program=$kv want=$want_kv ;;
    *) program=$sizes want=$want_sizes ;;
    esac
    # shellcheck disable=SC2086
    job $codes $inject -- $program
    survived "$want"
    seen=$(grep -o '"who":' "$WORK/report" | wc -l)
    [ "$seen" -ge $# ] || complain "only $seen failures were seen, not $#"
    grep -q "agreed on generation 1: $# process" "$WORK/err" && at_once=$((at_once + 1))
}

# N at once were too many, and that is said in words that match; or, since a victim may be taken
# back by the recovery from the others before it comes to die, they were not lost by one decision,
# and then the job may have survived.
too_many() { # N words result-if-not
    if [ $status -eq 0 ] && ! grep -q "agreed on generation 1: $1 process" "$WORK/err"; then
        survived "$3"
    else
        lost "$2"
    fi
}

# All sets of M of 0..N-1, one a line: sets FROM N M CHOSEN
sets() {
    if [ "$3" -eq 0 ]; then
        echo "$4"
        return
    fi
    sets_from=$1
    while [ "$sets_from" -le $(($2 - $3)) ]; do
        (sets $((sets_from + 1)) "$2" $(($3 - 1)) "$4 $sets_from")
        sets_from=$((sets_from + 1))
    done
}

sets_of_victims() {
    codes="-n 4 --checksums $m --parity $m --spares $m --checkpoint every:1"
    # shellcheck disable=SC2086
    job $codes -- $ft
    want_ft=$result
    # shellcheck disable=SC2086
    job $codes -- $kv
    want_kv=$result
    # shellcheck disable=SC2086
    job $codes -- $sizes
    want_sizes=$result
    [ -n "$want_ft" ] && [ -n "$want_kv" ] && [ -n "$want_sizes" ] || complain "no result without failures"
    sets 0 $((4 + m)) "$m" "" >"$WORK/sets"
    if [ "$many" != all ]; then
        lines=$(wc -l <"$WORK/sets")
        for i in $(seq "$many"); do
            draw "$lines"
            sed -n "$((drawn + 1))p" "$WORK/sets"
        done >"$WORK/drawn"
        mv "$WORK/drawn" "$WORK/sets"
    fi
    # shellcheck disable=SC2046
    while read -r line <&3; do lose $line; done 3<"$WORK/sets"
    echo "m = $m: $(wc -l <"$WORK/sets") sets of victims, $at_once of them lost by one decision"
    [ $at_once -gt 0 ] || [ "$many" != all ] || complain "no set of victims was lost at once"
    # one more than that is too many
    inject=
    for v in $(seq 0 "$m"); do inject="$inject --inject $(victim "$v"),point=ckpt.copied,hit=3"; done
    # shellcheck disable=SC2086
    job -n 4 --checksums "$m" --parity "$m" --spares $((m + 1)) --checkpoint every:1 $inject -- $ft
    too_many $((m + 1)) \
        "group 0 .*lost .*rank .* after checkpoint [0-9]*, and a group survives the loss of $m at a time" \
        "$want_ft"
}

# job_on_machine OPTIONS -- : npb_ft on these three racks, two of whose ranks die at once
job_on_machine() {
    job -n 4 --spares 4 --checkpoint every:1 --domains "$WORK/machine" "$@" -- $ft
}

domains() {
    cat >"$WORK/machine" <<EOM
level node in rack
level rack
rack A B C
node a0 a1 in A
node b0 b1 in B
node c0 in C
process 0-1 in a0
process 2 in a1
process 3-4 in b0
process 5 in b1
process 6-9 in c0
EOM
    both="--inject rank=0,point=ckpt.copied,hit=3 --inject rank=1,point=ckpt.copied,hit=3"
    job -n 4 --spares 4 --checkpoint every:1 -- $ft
    want=$result
    # two groups: 0 2 5 and 1 3 4, ranks 0 and 1 are together on node a0
    job_on_machine --checksums 2 --aware node $both
    survived "$want"
    grep -q 'kept apart up to level 1 .*asked for: 1' "$WORK/err" || complain "nothing said of the placement"
    grep -q unaware "$WORK/err" && complain "four spares on c0, and none of them for rank 0 or rank 1"
    job_on_machine --checksums 2 --aware node --inject rank=0,point=ckpt.copied,hit=3 \
        --inject rank=2,point=ckpt.copied,hit=3
    # the one that is found first may have its place on node c0 by the time that the other one dies
    too_many 2 \
        'lost rank 0 \((a0\) and rank 2 \(a1\), all of them in rack A|c0\) and rank 2 \(a1\)|a0\) and rank 2 \(c0\))' \
        "$want"
    # kept apart by racks, with process 2 as a spare: ranks 0 and 1 are all of rack A, of two groups
    # or of one with two codewords
    job_on_machine --checksums 2 --aware rack $both
    survived "$want"
    grep -q 'kept apart up to level 2 .*asked for: 2' "$WORK/err" || complain "nothing said of racks"
    grep -q 'unaware: 1 replacement ' "$WORK/err" || complain "nothing said of a spare in a rack where the group is"
    job_on_machine --checksums 2 --parity 2 $both
    survived "$want"
    grep -q 'kept apart up to level 2' "$WORK/err" || complain "racks are not the best"
    job_on_machine --checksums 1 --aware rack
    [ $status -eq 2 ] &&
        grep -q 'no placement is aware of level rack.*The best level that is possible is node' "$WORK/err" ||
        complain "rack is not refused as it should be"
    nothing_left
    # processes in no order: ranks 2 and 3 are processes 4 and 5, checksum processes are 2 and 6,
    # spares 3 and 7
    printf '%s\n' 'level node count 4' 'process 0 5 in node0' 'process 1 4 in node1' \
        'process 2 6 in node2' 'process 3 7 in node3' >"$WORK/machine"
    job -n 4 --checksums 2 --spares 2 --checkpoint every:1 --domains "$WORK/machine" \
        --inject rank=0,point=ckpt.copied,hit=3 --inject rank=2,point=ckpt.copied,hit=3 -- $ft
    survived "$want"
    grep -q 'rank 2 failed (slot 4,' "$WORK/err" && grep -q 'rank 0 is now carried by slot [37] ' "$WORK/err" ||
        complain "processes do not lie where they should"
}

case $m in
domains) domains ;;
*) sets_of_victims ;;
esac
verdict
