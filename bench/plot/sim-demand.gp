# SPDX-License-Identifier: BSD-3-Clause
#
# sim-demand.gp IN OUT time|messages - an image of each rank, from the table of `ftrma-sim --cost --model demand`.
load ARG0[1:strlen(ARG0)-13]."style.gp"
set output ARG2
rows = "< tail -n +3 ".ARG1
set title "An image of each rank on demand, in groups of eight"
set xlabel "processes"
set ylabel ARG3 eq "time" ? "ticks (one is the time of a message)" : "messages"
if (ARG3 eq "time") { unset logscale y; set format y "%g"; set yrange [0:*] }
set nokey
plot rows using 1:(column(ARG3 eq "time" ? 5 : 3)) with linespoints
