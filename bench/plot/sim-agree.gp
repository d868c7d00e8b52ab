# SPDX-License-Identifier: BSD-3-Clause
#
# sim-agree.gp IN OUT time|messages - the agreement on one death, from the table of `ftrma-sim --cost --model agree`.
load ARG0[1:strlen(ARG0)-12]."style.gp"
set output ARG2
rows = "< tail -n +3 ".ARG1
set title "Agreement on one death"
set xlabel "processes"
set ylabel ARG3 eq "time" ? "ticks (one is the time of a message)" : "messages"
if (ARG3 eq "time") { unset logscale y; set format y "%g"; set yrange [0:*] }
set nokey
plot rows using 1:(column(ARG3 eq "time" ? 4 : 2)) with linespoints
