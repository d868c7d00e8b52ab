# SPDX-License-Identifier: BSD-3-Clause
#
# klog-time.gp IN OUT - figure 7 of "Implementing Efficient Message Logging Protocols as MPI Application Extensions",
# from the table of klog_time.awk.
load ARG0[1:strlen(ARG0)-12]."style.gp"
set output ARG2
rows = "< tail -n +4 ".ARG1
unset logscale
set format y "%g"
set yrange [0:*]
set datafile missing "-"
set title system("sed -n '1s/^# //p' ".ARG1) noenhanced
set title font ",13"
set xlabel "iterations that the lost rank had done since the checkpoint"
set ylabel "seconds of the run"
plot rows using 1:5:6:7 with yerrorlines title "global rollback", \
     rows using 1:8:9:10 with yerrorlines title "hybrid, half logged", \
     rows using 1:2:3:4 with yerrorlines title "local rollback", \
     rows using 1:11 with lines title "no loss"
