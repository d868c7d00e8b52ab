#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# nodes.sh - times of jobs on several nodes of this machine: the engine with a gateway on each node, beside the host MPI
# over its tcp BTL, in turns, in one go. See docs/BENCH.md.
#
#   bench/nodes.sh BUILD_DIR [messages] [rma] [stages] [start] [checkpoint] [loss]        default: all of them
#
# Nodes are network namespaces where the kernel gives them to root; else, or with BENCH_HOSTS=0, virtual nodes, and all
# goes over the loopback. Demands of latency hold where each rank and each gateway has a core. Elsewhere the figures are
# printed without a demand: ranks, gateways and the helpers of both take turns.
# Environment: BENCH_RUNS (5), BENCH_MIB (64, a rank), BENCH_HOSTS, BENCH_OUT (BUILD_DIR/bench-nodes).
set -u
build=$(cd "${1:?usage: bench/nodes.sh BUILD_DIR [PART ...]}" && pwd) || exit 2
shift
parts=${*:-messages rma stages start checkpoint loss}
runs=${BENCH_RUNS:-5} mib=${BENCH_MIB:-64}
out=${BENCH_OUT:-$build/bench-nodes}
bench=$(cd "$(dirname "$0")" && pwd)
bin=$build/bin
ftrun=$bin/ftrun
cores=$(nproc)
limit=300 # seconds for one run, then it is killed and counts as missing
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
command -v jq >/dev/null || { echo "nodes.sh: jq is missing" >&2; exit 2; }
mkdir -p "$out" && csv=$out/figures.csv && csv=$(cd "$out" && pwd)/figures.csv || exit 1
echo "part,case,bytes,ranks,side,run,value,unit" >"$csv"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# Two hosts, or none.
has_hosts=0
if [ "${BENCH_HOSTS:-1}" = 1 ] && (
    skip() { echo "nodes.sh: no namespaces ($1): virtual nodes" >&2; exit 1; }
    hosts=2
    . "$bench/../tests/nodes/lib/namespaces.sh"
    trap - EXIT
); then
    has_hosts=1
    skip() { echo "nodes.sh: $1" >&2; exit 1; }
    # shellcheck disable=SC2034
    hosts=2
    . "$bench/../tests/nodes/lib/namespaces.sh"
    up
fi

# Ours: ranks in blocks on two nodes. Nothing is logged and no checkpoint is taken but the first and the last.
ours() { # RANKS PROGRAM...
    n=$1
    shift
    if [ $has_hosts = 1 ]; then
        # shellcheck disable=SC2086,SC2154
        timeout -k 5 $limit "$ftrun" -n "$n" $on --spares 0 --checksums 0 --recovery global $more "$@"
    else
        # shellcheck disable=SC2086
        timeout -k 5 $limit "$ftrun" -n "$n" --virtual-nodes 2 --spares 0 --checksums 0 --recovery global $more "$@"
    fi
}
more=

# The host's MPI between the same two hosts, or over the loopback. Its daemons stay in this namespace of processes.
net="--mca pml ob1 --mca btl self,tcp --bind-to none"
if mpirun --version | grep -q ' 4\.'; then
    net="$net --mca osc pt2pt" agent="--mca oob_tcp_if_include 10.78.0.0/24 --mca plm_rsh_agent"
else # [Its -H counts the slots of one host alone.]
    net="$net --mca osc rdma" agent="--prtemca plm_ssh_agent"
fi
host() { # RANKS PROGRAM...
    n=$1
    shift
    if [ $has_hosts = 1 ]; then
        # as ssh does, it gives the words to a shell
        sed 's/-r -n -m -u -i -p "$@"/-n -u sh -c "$*"/' rsh >rsh-net
        chmod +x rsh-net
        printf '10.78.0.%d slots=%d\n' 1 $((n / 2)) 2 $((n / 2)) >hosts
        # shellcheck disable=SC2086
        timeout -k 5 $limit nsenter -t "$(cat "$work/1.pid")" -n -u mpirun -n "$n" --hostfile hosts \
            $agent "$work/rsh-net" --mca btl_tcp_if_include 10.78.0.0/24 $net "$@"
    else
        over=
        [ "$n" -gt "$cores" ] && over=--oversubscribe
        # shellcheck disable=SC2086
        timeout -k 5 $limit mpirun $over -n "$n" $net "$@"
    fi
}

collect() { # PART RANKS SIDE RUN, "bench:" lines on stdin
    awk -v p="$1" -v n="$2" -v s="$3" -v r="$4" -v csv="$csv" '
        /^config:/ && r == 1 { print "  " s ": " $0 > "/dev/stderr" }
        /^bench:/ { print p "," $2 "," $3 "," n "," s "," r "," $4 "," $5 >> csv }'
}
figure() { echo "$1,$2,$3,$4,$5,$6,$7,$8" >>"$csv"; } # PART CASE BYTES RANKS SIDE RUN VALUE UNIT

messages() {
    for r in $(seq "$runs"); do
        for n in 2 4; do
            ours $n "$bin/bench_pingpong" body 200 | collect messages $n engine "$r"
            host $n "$bin/bench_pingpong" body 200 | collect messages $n host "$r"
        done
    done
}

rma() {
    for r in $(seq "$runs"); do
        ours 2 "$bin/bench_far" | collect rma 2 engine "$r"
        host 2 "$bin/bench_far" | collect rma 2 host "$r"
    done
}

# Where the time of one access goes, the mean of every 32nd one.
stages() {
    more="--report $work/report.json"
    for r in $(seq "$runs"); do
        for what in put get fetch_and_op; do
            ours 2 "$bin/bench_far" $what >/dev/null || continue
            jq -r '.links[] | select(.timed.accesses > 0) | .timed | .accesses as $n | to_entries[] |
                select(.key != "accesses") | "\(.key | sub("_ns"; "")) \(.value / $n / 1000)"' report.json |
                while read -r stage us; do figure stages "$what.$stage" 0 2 engine "$r" "$us" us; done
        done
    done
    more=
}

now() { date +%s.%N; }
since() { awk -v t0="$1" -v t="$(now)" 'BEGIN { print t - t0 }'; }
start() {
    for r in $(seq "$runs"); do
        t0=$(now)
        ours 4 "$bin/bench_far" start >/dev/null && figure start job 0 4 engine "$r" "$(since "$t0")" s
        t0=$(now)
        over=
        [ 4 -gt "$cores" ] && over=--oversubscribe
        # shellcheck disable=SC2086
        timeout -k 5 $limit mpirun $over -n 4 "$bin/bench_far" start >/dev/null &&
            figure start job 0 4 host "$r" "$(since "$t0")" s
    done
}

# On virtual nodes, so that there may be eight. From the first rank's coming to a checkpoint until it is committed.
checkpoint() {
    for r in $(seq "$runs"); do
        for nodes in 2 4 8; do
            timeout -k 5 $limit "$ftrun" -n 8 --virtual-nodes $nodes --checksums 1 --spares 0 --checkpoint every:1 \
                --report report.json "$bin/bench_checkpoint" "$mib" 4 idle >/dev/null 2>&1 || continue
            jq '.checkpoints[1:-1][].total_us / 1000' report.json | while read -r t; do
                figure checkpoint "nodes$nodes" $((mib * 1048576)) 8 engine "$r" "$t" ms
            done
        done
    done
}

# A node of three is lost as soon as its rank's fifth checkpoint is committed, which ftrun is told at once: until all
# go on.
loss() {
    for r in $(seq "$runs"); do
        timeout -k 5 $limit "$ftrun" -n 3 --virtual-nodes 3 --checksums 2 --spares 4 --checkpoint every:1 --report \
            report.json \
            --inject "node=$((r % 3)),point=ckpt.committed,hit=5" "$bin/bench_checkpoint" "$mib" 6 idle >own.txt \
                2>/dev/null || continue
        jq '[.failures[] | .resumed_us // empty] | select(length > 0) | max / 1000' report.json | while read -r t; do
            figure loss resumed $((mib * 1048576)) 3 engine "$r" "$t" ms
        done
        awk '/^setup:/ && $4 > most { most = $4 } END { print most + 0 }' own.txt | while read -r t; do
            figure loss setup-own $((mib * 1048576)) 3 engine "$r" "$t" ms
        done
    done
}

echo "machine: $(awk -F': ' '/model name/ { print $2; exit }' /proc/cpuinfo), $cores cores," \
    "load before: $(cut -d' ' -f1 /proc/loadavg)"
echo "host: $(mpirun --version | head -n 1); runs: $runs; $([ $has_hosts = 1 ] && echo "hosts of namespaces" ||
    echo "virtual nodes, loopback"); 2 gateways share the $cores cores with the ranks"
for p in $parts; do
    case $p in
    messages | rma | stages | start | checkpoint | loss) echo "measuring: $p" >&2; $p ;;
    *) echo "nodes.sh: unknown part: $p" >&2; exit 2 ;;
    esac
done
awk -v cores="$cores" -f "$bench/stats.awk" -f "$bench/nodes.awk" "$csv"
echo "all figures: $csv"
