# SPDX-License-Identifier: BSD-3-Clause
#
# sim-job.gp IN OUT time|messages - a job's checkpoint and recoveries, from the table of `ftrma-sim --cost --model job`.
load ARG0[1:strlen(ARG0)-10]."style.gp"
set output ARG2
first = ARG3 eq "time" ? 6 : 4
rows = "< tail -n +4 ".ARG1
set title "A job with a checksum process for eight ranks"
set xlabel "processes"
set ylabel ARG3 eq "time" ? "ticks (one is the time of a message)" : "messages"
if (ARG3 eq "time") { unset logscale y; set format y "%g"; set yrange [0:*] }
plot rows using 1:first with linespoints title "checkpoint", \
     rows using 1:(column(first + 3)) with linespoints title "rollback of all", \
     rows using 1:(column(first + 6)) with linespoints title "recovery of one rank"
