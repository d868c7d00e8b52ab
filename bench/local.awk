# SPDX-License-Identifier: BSD-3-Clause
#
# local.awk - with stats.awk, the table of local.sh's parts: median and spread of each side, the ratio of the medians
# to the first side that there is of plain and unlogged (or unlogged and plain, for single calls), and what was
# demanded beside what was measured.
BEGIN { nsides = split("plain one-heap huge copied cold unlogged puts logged ready default small", sides, " ") }
$1 !~ /^(log|npb_log|kernels|kv_log|replay\.[0-9]+)$/ || $7 == "" { next }
{ note() }
function base_of(key,   a, first) {
    split(key, a, FS)
    first = a[1] == "log" ? "unlogged" : "plain"
    return n[key, first] ? first : n[key, "unlogged"] ? "unlogged" : ""
}
function line(what, value, target, good) { printf "  %-78s %8s   demand %-12s %s\n", what, value, target,
    good ? "met" : "NOT MET" }
function times(key, side, over, what, most,   r) {
    if (!n[key, side] || !n[key, over]) return
    r = med(key, side) / med(key, over)
    line(what ": " side " / " over, sprintf("%.2f", r), "<= " most, r <= most)
}
function overhead(key, side, over, what, most,   r) {
    if (!n[key, side] || !n[key, over]) return
    r = 100 * (med(key, side) / med(key, over) - 1)
    if (most == "")
        printf "  %-78s %8.1f\n", what ": " side " over " over ", %", r
    else
        line(what ": " side " over " over ", %", sprintf("%.1f", r), "<= " most, r <= most)
}
END {
    if (!keys) exit
    printf "\n%-10s %-24s %9s %5s %-5s %-9s %11s %-23s %7s\n", "part", "case", "bytes", "ranks", "unit", "side",
        "median", "(min..max)", "ratio"
    for (i = 1; i <= keys; i++) {
        key = order[i]
        split(key, a, FS)
        for (s = 1; s <= nsides; s++)
            sort_side(key, sides[s])
        base = base_of(key)
        for (s = 1; s <= nsides; s++) {
            side = sides[s]
            if (!n[key, side]) continue
            ratio = base && side != base && med(key, base) > 0 ? sprintf("%.3f", med(key, side) / med(key, base)) : "-"
            printf "%-10s %-24s %9s %5s %-5s %-9s %11.5g %-23s %7s\n", a[1], a[2], a[3], a[4], unit[key], side,
                med(key, side),
                sprintf("(%.4g..%.4g)", v[key, side, 1], v[key, side, n[key, side]]), ratio
        }
    }
    print "\ndemands (medians):"
    for (k = 1; k <= 2; k++) {
        side = k == 1 ? "logged" : "puts"
        times("log,put+flush,8,2", side, "unlogged", "put of 8 B and flush", 4)
        times("log,fetch_and_op+flush,8,2", side, "unlogged", "fetch_and_op and flush", 3)
        split("65536 1048576 16777216", large, " ")
        for (j = 1; j <= 3; j++) {
            p = "log,put+flush," large[j] ",2"; m = "log,memcpy," large[j] ",2"; f = "log,memcpy+far," large[j] ",2"
            if (!n[p, side] || !n[p, "unlogged"] || !n[f, side]) continue
            more = med(p, side) - med(p, "unlogged")
            what = sprintf("put of %d KiB, %s: %.4g us more; memcpy %.4g, to far memory %.4g: of these",
                large[j] / 1024, side, more, med(m, side),
                med(f, side))
            line(what, sprintf("%.2f", more / med(f, side)), "<= 1", more <= med(f, side))
        }
    }
    for (i = 1; i <= keys; i++) {
        key = order[i]
        split(key, a, FS)
        if (a[2] ~ /exposed$/)
            for (s = 1; s <= nsides; s++)
                if (n[key, sides[s]] && med(key, sides[s]) > 0)
                    printf "  %-78s %8.3g   not all was logged\n", a[1] ", " a[2] " of " sides[s] ", " unit[key],
                        med(key, sides[s])
        if (a[1] == "npb_log" && a[2] !~ /exposed$/) {
            overhead(key, "logged", "plain", a[2], 4)
            overhead(key, "puts", "plain", a[2], 4)
            overhead(key, "ready", "plain", a[2], 4)
            overhead(key, "logged", "unlogged", a[2], "")
            overhead(key, "ready", "unlogged", a[2], "")
            overhead(key, "copied", "plain", a[2], "")
            overhead(key, "cold", "plain", a[2], "")
            overhead(key, "logged", "copied", a[2], 2)
            overhead(key, "default", "copied", a[2], 2)
            overhead(key, "logged", "cold", a[2], "")
            overhead(key, "default", "cold", a[2], "")
        }
        if (a[1] == "kernels" && a[2] !~ /exposed$/) { # no demand: which is met depends on the cores
            overhead(key, "logged", "plain", a[2] ", " a[4] " ranks, local recovery", "")
            overhead(key, "default", "plain", a[2] ", " a[4] " ranks, default settings", "")
            overhead(key, "unlogged", "plain", a[2] ", " a[4] " ranks, --recovery global", "")
            overhead(key, "small", "plain", a[2] ", " a[4] " ranks, default settings", "")
            overhead(key, "one-heap", "plain", a[2] ", " a[4] " ranks, mpirun", "")
            overhead(key, "huge", "plain", a[2] ", " a[4] " ranks, mpirun", "")
            overhead(key, "logged", "one-heap", a[2] ", " a[4] " ranks, local recovery", "")
            overhead(key, "default", "one-heap", a[2] ", " a[4] " ranks, default settings", "")
            overhead(key, "unlogged", "one-heap", a[2] ", " a[4] " ranks, --recovery global", "")
            overhead(key, "small", "one-heap", a[2] ", " a[4] " ranks, default settings", "")
            overhead(key, "default", "huge", a[2] ", " a[4] " ranks, default settings", "")
        }
        if (a[1] == "kv_log" && a[2] == "kvstore") {
            alone = "kv_log,kvstore.inserts-alone,0," a[4]
            for (s = 1; s <= nsides; s++)
                if (n[alone, sides[s]] && n[key, sides[s]])
                    printf "  %-78s %8.1f   meant: 5 to 10 when plain\n",
                        "kvstore: share of the time in inserts, " sides[s] ", %",
                        100 * med(alone, sides[s]) / med(key, sides[s])
            overhead(key, "puts", "plain", "kvstore", 4)
            overhead(key, "logged", "plain", "kvstore", 10)
            overhead(key, "logged", "unlogged", "kvstore", "")
        }
        if (a[1] == "replay.45" && a[2] == "replay/original")
            line("replay, image to live / the rank's own time", sprintf("%.2f", med(key, "logged")), "<= 1.2",
                med(key, "logged") <= 1.2)
        if (a[1] == "replay.40" && a[2] == "meanwhile/otherwise")
            line("survivors that need nobody: rounds meanwhile / otherwise", sprintf("%.3f", med(key, "logged")),
                "<= 1.05", med(key, "logged") <= 1.05)
    }
}
