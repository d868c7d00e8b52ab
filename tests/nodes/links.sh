#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# links.sh - links that are slow, break and join again, also one direction of a link alone: jobs come to the result that
# they have over good ones, and no host is taken for lost. By faults in the gateways (FTRMA_WIRE_FAULTS) on virtual
# nodes; by those, and by links that are taken down and up, on hosts. LINKS_SEED repeats what is drawn.
. "$(dirname "$0")/../cli/lib.sh"
. "$here/lib/jobs.sh"
FTRMA_TEST_SEED=${LINKS_SEED:-$(date +%s)}
export FTRMA_TEST_SEED
echo "LINKS_SEED=$FTRMA_TEST_SEED"
npb_cg=$build/bin/npb_cg

# --- on virtual nodes: messages, checkpoints, a loss; accesses to windows ---
"$ftrun" -n 4 --checksums 0 --spares 0 "$npb_cg" S >alone 2>err || fail "on one node: $(cat err)"
of_cg=$(grep '^result:' alone)
"$ftrun" -n 4 --checksums 0 --spares 0 "$npb_ft" S >alone 2>err || fail "on one node: $(cat err)"
result=$(grep '^result:' alone)
for faults in delay=5,cut=20000,slow=3 delay=50,from=1; do
    FTRMA_WIRE_FAULTS=$faults timeout "$CLI_LIMIT" "$ftrun" -n 4 --virtual-nodes 2 --checksums 4 --checkpoint every:2 \
        --inject rank=1,point=safepoint,hit=4 "$npb_ft" S >out 2>&1 </dev/null
    same "$faults" $?
    grep -q 'rank 1 lost' out || fail "$faults: rank 1 was not lost: $(cat out)"
done
for program in rma_passive rma_pscw rma_mixed; do
    FTRMA_WIRE_FAULTS=delay=1,cut=300000 timeout "$CLI_LIMIT" "$ftrun" -n 4 --virtual-nodes 2 --checksums 0 \
        "$build/tests/mpi_$program" >out 2>&1 </dev/null || fail "$program over bad links: $(tail -n 5 out)"
done
[ $bad = 0 ] || done_testing

# --- on hosts ---
hosts=3
. "$here/lib/namespaces.sh"
safe="-n 4 --checksums 4 --spares 8 --checkpoint every:20 $on"
up
no_loss() { ! grep -q '^ftrun: 10.78.* lost' out || fail "$1: $(grep -v '^\[ftrma' out)"; }
# shellcheck disable=SC2086
FTRMA_LEASE_MS=5000 FTRMA_WIRE_FAULTS=delay=50,cut=20000 "$ftrun" $safe "$npb_ft" S >out 2>&1 </dev/null
same "hosts, late and broken" $?
no_loss "hosts, late and broken"
# Nothing comes through for a while, in both directions or in one; the lease is long enough for any load of this
# machine. shellcheck disable=SC2086
FTRMA_LEASE_MS=120000 FTRMA_WIRE_FAULTS=delay=2 "$ftrun" -v $safe "$npb_cg" S >out 2>&1 </dev/null &
job=$!
for _ in $(seq 3000); do
    grep -q 'checkpoint 1 committed' out 2>/dev/null && break
    sleep 0.02
done
for _ in 1 2; do
    ip -n "${tag}sw" link set v2 down
    sleep 0.4
    ip -n "${tag}sw" link set v2 up
    sleep 0.2
    inside 2 ip route add blackhole 10.78.0.3
    sleep 0.4
    inside 2 ip route del blackhole 10.78.0.3
    sleep 0.2
done
wait $job
status=$?
of_ft=$result result=$of_cg
same "hosts, down and up" $status
result=$of_ft
no_loss "hosts, down and up"

# --- by the kernel ---
if inside 1 tc qdisc add dev eth0 root netem delay 25ms loss 1% 2>/dev/null; then
    inside 2 tc qdisc add dev eth0 root netem delay 25ms loss 1%
    # shellcheck disable=SC2086
    FTRMA_LEASE_MS=5000 "$ftrun" $safe "$npb_ft" S >out 2>&1 </dev/null
    same "netem" $?
    no_loss "netem"
else
    echo "(no netem in this kernel: delays and losses of packets come from the gateways alone)"
fi
done_testing
