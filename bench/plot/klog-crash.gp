# SPDX-License-Identifier: BSD-3-Clause
#
# klog-crash.gp IN OUT - figures 6 and 8 of "Implementing Efficient Message Logging Protocols as MPI Application
# Extensions", from the table of `klog_figures cg` or `lulesh`.
load ARG0[1:strlen(ARG0)-13]."style.gp"
set output ARG2
rows = "< tail -n +4 ".ARG1
unset logscale
set format y "%g"
set yrange [4600:*]
set title system("sed -n '1s/^# //p' ".ARG1)
set title font ",13"
set xlabel "iterations that the lost rank had done since the checkpoint"
set ylabel "iterations of all ranks together"
plot rows using 1:3 with linespoints title "global rollback", \
     rows using 1:4 with linespoints title "hybrid, half logged", \
     rows using 1:2 with linespoints title "local rollback"
