# SPDX-License-Identifier: BSD-3-Clause
#
# sweep.awk - one case of part sweep over the size, engine against host, with stats.awk before it: as text on standard
# output, and as CSV, which plot.sh draws.  -v what=latency|bandwidth -v title= -v machine= -v csv= latency:
# microseconds one way. bandwidth: MB/s, from microseconds a message.
$1 != "sweep" || $2 != what || $4 != 2 || $7 == "" { next }
{ note() }
function value(key, side,   t) {
    if (!n[key, side]) return ""
    t = median(key, side)
    return what == "bandwidth" ? bytes[key] / t : t
}
function show(x) { return x == "" ? "-" : sprintf("%.5g", x) }
function over(x, y) { return x == "" || y == "" ? "-" : sprintf("%.2f", x / y) }
END {
    if (!keys) exit
    split("engine host logged", sides, " ")
    for (i = 1; i <= keys; i++) {
        key = order[i]
        split(key, a, FS); bytes[key] = a[3]
        for (k = 1; k <= 3; k++)
            sort_side(key, sides[k])
    }
    print title; print machine; print ""
    printf "%9s %12s %12s %7s %12s %7s\n", "bytes", "log off", "host", "ratio", "log all", "ratio"
    print "bytes,engine,host,logged" > csv
    for (i = 1; i <= keys; i++) {
        e = value(order[i], "engine"); h = value(order[i], "host"); l = value(order[i], "logged")
        printf "%9d %12s %12s %7s %12s %7s\n", bytes[order[i]], show(e), show(h), over(e, h), show(l), over(l, h)
        printf "%d,%s,%s,%s\n", bytes[order[i]], e, h, l > csv
    }
}
