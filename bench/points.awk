# SPDX-License-Identifier: BSD-3-Clause
#
# points.awk - the parts sweep and onesided of run.sh, with stats.awk before it: median and spread of each point with
# logging off (engine), on (logged) and of the host alone, the ratios to the host, and where one-sided calls have
# something else beside them the ratio to that. Last: the worst points, the geometric means and the targets.
$1 !~ /^(sweep|onesided)$/ || $7 == "" { next }
{ note() }
function part(key, i,   a) { split(key, a, FS); return a[i] }
# Above 1: slower than the host.
function ratio(key, side, over,   r) {
    if (!n[key, side] || !n[key, over]) return ""
    r = median(key, side) / median(key, over)
    return unit[key] == "GB/s" ? 1 / r : r
}
function fixed(x, digits) { return x == "" ? "-" : sprintf("%." digits "f", x) }
function cell(key, side) { return n[key, side] ? sprintf("%10.5g %-19s", median(key, side), spread(key,
    side)) : sprintf("%10s %-19s", "-", "") }
function line(what, value, target, good) { printf "  %-82s %8s   target %-8s %s\n", what, value, target,
    good ? "met" : "NOT MET" }
function at_most(what, r, most) { if (r != "") line(what, sprintf("%.2f", r), "<= " most, r <= most) }
function at_least(what, r, least) { if (r != "") line(what, sprintf("%.2f", r), ">= " least, r >= least) }
# Of all points of a side, or those of one case with so many ranks: number, geometric mean, points above the limit, the
# worst.
function summary(side, what, ranks, only,   i, key, r, sum, count, above, worst, at) {
    for (i = 1; i <= keys; i++) {
        key = order[i]
        if (part(key, 1) != "sweep" || (only && (part(key, 2) != what || part(key, 4) != ranks))) continue
        r = ratio(key, side, "host")
        if (r == "" || r <= 0) continue
        count++; sum += log(r)
        if (r > 1.3) above++
        if (r > worst) { worst = r; at = part(key, 2) " of " part(key, 3) " B, " part(key, 4) " ranks" }
    }
    if (!count) return
    if (only) {
        printf "  %-8s %-16s %5s ranks  %3d points, geometric mean %6.2f, %3d above 1.3, worst %7.2f: %s\n", side,
            what, ranks, count,
            exp(sum / count), above, worst, at
        return
    }
    line(side ": the worst of " count " points, engine / host (" at "); " above + 0 " above 1.3", sprintf("%.2f",
        worst), "<= 1.3", worst <= 1.3)
    line(side ": geometric mean of engine / host", sprintf("%.3f", exp(sum / count)), "<= 1.0", exp(sum / count) <= 1.0)
}
function key_of(what, how, bytes, ranks) { return "onesided," what "+" how "," bytes "," ranks }
function over(side, a, sa, b, sb, factor) { return n[a, sa] && n[b, sb] ? factor * median(a, sa) / median(b, sb) : "" }
function onesided(side,   i, j, calls, hows, how, k, c, r) {
    split("put get fetch_and_op compare_and_swap", calls, " ")
    split("allocate create", hows, " ")
    for (i = 1; i <= 4; i++) {
        k = key_of(calls[i] "+flush", "allocate", 8, 2); c = key_of(calls[i] "+flush", "create", 8, 2)
        at_most(side ": " calls[i] " of 8 B and flush, MPI_Win_allocate: / host", ratio(k, side, "host"), 1)
        at_least(side ": " calls[i] " of 8 B and flush, MPI_Win_create: host /", ratio(c, "host", side), 10)
    }
    for (j = 1; j <= 2; j++) {
        how = hows[j]
        at_most(side ": accumulate of 1 MiB, " how ": / host", ratio(key_of("accumulate+flush", how, 1048576, 2),
            side, "host"), 1)
        for (i = 1; i <= 2; i++) {
            c = i == 1 ? "strided" : "indexed"
            k = key_of(c "_put+flush", how, 262144, 2)
            at_most(side ": " c " put, " how ": / copy loop", over(side, k, side, key_of(c "_loop", how, 262144, 2),
                side, 1), 1.3)
        }
        at_most(side ": fence, 4 ranks, " how ": / host", ratio(key_of("fence", how, 0, 4), side, "host"), 1)
        at_most(side ": a put and fence, 4 ranks, " how ": / host", ratio(key_of("put+fence", how, 8, 4), side,
            "host"), 1)
        k = key_of("lock+unlock", how, 0, 2)
        at_most(side ": lock and unlock, " how ": / two compare_and_swaps", over(side, k, side, key_of("swap_pair",
            how, 8, 2), side, 1), 2)
        # Scaling: what four take on one counter over what one takes for the same, against that of the processor's
        # atomics.
        k = key_of("counter", how, 8, 4)
        c = key_of("one_atomic", how, 8, 2)
        r = over(side, k, side, key_of("fetch_and_op+flush", how, 8, 2), side, 1)
        if (r != "" && n[c, side] && n[key_of("plain_atomic", how, 8, 4), side])
            at_most(side ": 4 ranks on a counter, " how ": 4 / 1, over the same of plain atomics",
                r / over(side, key_of("plain_atomic", how, 8, 4), side, c, side, 1), 2)
    }
}
END {
    if (!keys) exit
    for (i = 1; i <= keys; i++) { sort_side(order[i], "engine"); sort_side(order[i], "host"); sort_side(order[i],
        "logged") }
    printf "%-31s %8s %5s %-4s %10s %-19s %10s %-19s %7s %10s %-19s %7s\n", "case", "bytes", "ranks", "unit",
        "log off", "(min..max)", "host", "(min..max)",
        "ratio", "log all", "(min..max)", "ratio"
    for (i = 1; i <= keys; i++) {
        key = order[i]
        printf "%-31s %8s %5s %-4s %s %s %7s %s %7s\n", part(key, 2), part(key, 3), part(key, 4), unit[key], cell(key,
            "engine"), cell(key, "host"),
            fixed(ratio(key, "engine", "host"), 2), cell(key, "logged"), fixed(ratio(key, "logged", "host"), 2)
    }
    print "\nratios are times: above 1, the engine is slower than the host. " \
        "By case, log off (engine) and log all (logged):"
    for (i = 1; i <= keys; i++) {
        c = part(order[i], 2) FS part(order[i], 4)
        if (part(order[i], 1) != "sweep" || c in seen) continue
        seen[c] = 1
        summary("engine", part(order[i], 2), part(order[i], 4), 1)
        summary("logged", part(order[i], 2), part(order[i], 4), 1)
    }
    print "\ntargets (medians; those of log off; the same with logging on beside them):"
    summary("engine", "", 0, 0); summary("logged", "", 0, 0)
    onesided("engine"); onesided("logged")
}
