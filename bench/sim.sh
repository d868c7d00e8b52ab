#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# sim.sh - what the protocol costs over the number of processes, by the simulator, as text and SVG
# (docs/SIMULATOR.md). Nothing is measured: the same everywhere.
#
#   bench/sim.sh BUILD_DIR OUT_DIR
set -eu
sim=$(cd "${1:?usage: bench/sim.sh BUILD_DIR OUT_DIR}" && pwd)/bin/ftrma-sim
mkdir -p "$2"
"$sim" --cost --ops 2 >"$2/sim-snapshot.txt"
for model in agree job demand; do # ticks are hops
    "$sim" --cost --model $model --latency 1 -n 2000 >"$2/sim-$model.txt"
done
sh "$(dirname "$0")/plot.sh" "$2"
echo "$2/sim-{snapshot,agree,job,demand}{.txt,-time.svg,-messages.svg}"
