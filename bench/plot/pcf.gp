# SPDX-License-Identifier: BSD-3-Clause
#
# pcf.gp IN OUT - the paper's figure 10c from the table of `ftrma-model pcf`.
load ARG0[1:strlen(ARG0)-6]."style.gp"
set output ARG2
set datafile missing "-"
rows = "< tail -n +5 ".ARG1
set title "Losing a job: N = 4000 on TSUBAME2.0, one codeword a group"
set xlabel "checksum processes, % of the ranks"
set ylabel "catastrophic failures a day (Eq. 9)"
set xtics ("1" 1, "2" 2, "5" 5, "10" 10, "20" 20, "50" 50, "100" 100)
set xrange [0.9:110]
set key title "groups are aware of" left
plot rows using 2:4 with linespoints title "nothing", \
     rows using 2:5 with linespoints title "nodes", \
     rows using 2:6 with linespoints title "power supplies", \
     rows using 2:7 with linespoints title "switches", \
     rows using 2:8 with linespoints title "racks"
