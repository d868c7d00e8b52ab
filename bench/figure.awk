# SPDX-License-Identifier: BSD-3-Clause
#
# figure.awk - figures.sh's table and its picture: run time over the budget on top, the share of time exposed below, the number of coordinated
# and demand checkpoints at each point. Budgets are spread evenly, as the categories that they are.
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
    printf "%10s %10.3f %19s %7s %12d %7d %10.1f\n", what, med(time, key), sprintf("(%.3f..%.3f)", time[key, 1], time[key, n[key]]),
        n["plain"] ? sprintf("%.3f", med(time, key) / med(time, "plain")) : "-", ckpt[key], med(demand, key), med(share, key)
    if (time[key, n[key]] > top) top = time[key, n[key]]
}
function px(i) { return 80 + (i - 0.5) * 560 / nb }
function py(t) { return 270 - 200 * t / top }
function qy(p) { return 430 - 100 * p / 100 }
function text(x, y, anchor, s) { printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor, s > svg }
function rule(x1, y1, x2, y2, style) {
    printf "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x1, y1, x2, y2, style > svg
}
function level(key, style) {
    if (!n[key]) return
    rule(80, py(med(time, key)), 640, py(med(time, key)), style)
    text(644, py(med(time, key)) + 4, "start", key)
}
function draw(   i, b, path, t) {
    print "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"720\" height=\"520\" font-family=\"sans-serif\" font-size=\"12\">" > svg
    print "<rect width=\"720\" height=\"520\" fill=\"white\"/>" > svg
    text(80, 22, "start", title); text(80, 40, "start", machine)
    rule(80, 270, 640, 270, "stroke=\"black\""); rule(80, 60, 80, 270, "stroke=\"black\"")
    rule(80, 430, 640, 430, "stroke=\"black\""); rule(80, 330, 80, 430, "stroke=\"black\"")
    for (i = 0; i <= 4; i++) text(74, py(top * i / 4) + 4, "end", sprintf("%.2f", top * i / 4))
    for (i = 0; i <= 2; i++) text(74, qy(50 * i) + 4, "end", 50 * i)
    text(80, 56, "start", "run time, s (with the numbers of coordinated + demand checkpoints)")
    text(80, 322, "start", "time in which ranks were exposed, %")
    level("plain", "stroke=\"gray\" stroke-dasharray=\"4 3\"")
    level("unlogged", "stroke=\"steelblue\" stroke-dasharray=\"2 3\"")
    for (i = 1; i <= nb; i++) {
        b = budget[i]; t = med(time, b)
        path = path (i > 1 ? " L" : "M") sprintf("%.1f %.1f", px(i), py(t))
        rule(px(i), py(time[b, 1]), px(i), py(time[b, n[b]]), "stroke=\"firebrick\"")
        printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"firebrick\"/>\n", px(i), py(t) > svg
        text(px(i), py(time[b, n[b]]) - 6, "middle", ckpt[b] "+" int(med(demand, b)))
        printf "<rect x=\"%.1f\" y=\"%.1f\" width=\"24\" height=\"%.1f\" fill=\"darkorange\"/>\n", px(i) - 12, qy(med(share, b)),
            430 - qy(med(share, b)) > svg
        text(px(i), 446, "middle", b); text(px(i), 286, "middle", b)
    }
    printf "<path d=\"%s\" fill=\"none\" stroke=\"firebrick\"/>\n", path > svg
    text(360, 466, "middle", "memory for messages and logs, MiB a process")
    text(80, 490, "start", "A process that is over its budget all the same logs no more until the next coordinated")
    text(80, 506, "start", "checkpoint, and a loss before that leads to a rollback (exposed).")
    print "</svg>" > svg
}
END {
    print title; print machine
    print "Over its budget a process logs no more until the next coordinated checkpoint; it is exposed meanwhile.\n"
    printf "%10s %10s %19s %7s %12s %7s %10s\n", "MiB", "seconds", "(min..max)", "ratio", "checkpoints", "demand", "exposed, %"
    if (n["plain"]) row("plain", "plain")
    if (n["unlogged"]) row("unlogged", "unlogged")
    for (i = 1; i <= nb; i++) row(budget[i], budget[i])
    draw()
}
