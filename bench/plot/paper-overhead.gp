# SPDX-License-Identifier: BSD-3-Clause
#
# paper-overhead.gp IN OUT FIGURE - run time over plain mpirun of the same ranks, of figures 10d, 11b and 11c, from the
# table of paper.awk, with the paper's numbers as broken lines. Below: the same of processor time.
load ARG0[1:strlen(ARG0)-17]."style.gp"
set output ARG2
unset logscale
set format y "%g"
set terminal svg size 860,760 dynamic enhanced font "sans-serif,14" background "#ffffff" linewidth 1.5
if (ARG3 eq "10d") {
    sides = "f-daly f-no-daly scr-like-ram scr-like-pfs"
    what = "Coordinated checkpoints of NAS FT"
    claims = "5 15 37 67"
    said = "'paper: f-daly, to' 'f-no-daly, to' 'SCR-RAM, to' 'SCR-PFS, to'"
}
if (ARG3 eq "11b") {
    sides = "f-unlogged f-logged ml ml-async f-logged-ready"
    what = "Logging in NAS FT"
    claims = "9 18"
    said = "'paper: ftRMA' 'ML'"
}
if (ARG3 eq "11c") {
    sides = "f-unlogged f-puts f-puts-gets ml ml-async"
    what = "Logging in the key-value store"
    claims = "12 33 40"
    said = "'paper: puts' 'puts and gets' 'ML'"
}
at(i) = word("4 1 2 3 6 5", i)
rows(s) = sprintf("< awk '$2 == \"%s\"' %s", s, ARG1)
set xrange [0.7:4.3]
set xtics ("2" 1, "4" 2, "8" 3, "16" 4)
set lmargin 10
set rmargin 33
column_of(n) = log(n) / log(2)
set multiplot layout 2,1
set title what.": run time"
set ylabel "over no fault tolerance, %"
set xlabel "ranks"
plot for [i=1:words(sides)] rows(word(sides, i)) using (column_of($1) + 0.06 * (i - 2)):6:7:8 \
         with yerrorbars linetype i pointsize 0.8 title word(sides, i), \
     for [i=1:words(sides)] rows(word(sides, i)) using (column_of($1) + 0.06 * (i - 2)):6 \
         with lines linetype i notitle, \
     for [i=1:words(claims)] real(word(claims, i)) with lines linetype i + (ARG3 eq "10d" ? 0 : 1) dashtype 3 \
         title sprintf("%s %s %%", word(said, i), word(claims, i))
set title "processor time of all processes"
plot for [i=1:words(sides)] rows(word(sides, i)) using (column_of($1)):10 with linespoints linetype i \
         title word(sides, i)
unset multiplot
