#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# kernels.sh - figures 4, 6 and 8 of "Implementing Efficient Message Logging Protocols as MPI
# Application Extensions", as text and SVG (docs/EVALUATION.md). Nothing is measured: the same
# everywhere.
#
#   bench/kernels.sh BUILD_DIR OUT_DIR
set -eu
figures=$(cd "${1:?usage: bench/kernels.sh BUILD_DIR OUT_DIR}" && pwd)/bin/klog_figures
mkdir -p "$2"
out=$(cd "$2" && pwd)
for what in wave cg lulesh; do "$figures" $what >"$out/klog-$what.txt"; done
sh "$(dirname "$0")/plot.sh" "$out"
echo "$out/klog-wave.svg, klog-cg.svg, klog-lulesh.svg, and the same as .txt"
