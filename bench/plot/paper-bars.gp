# SPDX-License-Identifier: BSD-3-Clause
#
# paper-bars.gp IN OUT FIGURE - run time over plain mpirun of each side, of figure 12 and of checksum processes against
# topology, from the table of paper.awk.
load ARG0[1:strlen(ARG0)-13]."style.gp"
set output ARG2
unset logscale
set format y "%g"
set key outside right top
rows = "< awk '!/^#/ && $2 != \"plain\"' ".ARG1
stats rows using 6 nooutput
set xrange [-0.6:STATS_records - 0.4]
set boxwidth 0.5
set style fill solid 0.5 border
set title ARG3 eq "12" ? "NAS FT with demand checkpoints, and with a loss in each iteration" \
                       : "Checksum processes against topology"
set ylabel "run time over no fault tolerance, %"
set xlabel "12.5, 6.25: checksum processes, % of the ranks"
set yrange [* < 0:*]
set xtics rotate by -20
claims = ARG3 eq "12" ? "60 120" : "5"
said = ARG3 eq "12" ? "'paper: 12.5,' '6.25, about'" : "'paper: all, to'"
plot rows using 0:6:xtic(2) with boxes linetype 1 title "median", \
     rows using 0:6:7:8 with yerrorbars linetype 2 dashtype 1 pointsize 0.6 title "least and most", \
     for [i=1:words(claims)] real(word(claims, i)) with lines linetype 3 + i dashtype 3 \
         title sprintf("%s %s %%", word(said, i), word(claims, i))
