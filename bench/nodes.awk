# SPDX-License-Identifier: BSD-3-Clause
#
# nodes.awk - from the figures of nodes.sh to its table: median and spread of each side, their ratio, and the demands.
# Demands of latency hold where there are at least as many cores as ranks and gateways (-v cores=N). With stats.awk
# before it.
NR == 1 { next }
{ note() }
function demand(what, value, most, needs) {
    if (value == "") return
    printf "  %-66s %8.2f   demand <= %-5s %s\n", what, value, most,
        cores < needs ? sprintf("(needs %d cores)", needs) : value <= most ? "met" : "NOT MET"
}
function over(part, name, bytes, ranks,   key) {
    key = part "," name "," bytes "," ranks
    return n[key, "engine"] && n[key, "host"] ? median(key, "engine") / median(key, "host") : ""
}
END {
    printf "%-10s %-30s %9s %5s  %-5s %10s %-21s %10s %-21s %7s\n", "part", "case", "bytes", "ranks", "unit",
        "engine", "(min..max)", "host", "(min..max)", "ratio"
    for (i = 1; i <= keys; i++) {
        key = order[i]
        split(key, a, FS)
        sort_side(key, "engine")
        sort_side(key, "host")
        h = n[key, "host"]
        e = n[key, "engine"]
        printf "%-10s %-30s %9s %5s  %-5s %10s %-21s %10s %-21s %7s\n", a[1], a[2], a[3], a[4], unit[key],
            e ? sprintf("%.5g", median(key, "engine")) : "-", e ? spread(key, "engine") : "-",
            h ? sprintf("%.5g", median(key, "host")) : "-", h ? spread(key, "host") : "-",
            h && e && median(key, "host") ? sprintf("%.3f", median(key, "engine") / median(key, "host")) : "-"
    }
    print "\ndemands (medians; engine / host):"
    demand("ping-pong of 8 B", over("messages", "pingpong", 8, 2), 2, 4)
    demand("ping-pong of 1 MiB", over("messages", "pingpong", 1048576, 2), 1.25, 4)
    demand("barrier, 4 ranks", over("messages", "barrier", 0, 4), 2, 6)
    demand("allreduce of 8 B, 4 ranks", over("messages", "allreduce", 8, 4), 2, 6)
    demand("put of 8 B and flush", over("rma", "put", 8, 2), 2, 4)
    demand("fetch_and_op and flush", over("rma", "fetch_and_op", 8, 2), 2, 4)
    key = "rma,computing.fetch_and_op.longest,8,2"
    if (n[key, "engine"])
        demand("fetch_and_op while the target computes for 1 s: the longest, ms", median(key, "engine") / 1000, 100, 4)
    demand("start of a job of 4 ranks, over mpirun on one node", over("start", "job", 0, 4), 1, 6)
    key = "loss,resumed," 64 * 1048576 ",3"
    if (n[key, "engine"])
        demand("loss of a node to resumed, 64 MiB a rank, ms", median(key, "engine"), 400, 6)
}
