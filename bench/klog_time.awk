# SPDX-License-Identifier: BSD-3-Clause
#
# klog_time.awk - with stats.awk, figure 7 of "Implementing Efficient Message Logging Protocols as MPI Application
# Extensions" from the part kernels_log of run.sh: the seconds of a run over the iterations that the lost rank had done
# since the checkpoint; median, least and most of each side, the hybrid's choice, and the median of the processor
# seconds of all processes of the job.  -v machine= -v kernel= -v only=RANKS
NR == 1 || $1 != "kernels_log" || index($2, kernel ".") != 1 || $4 != only || $7 == "" { next }
$2 !~ /\.(lost|cpu|went)\./ { next }
$2 ~ /\.went\./ { # of all runs
    i = $2
    sub(/.*\./, "", i)
    went[i] = went[i] == "" || went[i] == $7 ? $7 : "both"
    next
}
{
    note()
    if ($2 ~ /\.cpu\./) next
    i = $2
    name = substr($2, 1, match($2, /\.lost\./) - 1)
    sub(/.*\./, "", i)
    if (i != "none" && !(i in at)) place[++places] = at[i] = i
    runs = $6 > runs ? $6 : runs
}
function cell(key, side) {
    sort_side(key, side)
    if (!n[key, side]) return sprintf("%9s %9s %9s", "-", "-", "-")
    return sprintf("%9.4f %9.4f %9.4f", med(key, side), v[key, side, 1], v[key, side, n[key, side]])
}
function cpu(key, side) {
    sort_side(key, side)
    return n[key, side] ? sprintf("%.2f", med(key, side)) : "-"
}
END {
    none = "kernels_log," name ".lost.none,0," only
    sort_side(none, "log")
    without = n[none, "log"] ? sprintf("%9.4f", med(none, "log")) : "-"
    printf "# %s, %d ranks: seconds of a run in which rank 1 is lost; medians of %d\n", name, only, runs
    print "# " machine
    printf "%-9s %9s %9s %9s %9s %9s %9s %9s %9s %9s %9s  %-6s %8s %8s %8s\n", "iteration", "local", "min", "max",
        "global", "min", "max", "hybrid", "min", "max", "no-loss", "choice", "l-cpu", "g-cpu", "h-cpu"
    for (p = 1; p <= places; p++) {
        key = "kernels_log," name ".lost." place[p] ",0," only
        used = "kernels_log," name ".cpu." place[p] ",0," only
        printf "%-9d %s %s %s %9s  %-6s %8s %8s %8s\n", place[p], cell(key, "local"), cell(key, "global"),
            cell(key, "hybrid"), without, went[place[p]], cpu(used, "local"), cpu(used, "global"), cpu(used, "hybrid")
    }
}
