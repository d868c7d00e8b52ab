#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# bench.sh - the measuring programs of part mpi31 and what is made of their figures: each point is
# there of all three sides, in the table and in the pictures.
CLI_SHM=2g
. "$(dirname "$0")/lib.sh"
out=$work/bench
BENCH_QUICK=1 BENCH_OUT=$out timeout "$CLI_LIMIT" sh "$here/../../bench/run.sh" "$build" mpi31 \
    > table 2> err || fail "run.sh: $(cat err)"
awk -F, 'NR > 1 && $7 + 0 > 0 { point[$1 FS $2 FS $3 FS $4]; have[$1 FS $2 FS $3 FS $4, $5] }
    END {
        split("engine host logged", side, " ")
        for (p in point) {
            points++
            for (s in side) if (!((p, side[s]) in have)) { print "no " side[s] ": " p; bad = 1 }
        }
        if (points < 80) { print "only " points + 0 " points"; bad = 1 }
        exit bad
    }' "$out/figures.csv" > missing || fail "figures: $(cat missing err)"
for want in "^scan .*65536" "^counter+create" "geometric mean of engine / host" "4 ranks on a counter"; do
    grep -q "$want" table || fail "the table has no '$want'"
done
for what in latency bandwidth; do
    [ "$(wc -l < "$out/$what.csv")" -eq 4 ] || fail "$what.csv: $(cat "$out/$what.csv")"
    grep -q "^ *256 .*[0-9]$" "$out/$what.txt" || fail "$what.txt: $(cat "$out/$what.txt")"
    command -v gnuplot >/dev/null || continue
    [ "$(grep -c 'id="gnuplot_plot_' "$out/$what.svg")" -eq 3 ] || fail "$what.svg has not one curve a side"
    tail -n 2 "$out/$what.svg" | grep -q "</svg>" || fail "$what.svg is not whole"
done
done_testing
