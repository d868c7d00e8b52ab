#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# figures.sh BUILD DOCS - what the protocol costs is what DOCS/figures shows, and each option is in
# ftrma-sim(1).
set -eu
build=$1 docs=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sh "$here/../bench/sim.sh" "$build" "$work/figures"
for model in snapshot job agree demand; do # cli.figures looks at the pictures
    f=sim-$model.txt
    diff "$work/figures/$f" "$docs/figures/$f" || { echo "docs/figures/$f is not what make figures prints"; exit 1; }
done
"$build/bin/ftrma-sim" --help >"$work/help"
for option in $(grep -o -- '^  --*[a-z-]*' "$work/help"); do
    grep -q -- "$(echo "$option" | sed 's/-/\\\\-/g')" "$docs/man/ftrma-sim.1" ||
        { echo "ftrma-sim(1) does not have $option"; exit 1; }
done
for option in $(sed -n 's/^\.BR* .*\\-\\-\([a-z\\-]*\).*/--\1/p' "$docs/man/ftrma-sim.1" | tr -d '\\'); do
    grep -q -- "$option" "$work/help" || { echo "--help does not have $option"; exit 1; }
done
