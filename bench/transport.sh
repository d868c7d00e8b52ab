#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# transport.sh BUILD_DIR OUT - Figure 2 of Wilke et al. with the transport of docs/TRANSPORT.md: a
# block that is fetched by name, over its size, in turns with the host's MPI. Writes transport.csv,
# transport.txt, transport-latency.svg and transport-bandwidth.svg.
#
# Environment: TRANSPORT_RUNS (5), TRANSPORT_ROUNDS (15, in each run). Nothing here asserts a time.
set -u
build=${1:?usage: bench/transport.sh BUILD_DIR OUT} out=${2:?usage: bench/transport.sh BUILD_DIR OUT}
runs=${TRANSPORT_RUNS:-5} rounds=${TRANSPORT_ROUNDS:-15} here=$(dirname "$0")
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
mkdir -p "$out" || exit 1
raw=$build/transport.raw
echo "run,side,case,bytes,us" > "$raw"

collect() { # SIDE RUN
    awk -v side="$1" -v run="$2" '$1 == "bench:" { print run "," side "," $2 "," $3 "," $4 }' >> "$raw"
}
load=$(cut -d' ' -f1 /proc/loadavg)
for r in $(seq "$runs"); do
    timeout -k 5 600 "$build/bin/ftrun" -n 2 --recovery program "$build/bin/bench_ftt" sweep "$rounds" |
        collect engine "$r"
    timeout -k 5 600 mpirun -n 2 "$build/bin/bench_ftt" sweep "$rounds" | collect host "$r"
done
cpu=$(awk -F': ' '/model name/ { print $2; exit }' /proc/cpuinfo)
awk -v csv="$out/transport.csv" -v \
    machine="$cpu, $(nproc) cores, $(mpirun --version | head -n 1), load $load to $(cut -d' ' -f1 /proc/loadavg)" \
    -v runs="$runs" -v rounds="$rounds" -f "$here/transport.awk" "$raw" > "$out/transport.txt" || exit 1
cat "$out/transport.txt"
sh "$here/plot.sh" "$out"
