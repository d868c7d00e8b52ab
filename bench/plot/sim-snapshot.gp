# SPDX-License-Identifier: BSD-3-Clause
#
# sim-snapshot.gp IN OUT time|messages - a wave of each snapshot algorithm, from the table of `ftrma-sim --cost`.
load ARG0[1:strlen(ARG0)-15]."style.gp"
set output ARG2
column = ARG3 eq "time" ? 7 : 4
rows(name) = "< awk '$2 == \"".name."\"' ".ARG1
set title "One wave of markers, latencies of 1 to 1000 ticks"
set xlabel "processes"
set ylabel ARG3 eq "time" ? "ticks until it is over everywhere" : "messages"
if (ARG3 eq "time") { unset logscale y; set format y "%g"; set yrange [0:*] }
set key title "algorithm" left
plot for [a in "vanilla delay peek double partial"] rows(a) using 1:column with linespoints title a
