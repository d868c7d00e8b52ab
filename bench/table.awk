# SPDX-License-Identifier: BSD-3-Clause
#
# table.awk - from run.sh's figures to a table: median and spread of each side, their ratio, and the target that it
# stands beside. With stats.awk before it.
NR == 1 || $1 ~ /^(log|npb_log|kernels|kernels_log|kv_log|replay\.[0-9]+|sweep|onesided)$/ { next } # others
{ note() }
function line(what, value, target, good) {
    printf "  %-74s %8s   target %-12s %s\n", what, value, target, good ? "met" : "NOT MET"
}
# What was measured in ms, or GB/s of a memcpy, on this machine, and on the one where the figures of others are from:
# there 16 MiB were put at 24 GB/s, which is a memcpy. 0: not measured.
function scaled(ms, part, ranks,   key) {
    key = part ",memcpy+alone,16777216," ranks
    return n[key, "engine"] ? ms * median(key, "engine") / 24 : 0
}
function both(what, ms, part, ranks, target,   s) {
    line(what ", ms", sprintf("%.1f", ms), "< " target " raw", ms < target)
    if (s = scaled(ms, part, ranks))
        line(sprintf("  the same by memcpy, here %.1f GB/s alone, there 24", s / ms * 24), sprintf("%.1f", s),
            "< " target, s < target)
}
function row(part, name, bytes, ranks, u, e, es, h, hs, ratio) {
    printf "%-15s %-26s %9s %5s  %-5s %10s %-21s %10s %-21s %7s\n", part, name, bytes, ranks, u, e, es, h, hs, ratio
}
# The part ftt: the median over the runs of what each says of its rounds, and the same of their fastest rounds.
function med_ftt(what, bytes) { return med("ftt," what "," bytes ",2", "engine") }
function over_host(what, host, bytes,   h) {
    h = med("ftt," host "," bytes ",2", "host")
    return h ? med_ftt(what, bytes) / h : ""
}
function rounds(what, mid, fastest, target,   most) {
    if (mid == "" || fastest == "") return
    most = substr(target, 4)
    line("transport: " what, sprintf("%.2f", mid), target, target ~ /</ ? mid <= most + 0 : mid >= most + 0)
    line("  the same, of the fastest rounds", sprintf("%.2f", fastest), target,
        target ~ /</ ? fastest <= most + 0 : fastest >= most + 0)
}
# Of the ratio engine / host; 0: none is set for this figure.
function target_of(key,   a) {
    split(key, a, FS)
    if (a[1] == "messages-trimmed" && (a[2] == "pingpong" && a[3] >= 1024 && a[3] <= 262144 || a[2] == "allreduce" &&
        a[3] > 8))
        return 1.2
    if (a[1] !~ /^messages/ || a[2] ~ /^(touch|cold)$/ || a[2] == "pingpong" && a[3] > 8 && a[3] < 1048576 ||
        a[2] == "allreduce" && a[3] == 1024)
        return 0
    return a[2] == "pingpong" && a[3] == 8 ? 1 : 1.2
}
END {
    if (!keys) exit
    row("part", "case", "bytes", "ranks", "unit", "engine", "(min..max)", "host", "(min..max)", "ratio")
    for (i = 1; i <= keys; i++) {
        key = order[i]
        split(key, a, FS)
        for (k = 1; k <= 2; k++) {
            side = k == 1 ? "engine" : "host"
            sort_side(key, side)
            mid[side] = n[key, side] ? sprintf("%.5g", median(key, side)) : "-"
            wide[side] = n[key, side] ? spread(key, side) : "-"
        }
        ratio = n[key, "engine"] && n[key, "host"] ? sprintf("%.3f", median(key, "engine") / median(key, "host")) : "-"
        row(a[1], a[2], a[3], a[4], unit[key], mid["engine"], wide["engine"], mid["host"], wide["host"], ratio)
    }
    print "\ntargets (medians):"
    for (i = 1; i <= keys; i++) {
        key = order[i]; t = target_of(key)
        if (t && n[key, "engine"] && n[key, "host"]) {
            split(key, a, FS); r = median(key, "engine") / median(key, "host")
            line(sprintf("%s of %s B, %s ranks%s: engine / host", a[2], a[3], a[4],
                a[1] ~ /global/ ? ", --recovery global" : a[1] ~ /trimmed/ ? ", logs trimmed" : ""), sprintf("%.2f",
                    r), "<= " t, r <= t)
        }
    }
    # a program that passes no safepoint: what is kept lies in memory that is touched for the first time; one that
    # passes some: in memory that is in no near cache any more
    for (i = 1; i <= keys; i++) {
        split(order[i], a, FS)
        post = "," a[3] ",2"
        part = a[2] == "touch" ? "messages" : a[2] == "cold" ? "messages-trimmed" : ""
        if (a[1] != "messages" || !part || a[3] < 1024 || a[3] > 262144 || !n[part ",pingpong" post, "engine"])
            continue
        r = median(part ",pingpong" post, "engine") - median("messages-global,pingpong" post, "engine")
        t = median(order[i], "host")
        line(sprintf("pingpong of %s B, %s: %.3g us more than unlogged; %s %.3g: of these", a[3],
            a[2] == "touch" ? "no safepoint" : "logs trimmed", r, a[2] == "touch" ? "first touches" : "cold memory",
            t), sprintf("%.2f", r / t), "<= 1", r <= t)
    }
    split("lock+unlock,0 accumulate+flush,1048576 strided_put+flush,262144 transpose+flush,32000 " \
        "transpose+flush,65536", calls, " ")
    split("1.2 1.1 1.0 1.0 1.0", limits, " ")
    for (i = 1; i <= 5; i++) {
        split(calls[i], a, FS)
        key = "rma," a[1] "+allocate," a[2] ",2"
        if (!n[key, "host"] || !n[key, "engine"]) continue
        r = median(key, "engine") / median(key, "host")
        what = a[1] (a[2] ? " of " a[2] " B" : "")
        line(what ", MPI_Win_allocate: engine / host", sprintf("%.2f", r), "<= " limits[i], r <= limits[i] + 0)
    }
    # cost over what a call does not use: of most of it, over that of least
    for (i = 1; i <= keys; i++) {
        split(order[i], a, FS)
        m = split(a[2], bits, ".")
        if (a[1] != "many" || bits[1] ~ /waitall/ || bits[m] < 64 || !n[order[i], "engine"]) continue
        few = "many," bits[1] "." bits[2] "." (bits[2] == "ranks" ? 2 : 1) "," a[3] ",2"
        if (!n[few, "engine"]) continue
        r = median(order[i], "engine") / median(few, "engine")
        line(bits[1] " with " bits[m] " " bits[2] ": over that with " (bits[2] == "ranks" ? 2 : 1), sprintf("%.2f",
            r), "<= 1.2", r <= 1.2)
    }
    split("put+flush fetch_and_op+flush", calls, " ")
    for (i = 1; i <= 2; i++) {
        al = "rma," calls[i] "+allocate,8,2"; cr = "rma," calls[i] "+create,8,2"
        if (n[al, "host"] && n[al, "engine"]) {
            r = median(al, "engine") / median(al, "host")
            line(calls[i] ", MPI_Win_allocate: engine / host", sprintf("%.2f", r), "<= 2", r <= 2)
        }
        if (n[cr, "host"] && n[cr, "engine"]) {
            r = median(cr, "host") / median(cr, "engine")
            line(calls[i] ", MPI_Win_create: host / engine", sprintf("%.1f", r), ">= 5", r >= 5)
        }
    }
    split("allocate create", hows, " ")
    for (i = 1; i <= 2; i++) {
        p = "rma,put+flush+" hows[i] ",16777216,2"; m = "rma,memcpy+" hows[i] ",16777216,2"
        if (n[p, "engine"]) {
            r = median(p, "engine") / median(m, "engine")
            line("put of 16 MiB, MPI_Win_" hows[i] ": bandwidth / memcpy's", sprintf("%.2f", r), ">= 0.9", r >= 0.9)
        }
    }
    split("idle busy", hows, " ")
    for (i = 1; i <= 2; i++) {
        for (k = 1; k <= keys; k++) { # the size is a setting
            split(order[k], a, FS)
            if (a[1] != "checkpoint-" hows[i] || a[2] != "memcpy+together") continue
            b = a[3]; pre = "checkpoint-" hows[i] ","; post = "," b ",4"
            m = median(pre "memcpy+together" post, "engine")
            what = "checkpoint, program " hows[i]
            speed = 4e-6 * b / m # GB/s, of all ranks together
            r = med(pre "pause" post, "engine") / m
            line(sprintf("%s: pause / memcpy of all ranks (%.1f ms, %.1f GB/s)", what, m, speed), sprintf("%.2f", r),
                "<= 1.5", r <= 1.5)
            r = med(pre "parity" post, "engine") / m
            line(what ": parity / memcpy", sprintf("%.2f", r), "<= 4", r <= 4)
            r = med(pre "whole" post, "engine")
            both(sprintf("%s: whole (%.2f memcpys)", what, r / m), r, "checkpoint-" hows[i], 4, 61.5)
            r = med(pre "memory-beyond" post, "engine") / med(pre "memory-protected" post, "engine")
            line(what ": memory beyond its own / protected", sprintf("%.3f", r), "<= 2 + log", r <= 2 + 268435456 / b)
        }
    }
    split("bulk stream", hows, " ")
    for (i = 1; i <= 2; i++) {
        for (k = 1; k <= keys; k++) {
            split(order[k], a, FS)
            if (a[1] != "demand" || a[2] != "beyond." hows[i]) continue
            post = "," a[3] ",4"
            what = "demand checkpoints, " hows[i]
            r = (median(order[k], "engine") - med("demand,beyond.off" post, "engine")) / a[3]
            line(what ": staging at a rank / its protected bytes", sprintf("%.3f", r), i == 1 ? "<= 1.1" : "<= 0.1",
                r <= (i == 1 ? 1.1 : 0.1))
            r = med("demand,pause." hows[i] post, "engine") / med("demand,memcpy+together" post, "engine")
            line(what ": pause / memcpy of all ranks", sprintf("%.2f", r), i == 1 ? "(cold)" : "<= 1.5", i == 1 ||
                r <= 1.5)
        }
    }
    for (k = 1; k <= keys; k++) {
        split(order[k], a, FS)
        if ((a[1] == "recovery" || a[1] == "told") && a[2] == "resumed") {
            r = median(order[k], "engine")
            m = med(a[1] ",memcpy+together," a[3] "," a[4], "engine")
            own = med(a[1] ",setup-own," a[3] "," a[4], "engine")
            if (a[1] == "told")
                both(sprintf("SIGKILL to body entered again, without the program\047s setup " \
                    "(memcpy of all ranks %.1f; that setup %.1f)", m, own), r - own, a[1], a[4], 60)
            else
                both(sprintf("SIGKILL to resumed (memcpy of all ranks %.1f; program\047s setup %.1f)", m, own), r,
                    a[1], a[4], 100)
        }
    }
    r = "fetch/pingpong"; m = "memcpy/fetch"
    rounds("fetch of 8 B, public memory / ping-pong of the engine", med_ftt(r, 8), med_ftt(r ".min", 8), "<= 1.5")
    rounds("fetch of 4 MiB, public memory: bandwidth / memcpy\047s", med_ftt(m, 4194304), med_ftt(m ".min", 4194304),
        ">= 0.9")
    rounds("active message of 8 B and back / ping-pong of the host", over_host("active", "pingpong", 8),
        over_host("active.min", "pingpong.min", 8), "<= 1.3")
    r = med_ftt("ping.known", 0); m = med_ftt("ping.replaced", 0)
    if (r != "" && m != "")
        line(sprintf("transport: SIGKILL until FTT_Ping\047s function is called, ms (replaced after %.2f)", m),
            sprintf("%.2f", r), "<= that", r <= m)
    for (k = 1; k <= keys; k++) {
        p = order[k]
        split(p, a, FS)
        if (a[1] != "npb" || !n[p, "host"] || !n[p, "engine"]) continue
        split(a[2], name, ".")
        what = "npb_ft class A, 4 ranks, " name[3] " iterations, --recovery " name[4] ": overhead in %"
        most = name[4] == "global" ? 2 : 4
        r = 100 * (median(p, "engine") / median(p, "host") - 1)
        line(what, sprintf("%.1f", r), "<= " most, r <= most)
        r = 100 * (v[p, "engine", 1] / v[p, "host", 1] - 1)
        line("  the same, of the fastest runs", sprintf("%.1f", r), "<= " most, r <= most)
    }
}
