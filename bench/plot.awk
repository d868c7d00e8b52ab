# SPDX-License-Identifier: BSD-3-Clause
#
# plot.awk - one case of part sweep over the size, engine against host, with stats.awk before it: as text on standard output, as CSV and as a picture.
# Both axes are logarithmic.  -v what=latency|bandwidth -v title= -v machine= -v svg= -v csv=
# latency: microseconds one way. bandwidth: MB/s, from microseconds a message.
$1 != "sweep" || $2 != what || $4 != 2 || $7 == "" { next }
{ note() }
function value(key, side,   t) {
    if (!n[key, side]) return ""
    t = median(key, side)
    return what == "bandwidth" ? bytes[key] / t : t
}
function show(x) { return x == "" ? "-" : sprintf("%.5g", x) }
function over(x, y) { return x == "" || y == "" ? "-" : sprintf("%.2f", x / y) }
function px(b) { return 80 + 540 * log(b) / log(2) / span }
function py(y) { return 400 - 330 * (log(y) / log(10) - low) / (high - low) }
function text(x, y, anchor, s) { printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor, s > svg }
function rule(x1, y1, x2, y2, style) { printf "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x1, y1, x2, y2, style > svg }
function size(b) { return b >= 1048576 ? b / 1048576 " MiB" : b >= 1024 ? b / 1024 " KiB" : b " B" }
function floor(x) { return x < int(x) ? int(x) - 1 : int(x) }
function curve(side, colour, label, nth,   i, y, path) {
    for (i = 1; i <= keys; i++) {
        y = value(order[i], side)
        if (y == "") continue
        path = path (path == "" ? "M" : " L") sprintf("%.1f %.1f", px(bytes[order[i]]), py(y))
        printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\" fill=\"%s\"/>\n", px(bytes[order[i]]), py(y), colour > svg
    }
    if (path == "") return
    printf "<path d=\"%s\" fill=\"none\" stroke=\"%s\"/>\n", path, colour > svg
    rule(90, 62 + 16 * nth, 110, 62 + 16 * nth, "stroke=\"" colour "\" stroke-width=\"2\"")
    text(116, 66 + 16 * nth, "start", label)
}
function draw(   i, e, b) {
    print "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"660\" height=\"460\" font-family=\"sans-serif\" font-size=\"12\">" > svg
    print "<rect width=\"660\" height=\"460\" fill=\"white\"/>" > svg
    text(80, 22, "start", title); text(80, 40, "start", machine)
    for (e = low; e <= high; e++) {
        rule(80, py(10 ^ e), 620, py(10 ^ e), e == low ? "stroke=\"black\"" : "stroke=\"lightgray\"")
        text(74, py(10 ^ e) + 4, "end", 10 ^ e)
    }
    rule(80, 70, 80, 400, "stroke=\"black\"")
    for (b = 1; b <= most; b *= 16) {
        rule(px(b), 400, px(b), 405, "stroke=\"black\"")
        text(px(b), 420, "middle", size(b))
    }
    text(350, 446, "middle", "bytes in a message; " (what == "bandwidth" ? "MB/s" : "microseconds one way"))
    curve("host", "gray", "host", 1); curve("engine", "firebrick", "engine, log off", 2); curve("logged", "steelblue", "engine, log all", 3)
    print "</svg>" > svg
}
END {
    if (!keys) exit
    split("engine host logged", sides, " ")
    for (i = 1; i <= keys; i++) {
        key = order[i]
        split(key, a, FS); bytes[key] = a[3]
        if (a[3] + 0 > most) most = a[3] + 0
        for (k = 1; k <= 3; k++) {
            sort_side(key, sides[k])
            y = value(key, sides[k])
            if (y != "" && (least == "" || y < least)) least = y
            if (y != "" && y > top) top = y
        }
    }
    low = floor(log(least) / log(10)); high = floor(log(top) / log(10)) + 1
    span = most > 1 ? log(most) / log(2) : 1
    print title; print machine; print ""
    printf "%9s %12s %12s %7s %12s %7s\n", "bytes", "log off", "host", "ratio", "log all", "ratio"
    print "bytes,engine,host,logged" > csv
    for (i = 1; i <= keys; i++) {
        e = value(order[i], "engine"); h = value(order[i], "host"); l = value(order[i], "logged")
        printf "%9d %12s %12s %7s %12s %7s\n", bytes[order[i]], show(e), show(h), over(e, h), show(l), over(l, h)
        printf "%d,%s,%s,%s\n", bytes[order[i]], e, h, l > csv
    }
    draw()
}
