#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# figures.sh - the pictures in docs/figures are what bench/plot.sh draws of the tables beside them;
# a table of run times is drawn, too.
. "$(dirname "$0")/lib.sh"
command -v gnuplot >/dev/null || skip "no gnuplot"
root=$here/../..
mkdir drawn
cp "$root"/docs/figures/*.txt "$root"/docs/figures/*.csv drawn
{
    echo "# a_title of 2 runs"
    echo "plain 2 1.9 2.1 0 0 0"
    echo "unlogged 2.1 2 2.2 5 0 0"
    for mib in 8 32 128; do echo "$mib 2.2 2.1 2.4 5 3 $((400 / mib))"; done
} >drawn/log-budget.dat
sh "$root/bench/plot.sh" drawn >out 2>&1 || fail "plot.sh: $(cat out)"
[ -s out ] && fail "gnuplot has something to say: $(cat out)"

curves() { # FILE N
    n=$(grep -c 'id="gnuplot_plot_' "drawn/$1")
    [ "$n" = "$2" ] || fail "$1 has $n curves, not $2"
}
curves pcf.svg 5
curves sim-snapshot-time.svg 5
curves sim-job-messages.svg 3
curves latency.svg 3
curves log-budget.svg 5
curves klog-cg.svg 3
curves klog-wave.svg 4
curves paper-10a.svg 2
for what in wave cg lulesh; do
    "$build/bin/klog_figures" $what | cmp -s - "$root/docs/figures/klog-$what.txt" ||
        fail "docs/figures/klog-$what.txt is not what klog_figures prints: make figures"
done
for f in "$root"/docs/figures/*.svg; do
    name=${f##*/}
    [ "$name" != recovery.svg ] || continue # of ftrma-timeline
    grep -q "</svg>" "drawn/$name" || fail "$name was not drawn"
    # another gnuplot draws the same with other numbers
    [ "$(grep -o 'GNUPLOT [0-9.]* patchlevel [0-9]*' "$f")" = \
        "$(grep -o 'GNUPLOT [0-9.]* patchlevel [0-9]*' "drawn/$name")" ] || continue
    cmp -s "$f" "drawn/$name" || fail "docs/figures/$name is not what plot.sh draws"
done
done_testing
