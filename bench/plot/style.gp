# SPDX-License-Identifier: BSD-3-Clause
#
# style.gp - what all pictures have in common: lines that differ by dashes and marks too, a legend beside them, no
# label on another.
set terminal svg size 860,500 dynamic enhanced font "sans-serif,14" background "#ffffff" linewidth 1.5
set encoding utf8
set border 3 linecolor "#333333"
set tics nomirror
set grid linecolor "#dddddd" linetype 1 linewidth 0.5
set key outside right top Left reverse samplen 3 spacing 1.4 width 1
set title font ",15" offset 0,0.3
set logscale xy
set format y "10^{%L}"
set linetype 1 linecolor "#444444" linewidth 1.6 dashtype 1 pointtype 7 pointsize 0.6
set linetype 2 linecolor "#c0392b" linewidth 1.6 dashtype 2 pointtype 5 pointsize 0.6
set linetype 3 linecolor "#b9770e" linewidth 1.6 dashtype 3 pointtype 9 pointsize 0.8
set linetype 4 linecolor "#1e8449" linewidth 1.6 dashtype 4 pointtype 11 pointsize 0.8
set linetype 5 linecolor "#1f618d" linewidth 1.6 dashtype 5 pointtype 13 pointsize 0.8
