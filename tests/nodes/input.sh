#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# input.sh - standard input of a job on several hosts is rank 0's, and its replacement's from byte 0 on, also on another
# host; the hosts come from a file. MPI_Abort before MPI_Init ends such a job as it ends one on one node.
. "$(dirname "$0")/../cli/lib.sh"
hosts=3
. "$here/lib/namespaces.sh"
p=$build/tests/edges_input
seq 1 1000 >numbers
seq 1 60000 >many # more than comes a line at a time
{
    echo "# the nodes of the job"
    seq -f '10.78.0.%g slots=4' 3
} >file
on="--rsh $work/rsh --hostfile file"
safe="-n 3 --checksums 3 --spares 6 --checkpoint every:8"
redirected="sh -c 'if [ \"\$OMPI_COMM_WORLD_RANK\" = 0 ]; then exec $p setup <numbers; else exec $p setup; fi'"

# feeds FROM STATUS TEXT ARGUMENTS...: ftrun with these, its standard input being FROM
feeds() {
    from=$1 status=$2 text=$3
    shift 3
    # shellcheck disable=SC2086
    case $from in
    pipe) seq 1 1000 | timeout "$CLI_LIMIT" "$ftrun" $on "$@" >out 2>&1 ;;
    endless) yes 1 | timeout "$CLI_LIMIT" "$ftrun" $on "$@" >out 2>&1 ;;
    *) timeout "$CLI_LIMIT" "$ftrun" $on "$@" >out 2>&1 <"$from" ;;
    esac
    got=$?
    [ $got = "$status" ] || fail "$* <$from ended with $got, not $status: $(tail -n 5 out)"
    grep -q -- "$text" out || fail "$* <$from did not say '$text' but: $(tail -n 5 out)"
}

up
feeds pipe 0 '^total 500500 sum 60000$' -n 3 "$p" setup
feeds endless 0 '^total 0 sum 0$' -n 3 "$p" never
feeds /dev/null 0 '^total 0 sum 0$' -n 3 "$p" setup
# shellcheck disable=SC2086
feeds many 0 '^total 1800030000 sum 0$' $safe --inject rank=0,point=coll.enter,hit=20 "$p" setup
grep -q 'rank 0 lost' out || fail "rank 0 was not lost: $(cat out)"
# The writers of a set stand still on all hosts, and keep the end of the input from nobody.
# shellcheck disable=SC2086
feeds many 0 '^total 1800030000 sum 0$' $safe --save "$work/d" --inject writer=0,point=save.half,action=stop \
    --inject rank=0,point=coll.enter,hit=30 "$p" setup "$work/d/set.1.part/rank.0"
grep -q 'rank 0 lost' out || fail "rank 0 was not lost while writers stood: $(cat out)"
# A redirection for rank 0 alone: its replacement, on another host, would read something else.
eval "feeds many 75 'redirected before MPI_Init.*\[input-redirected\]\$' $safe \
    --inject node=0,point=safepoint,hit=20 -- $redirected"
# shellcheck disable=SC2086
feeds pipe 0 '^total 500500 sum 60000$' $safe --inject node=0,point=safepoint,hit=20 "$p" setup
grep -q '10.78.0.1 lost.* rank 0' out || fail "the host of rank 0 was not lost: $(cat out)"

"$ftrun" -n 3 "$build/tests/nodes_early_abort" >out 2>&1 </dev/null # its status is the host MPI's
status=$?
[ $status != 0 ] || fail "MPI_Abort before MPI_Init: status 0 on one node: $(cat out)"
feeds /dev/null $status "process 1 (pid [0-9]*) ended with exit status $status before the end of MPI_Init" -n 3 \
    "$build/tests/nodes_early_abort"
done_testing
