# SPDX-License-Identifier: BSD-3-Clause
#
# budget.awk - figures.sh's table on standard output, and the same for plot.sh in dat: budget (or plain, unlogged), run
# time, its least and most, coordinated and demand checkpoints, share of the time exposed.  -v title= -v machine= -v
# dat=
BEGIN { FS = "," }
NR == 1 || $4 == "" { next }
{
    key = $2 == "logged" ? $1 : $2
    if (!(key in n) && $2 == "logged") budget[++nb] = key
    i = ++n[key]
    time[key, i] = $4; ckpt[key] = $5; share[key, i] = $6; demand[key, i] = $7
}
function sorted(v, key,   i, j, x) {
    for (i = 2; i <= n[key]; i++) {
        x = v[key, i]
        for (j = i - 1; j > 0 && v[key, j] + 0 > x + 0; j--) v[key, j + 1] = v[key, j]
        v[key, j + 1] = x
    }
}
function med(v, key,   k) { k = n[key]; return k % 2 ? v[key, (k + 1) / 2] : (v[key, k / 2] + v[key, k / 2 + 1]) / 2 }
function row(what, key) {
    sorted(time, key); sorted(share, key); sorted(demand, key)
    printf "%10s %10.3f %19s %7s %12d %7d %10.1f\n", what, med(time, key), sprintf("(%.3f..%.3f)", time[key, 1],
        time[key, n[key]]),
        n["plain"] ? sprintf("%.3f", med(time, key) / med(time, "plain")) : "-", ckpt[key], med(demand, key),
            med(share, key)
    print what, med(time, key), time[key, 1], time[key, n[key]], ckpt[key], int(med(demand, key)), med(share, key) > dat
}
END {
    print title; print machine
    print "# " title > dat
    print "# " machine > dat
    print "Over its budget a process logs no more until the next coordinated checkpoint; it is exposed meanwhile.\n"
    printf "%10s %10s %19s %7s %12s %7s %10s\n", "MiB", "seconds", "(min..max)", "ratio", "checkpoints", "demand",
        "exposed, %"
    if (n["plain"]) row("plain", "plain")
    if (n["unlogged"]) row("unlogged", "unlogged")
    for (i = 1; i <= nb; i++) {
        row(budget[i], budget[i])
        if (med(demand, budget[i]) == 0 && !knee) knee = budget[i]
    }
    if (knee != "") print "\nthe knee: with " knee " MiB a process and more there are no demand checkpoints"
}
