# SPDX-License-Identifier: BSD-3-Clause
#
# klog_phases.awk - with stats.awk, table 4 of "Implementing Efficient Message Logging Protocols as MPI Application
# Extensions" from the part kernels_log of run.sh: seconds of rank 0 in each phase, medians of runs without a loss, and
# their share of the whole. MPI is what the messages of iterations take.  -v machine=
NR == 1 || $1 != "kernels_log" || $2 !~ /\.(checkpoints|MPI|payload|buffer|total)$/ || $7 == "" { next }
{ note() }
function key_of(i, what) { return "kernels_log," name[i] "." what ",0," ranks[i] }
function cell(i, what, total,   x) {
    x = med(key_of(i, what), "log")
    return x == "" || !total ? "-" : sprintf("%.4f (%.1f %%)", x, 100 * x / total)
}
END {
    print "# seconds of rank 0 without a loss, and their share; plain: mpirun, without logs"
    print "# " machine
    printf "%-14s %5s %20s %20s %20s %20s %10s %10s %9s\n", "# kernel", "ranks", "checkpoints", "MPI", "payload-copy",
        "buffer-copy", "total", "plain", "more,%"
    for (i = 1; i <= keys; i++) {
        sort_side(order[i], "log")
        sort_side(order[i], "plain")
        split(order[i], a, FS)
        if (sub(/\.total$/, "", a[2])) {
            name[++rows] = a[2]
            ranks[rows] = a[4]
        }
    }
    for (i = 1; i <= rows; i++) {
        total = med(key_of(i, "total"), "log")
        plain = med(key_of(i, "total"), "plain")
        printf "%-14s %5d %20s %20s %20s %20s %10.3f %10.3f %9s\n", name[i], ranks[i], cell(i, "checkpoints", total),
            cell(i, "MPI", total), cell(i, "payload", total), cell(i, "buffer", total), total, plain,
            plain ? sprintf("%.1f", 100 * (total / plain - 1)) : "-"
    }
}
