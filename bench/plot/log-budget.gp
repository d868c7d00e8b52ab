# SPDX-License-Identifier: BSD-3-Clause
#
# log-budget.gp IN OUT TITLE - run time and exposure over --log-limit, from the table of budget.awk: budget, median,
# min, max, coordinated checkpoints, demand checkpoints, exposed; plain and unlogged have their names for a budget.
load ARG0[1:strlen(ARG0)-13]."style.gp"
set output ARG2
unset logscale
set format y "%g"
set style data linespoints
budgets = "< awk '$1 + 0 > 0' ".ARG1
stats "< awk '$1 == \"plain\" { print $2 }' ".ARG1 nooutput name "plain"
stats "< awk '$1 == \"unlogged\" { print $2 }' ".ARG1 nooutput name "unlogged"
stats budgets using 2 nooutput name "logged"
knee = system("awk '$1 + 0 > 0 { if ($6 == 0) { print i + 0; exit } i++ }' ".ARG1)
if (knee ne "" && int(knee) > 0) {
    set arrow 1 from knee - 0.5, graph 0 to knee - 0.5, graph 1 nohead linetype 5 dashtype 3
}
set multiplot layout 2,1 title ARG3 noenhanced font ",15"
set xrange [-0.5:logged_records - 0.5]
set lmargin 9
set rmargin 24
set key outside right top width 1
set ylabel "run time, s"
set yrange [0:*]
set offsets 0, 0, graph 0.15, 0
plot budgets using 0:2:3:4:xtic(1) with yerrorlines title "all logged", \
     budgets using 0:4:(sprintf("%d + %d", $5, $6)) with labels offset 0,0.8 font ",11" notitle, \
     unlogged_mean with lines title "not logged", plain_mean with lines title "plain Open MPI"
unset key
set ylabel "time exposed, %"
set xlabel "memory for messages and logs, MiB a process\n(numbers above the points: coordinated + demand checkpoints" \
    .(knee ne "" && int(knee) > 0 ? "; dotted: the knee)" : ")")
set yrange [0:100]
set offsets
set style fill solid 0.6 border
set boxwidth 0.5
plot budgets using 0:7:xtic(1) with boxes
unset multiplot
