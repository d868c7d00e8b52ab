#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# figures.sh - run time of npb_ft over the memory for logs, as the paper's figure 11a has it, as
# text and SVG.
#
#   bench/figures.sh BUILD_DIR
#
# A process calls for a checkpoint of a peer when its log is long (demand checkpoints). One that
# comes over its budget all the same (--log-limit, of messages and logs together) logs nothing more
# until the next coordinated checkpoint, and is exposed until then: a loss leads to a rollback
# instead of the recovery of one rank. So the figure shows run time, coordinated and demand
# checkpoints, and the share of the time that ranks were exposed. The least memory with which there
# are no demand checkpoints is the knee.
#
# Environment: FIGURE_CLASS (A), FIGURE_ITERS (20), FIGURE_EVERY (1000000: iterations between
# checkpoints), FIGURE_RUNS (5), FIGURE_BUDGETS (MiB), FIGURE_OUT (BUILD_DIR/figures). Nothing here
# asserts a time.
set -u
build=${1:?usage: bench/figures.sh BUILD_DIR}
bin=$build/bin limit=300 cores=$(nproc)
iters=${FIGURE_ITERS:-20} every=${FIGURE_EVERY:-1000000} runs=${FIGURE_RUNS:-5}
budgets=${FIGURE_BUDGETS:-8 16 32 64 96 128 192 256 384 512}
out=${FIGURE_OUT:-$build/figures}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
mkdir -p "$out" || exit 1
. "$(dirname "$0")/local.sh"
class=${FIGURE_CLASS:-A}
raw=$out/log-budget.csv

seconds() { awk '/^time:/ { print $2 }'; }

# Budgets take turns, so that whatever else the machine does meets all of them.
echo "budget,side,run,seconds,checkpoints,exposed,demand" > "$raw"
for r in $(seq "$runs"); do
    over=
    [ 4 -gt "$cores" ] && over=--oversubscribe
    t=$(timeout -k 5 $limit mpirun $over -n 4 "$bin/npb_ft" "$class" --iters "$iters" | seconds)
    echo "0,plain,$r,$t,0,0,0" >> "$raw"
    for log_mib in $budgets; do
        t=$(under 4 logged --checkpoint "every:$every" "$bin/npb_ft" "$class" --iters "$iters" | seconds)
        [ -n "$t" ] && echo "$log_mib,logged,$r,$t,$(checkpoints "$out/report.json"),$(percent "$(exposed \
            "$out/report.json")" "$t"),$(demand_count "$out/report.json")" >> "$raw"
    done
    t=$(under 4 unlogged --checkpoint "every:$every" "$bin/npb_ft" "$class" --iters "$iters" | seconds)
    [ -n "$t" ] && echo "0,unlogged,$r,$t,$(checkpoints "$out/report.json"),0,0" >> "$raw"
done
policy() { [ "$every" -lt "$iters" ] && echo "a checkpoint every $every" || echo "no coordinated checkpoint between"; }
cpu=$(awk -F': ' '/model name/ { print $2; exit }' /proc/cpuinfo)
awk -v title="npb_ft class $class, $iters iterations, 4 ranks, $(policy)" \
    -v machine="$cpu, $cores cores, $(mpirun --version | head -n 1), load $(
        cut -d' ' -f1 /proc/loadavg), $(pages); medians of $runs" \
    -v dat="$out/log-budget.dat" -f "$(dirname "$0")/budget.awk" "$raw" | tee "$out/log-budget.txt"
sh "$(dirname "$0")/plot.sh" "$out"
echo "$out/log-budget.svg, $out/log-budget.txt; single runs: $raw"
