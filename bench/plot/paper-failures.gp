# SPDX-License-Identifier: BSD-3-Clause
#
# paper-failures.gp IN OUT node|psu - ftRMA's figures 10a and 10b, from the table of `paper.sh 10ab`.
load ARG0[1:strlen(ARG0)-17]."style.gp"
set output ARG2
node = ARG3 eq "node"
set title (node ? "Crashes of nodes" : "Crashes of power supplies")." on TSUBAME2.0"
set xlabel node ? "nodes that crash at once" : "power supplies that crash at once"
set ylabel "failures a day"
unset logscale x
set logscale y
set format y "10^{%T}"
set xrange [0.5:8.5]
set xtics 1
set boxwidth 0.6
set style fill solid 0.35 border
if (node) {
    plot ARG1 using 1:3 with boxes title "75 % one, 20 % two", \
         ARG1 using 1:2 with linespoints title "fitted"
} else {
    plot ARG1 using 1:4 with linespoints title "fitted"
}
