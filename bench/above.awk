# SPDX-License-Identifier: BSD-3-Clause
#
# above.awk - with stats.awk: the points of part sweep at which the engine's median is above 1.3 times the host's:
# case, bytes, ranks.
$1 != "sweep" || $7 == "" || ($5 != "engine" && $5 != "host") { next }
{ note() }
END {
    for (i = 1; i <= keys; i++) {
        key = order[i]
        sort_side(key, "engine"); sort_side(key, "host")
        split(key, a, FS)
        if (n[key, "engine"] && n[key, "host"] && median(key, "engine") > 1.3 * median(key, "host"))
            print a[2], a[3], a[4]
    }
}
