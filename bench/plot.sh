#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# plot.sh DIR - draws, with gnuplot, a picture of each table that is in DIR: pcf.txt, sim-*.txt,
# klog-*.txt, latency.csv, bandwidth.csv, transport.csv, paper-*.txt and log-budget.dat.
set -eu
dir=${1:?usage: bench/plot.sh DIR}
here=$(dirname "$0")/plot
command -v gnuplot >/dev/null || {
    echo "plot.sh: no pictures were drawn, since gnuplot is not installed: apt-get install gnuplot-nox" >&2
    exit 0
}

draw() { # SCRIPT TABLE PICTURE [WORD]: a picture that cannot be drawn leaves none behind
    [ -f "$dir/$2" ] || return 0
    gnuplot -c "$here/$1.gp" "$dir/$2" "$dir/$3.new" "${4-}" && mv "$dir/$3.new" "$dir/$3"
}

draw pcf pcf.txt pcf.svg
for model in snapshot job agree demand; do
    for what in time messages; do
        draw sim-$model sim-$model.txt sim-$model-$what.svg $what
    done
done
for what in latency bandwidth; do
    draw sweep $what.csv $what.svg $what
done
for what in latency bandwidth; do
    draw transport transport.csv transport-$what.svg $what
done
draw klog-wave klog-wave.txt klog-wave.svg
draw klog-crash klog-cg.txt klog-cg.svg
draw klog-crash klog-lulesh.txt klog-lulesh.svg
for table in "$dir"/klog-time-*.txt; do
    name=$(basename "$table" .txt)
    draw klog-time "$name.txt" "$name.svg"
done
title() { sed -n '1s/^# //p' "$1" 2>/dev/null; }
draw log-budget log-budget.dat log-budget.svg "$(title "$dir/log-budget.dat")"
draw log-budget paper-11a.txt paper-11a.svg "$(title "$dir/paper-11a.txt")"
draw paper-failures paper-10ab.txt paper-10a.svg node
draw paper-failures paper-10ab.txt paper-10b.svg psu
for what in 10d 11b 11c; do
    draw paper-overhead paper-$what.txt paper-$what.svg $what
done
for what in 12 topology; do
    draw paper-bars paper-$what.txt paper-$what.svg $what
done
