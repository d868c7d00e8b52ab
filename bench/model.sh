#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# model.sh - the paper's figure 10c and trials beside it, as text and SVG (docs/MODEL.md). Nothing
# is measured: the same everywhere.
#
#   bench/model.sh BUILD_DIR OUT_DIR
set -eu
model=$(cd "${1:?usage: bench/model.sh BUILD_DIR OUT_DIR}" && pwd)/bin/ftrma-model
mkdir -p "$2"
out=$(cd "$2" && pwd)
cd "$(dirname "$0")/.."
machine=docs/examples/tsubame2.domains

"$model" pcf --domains $machine --ranks 4000 >"$out/pcf.txt"
{
    echo "1. Where Eq. 9 assumes nothing that is not so: groups of 22, which divides" \
        "the counts of all levels, in its worst case."
    "$model" montecarlo --domains $machine --ranks 4032 --checksums 192 --aware switch --placement worst --seed 1
    printf '\n2. The same as the library places it: spread over all levels, so that what Eq. 9 takes ' &&
        printf 'to be fatal above the switches is not.\n'
    "$model" montecarlo --domains $machine --ranks 4032 --checksums 192 --aware switch --seed 1
    printf '\n3. 200 groups, no multiple of the 3 processes on a node: groups overlap, and Eq. 8 is no upper bound.\n'
    "$model" montecarlo --domains $machine --ranks 4000 --checksums 200 --aware switch --seed 1
    printf '\n4. 204 groups, a multiple of the 12 processes on a power supply.\n'
    "$model" montecarlo --domains $machine --ranks 4000 --checksums 204 --aware switch --seed 1
    printf '\n5. Two codewords a group.\n'
    "$model" montecarlo --domains $machine --ranks 4000 --checksums 192 --parity 2 --aware switch --seed 1
} >"$out/montecarlo.txt"
sh bench/plot.sh "$out"
echo "$out/pcf.svg, $out/pcf.txt, $out/montecarlo.txt"
