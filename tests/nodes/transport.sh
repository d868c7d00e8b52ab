#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# transport.sh - programs of the transport (include/ftrma_transport.h) on several hosts (ftrun --host), which are
# namespaces of this machine: without a loss, with one of a rank, of a host, and of the link between two hosts. The
# results are those of one node. TRANSPORT_SEED repeats what was drawn.
. "$(dirname "$0")/../cli/lib.sh"
. "$here/lib/jobs.sh"
hosts=3
. "$here/lib/namespaces.sh"
seed=${TRANSPORT_SEED:-$(date +%s)}
echo "TRANSPORT_SEED=$seed"
level="--recovery program"

# of one node; all lines, as ranks print theirs in any order
results() { grep '^result:' "$1" | sort; }
# A rank that is lost after its line prints it again, so after a loss some lines may be there more often, and no others.
agrees() {
    results out >got
    echo "$want" >wanted
    cmp -s wanted got || {
        grep -q '"who":' report && [ -z "$(comm -23 wanted got)" ] && [ "$(uniq wanted)" = "$(uniq got)" ]
    }
}
alone_with() {
    # shellcheck disable=SC2086
    timed "$ftrun" -n 4 $level "$@" >out 2>err || fail "$* on one node: $(cat out err)"
    want=$(results out)
    [ -n "$want" ] || fail "$*: no result"
}
# on_hosts WHAT OPTION... PROGRAM...
on_hosts() {
    what=$1
    shift
    # shellcheck disable=SC2086
    limited "$ftrun" -v -n 4 $level $on --report report "$@" >out 2>err
    status=$?
    [ $status = 0 ] || fail "$what: status $status: $(cat out err)"
    agrees || fail "$what: $(results out), not $want"
}
died() { grep -q "$2" report || fail "$1: nobody died"; }

up
for prog in "ftt_conform storm" ftt_server ftt_tasks; do
    # shellcheck disable=SC2086
    set -- "$build"/bin/$prog
    alone_with "$@"
    on_hosts "$prog" "$@"
    for rank in 0 3; do
        tried || continue
        draw 6
        on_hosts "$prog, rank $rank" --spares 3 --inject rank=$rank,point=ftt.came,hit=$((drawn + 2)) "$@"
        died "$prog, rank $rank" '"who":"rank'
    done
    # a host in the middle of the job: all of its processes, its gateway and its keeper
    tried || continue
    draw 2
    victim=$drawn
    draw 6
    on_hosts "$prog, host $((victim + 1))" --spares 6 --inject node=$victim,point=ftt.came,hit=$((drawn + 2)) "$@"
    died "$prog, host $((victim + 1))" '"node_losses":1'
    down
    up
done

# A host ends when its ranks have just left MPI_Init: ftrun has not heard yet that the job runs. Not the host with two
# ranks, which may have the first message between these before another host hears that all are there: that is a loss
# while processes start.
set -- "$build/bin/ftt_conform" storm
alone_with "$@"
for victim in 1 2; do
    tried || continue
    on_hosts "host $((victim + 1)) at once" --spares 6 --inject node=$victim,point=ftt.came,hit=1 "$@"
    died "host $((victim + 1)) at once" '"node_losses":1'
    down
    up
done

# MPI beside it, in body: a rank and a host
set -- "$build/bin/ftt_with_mpi"
alone_with "$@"
safe="--checksums 4 --spares 9 --checkpoint every:3"
# shellcheck disable=SC2086
on_hosts with_mpi $safe "$@"
# shellcheck disable=SC2086
on_hosts "with_mpi, a rank" $safe --inject rank=1,point=ftt.came,hit=9 "$@"
died "with_mpi, a rank" '"told_recoveries":[1-9]'
# shellcheck disable=SC2086
on_hosts "with_mpi, a host" $safe --inject node=1,point=safepoint,hit=9 "$@"
died "with_mpi, a host" '"node_losses":1'
down
up

# Nobody reaches one host for longer than its lease: it goes out, and the others go on. Rank 3 stands still meanwhile,
# as the job would be over before that.
set -- "$build/bin/ftt_server"
alone_with "$@"
lease 2000
rm -f err
# shellcheck disable=SC2086
"$ftrun" -v -n 4 $level $on --spares 6 --report report --inject rank=0,point=ftt.came,hit=4,action=stop "$@" \
    >out 2>err </dev/null &
job=$!
for _ in $(seq 3000); do # rank 0 has come there
    inside 1 sh -c 'grep -q "^State:.*stopped" $(pgrep ftt_server | sed "s,.*,/proc/&/status,")' 2>/dev/null && break
    kill -0 $job 2>/dev/null || break
    sleep 0.02
done
ip -n "${tag}sw" link set v2 down
said='ftrun: 10.78.0.2 lost (other nodes cannot reach it), and with it'
while kill -0 $job 2>/dev/null && ! grep -q "$said" err; do sleep 0.02; done
grep -q "$said" err || fail "a link: $(cat err)"
ip -n "${tag}sw" link set v2 up
inside 1 sh -c 'kill -CONT $(pgrep ftt_server)' 2>/dev/null
wait $job
status=$?
[ $status = 0 ] && agrees || fail "a link: status $status, $(results out): $(tail -n 5 err)"
done_testing
