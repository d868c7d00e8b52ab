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
# what the part kernels_log of bench/run.sh makes of its figures
{
    echo part,case,bytes,ranks,side,run,value,unit
    for r in 1 2 3; do
        echo "kernels_log,npb_cg.A.total,0,4,plain,$r,$r.5,s"
        for what in total=8 checkpoints=1 MPI=4 payload=2 buffer=1; do
            echo "kernels_log,npb_cg.A.${what%=*},0,4,log,$r,${what#*=},s"
        done
        echo "kernels_log,npb_cg.A.lost.none,0,4,log,$r,8,s"
        for i in 0 5; do
            for side in local global hybrid; do
                echo "kernels_log,npb_cg.A.lost.$i,0,4,$side,$r,$((9 * r + i)),s"
                echo "kernels_log,npb_cg.A.cpu.$i,0,4,$side,$r,$((r + 40)),s"
            done
            echo "kernels_log,npb_cg.A.went.$i,0,4,hybrid,$r,$([ $i = 0 ] && echo local || echo global),-"
        done
    done
} >drawn/klog.csv
for what in phases time; do
    awk -v machine=here -v kernel=npb_cg -v only=4 -f "$root/bench/stats.awk" -f "$root/bench/klog_$what.awk" \
        drawn/klog.csv >"drawn/klog-$what-npb_cg.txt"
done
grep -q '^npb_cg.A .* 4 .*1.0000 (12.5 %) .*4.0000 (50.0 %) .*2.0000 (25.0 %) .*8.000 .*2.500 .*220.0$' \
    drawn/klog-phases-npb_cg.txt || fail "klog_phases.awk: $(cat drawn/klog-phases-npb_cg.txt)"
grep -q '^5 .*23.0000 .*14.0000 .*32.0000 .*8.0000  global .* 42.00 .*42.00$' drawn/klog-time-npb_cg.txt ||
    fail "klog_time.awk: $(cat drawn/klog-time-npb_cg.txt)"
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
curves klog-time-npb_cg.svg 4
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
