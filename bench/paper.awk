# SPDX-License-Identifier: BSD-3-Clause
#
# paper.awk - the table of one figure of paper.sh, from its CSV: medians, spread, and the overhead over plain of the
# same ranks, of time and of processor time.  -v title= -v machine=
BEGIN { FS = "," }
NR == 1 || $5 == "" { next }
{
    key = $2 " " $3
    if (!(key in count)) order[++keys] = key
    i = ++count[key]
    time[key, i] = $5; cpu[key, i] = $6; ckpt[key] = $7; demand[key] = $8; recovered[key] = $9
}
function sorted(v, key,   i, j, x) {
    for (i = 2; i <= count[key]; i++) {
        x = v[key, i]
        for (j = i - 1; j > 0 && v[key, j] + 0 > x + 0; j--) v[key, j + 1] = v[key, j]
        v[key, j + 1] = x
    }
}
function med(v, key,   k) {
    k = count[key]
    return k % 2 ? v[key, (k + 1) / 2] : (v[key, k / 2] + v[key, k / 2 + 1]) / 2
}
function over(x, base) { return base > 0 ? sprintf("%.1f", 100 * (x / base - 1)) : "-" }
END {
    print "# " title
    print "# " machine
    printf "# %s %-16s %9s %9s %9s %9s %9s %9s %9s %9s %6s %6s %9s\n", "ranks", "side", "seconds", "min", "max",
        "over,%", "min", "max", "cpu,s", "over,%", "ckpts", "demand", "recovered"
    for (k = 1; k <= keys; k++) { sorted(time, order[k]); sorted(cpu, order[k]) }
    for (k = 1; k <= keys; k++) {
        key = order[k]
        split(key, a, " ")
        plain = a[1] " plain"
        base = count[plain] ? med(time, plain) : 0
        printf "%7d %-16s %9.3f %9.3f %9.3f %9s %9s %9s %9.2f %9s %6d %6d %9d\n", a[1], a[2], med(time, key),
            time[key, 1], time[key, count[key]], over(med(time, key), base), over(time[key, 1], base),
            over(time[key, count[key]], base), med(cpu, key), over(med(cpu, key), count[plain] ? med(cpu, plain) : 0),
            ckpt[key], demand[key], recovered[key]
    }
}
