# SPDX-License-Identifier: BSD-3-Clause
#
# klog-wave.gp IN OUT - figure 4 of "Implementing Efficient Message Logging Protocols as MPI Application Extensions",
# from the table of `klog_figures wave`.
load ARG0[1:strlen(ARG0)-12]."style.gp"
set output ARG2
rows = "< tail -n +3 ".ARG1
unset logscale
set format y "%g"
set xrange [-0.7:15.7]
set yrange [9.5:15]
set xtics 1
set ytics 1
set title system("sed -n '1s/^# //p' ".ARG1)
set xlabel "rank"
set ylabel "iteration that the rank begins again"
set title font ",13"
plot 10.5 with lines linetype 1 dashtype 2 title "checkpoint", \
     rows using 1:2 with impulses linetype 5 linewidth 2 dashtype 1 notitle, \
     rows using 1:($2 >= 12 ? $2 : 1/0) with points linetype 5 pointsize 1.4 title "survivors", \
     rows using 1:($2 < 12 ? $2 : 1/0) with points linetype 2 pointsize 1.4 title "the replacement"
