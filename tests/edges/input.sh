#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# input.sh - standard input is rank 0's, and its replacement's: from a pipe, a file or nothing, read
# in setup, before MPI_Init or, without FTRMA_Run, anywhere.
. "$(dirname "$0")/lib.sh"
p=$(edge input)
export ftrun p
seq 1 1000 >numbers
seq 1 60000 >many # more than comes a line at a time

# feeds FROM STATUS TEXT ARGUMENTS...: ftrun with these, its standard input being FROM
feeds() {
    from=$1 status=$2 text=$3
    shift 3
    case $from in
    pipe) ends "$status" "$text" sh -c 'seq 1 1000 | "$ftrun" "$@"' sh "$@" ;;
    endless) ends "$status" "$text" sh -c 'yes 1 | "$ftrun" "$@"' sh "$@" ;;
    closed) ends "$status" "$text" sh -c '"$ftrun" "$@" <&-' sh "$@" ;;
    rest) # the file stays where it stands
        ends "$status" "$text" \
            sh -c '{ read -r skipped; "$ftrun" "$@"; read -r left; [ "$left" = 2 ]; } <numbers' sh "$@"
        ;;
    *) ends "$status" "$text" sh -c 'f=$1; shift; "$ftrun" "$@" <"$f"' sh "$from" "$@" ;;
    esac
}
kill="--inject rank=0,point=coll.enter,hit=20"
back="--checkpoint every:8 $kill"

feeds pipe 0 "^total 500500 sum 60000$" -n 3 $kill "$p" setup
feeds pipe 0 "^total 500500 sum 60000$" -n 3 $back --recovery global "$p" setup
feeds numbers 0 "^total 500500 sum 60000$" -n 3 $back "$p" setup
feeds rest 0 "^total 500499 sum 59880$" -n 3 $kill "$p" setup
feeds many 0 "^total 1800030000 sum 0$" -n 3 $back "$p" setup
feeds pipe 0 "^total 0 sum 4920$" -n 3 $kill "$p" plain
# A spare's main has read as much before MPI_Init as rank 0's had. One that carries another rank
# says so.
feeds pipe 0 "^total 500500 sum 60000$" -n 3 $kill "$p" early
! grep -q "note: " out || fail "a note about a replacement that has read what it had to: $(cat out)"
feeds pipe 0 "note: a replacement has read standard input before MPI_Init" -n 3 \
    --inject rank=1,point=coll.enter,hit=20 "$p" early
# Nothing to read, or nobody who reads.
feeds closed 0 "^total 0 sum 0$" -n 3 $kill "$p" setup
feeds /dev/null 0 "^total 0 sum 0$" -n 3 $kill "$p" setup
feeds endless 0 "^total 0 sum 0$" -n 3 $kill "$p" never
# Processes of ftrun's that live on do not keep the end from a reader: keepers and gateways, and the
# writer of a set that stands still. Rank 0 dies when that has begun.
feeds /dev/null 0 "^total 0 sum 0$" -n 4 --virtual-nodes 2 "$p" setup
feeds pipe 0 "^total 500500 sum 80000$" -n 4 --virtual-nodes 2 "$p" setup
feeds numbers 0 "^total 500500 sum 60000$" -n 3 --checkpoint every:8 --save "$work/d" \
    --inject writer=0,point=save.half,action=stop --inject rank=0,point=coll.enter,hit=30 \
    "$p" setup "$work/d/set.1.part/rank.0"
# A wrapper's own redirection stays, in a replacement too.
ends 0 "^total 500500 sum 60000$" "$ftrun" -n 3 $kill -- sh -c '"$p" setup <numbers'
# One for rank 0 alone, as far as the wrapper can know: its replacement would read something else.
ends 75 'standard input of rank 0 was redirected before MPI_Init.*\[input-redirected\]$' "$ftrun" -n 3 $kill -- \
    sh -c 'if [ "$OMPI_COMM_WORLD_RANK" = 0 ]; then exec "$p" setup <numbers; else exec "$p" setup; fi'
done_testing
