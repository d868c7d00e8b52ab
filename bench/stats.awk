# SPDX-License-Identifier: BSD-3-Clause
#
# stats.awk - what the tables are made with: figures of run.sh's CSV by case and side, sorted, their median and spread.
BEGIN { FS = "," }
function note(   key) {
    key = $1 FS $2 FS $3 FS $4
    if (!(key in known)) {
        known[key] = 1
        order[++keys] = key
        unit[key] = $8
    }
    v[key, $5, ++n[key, $5]] = $7
}
function sort_side(key, side,   i, j, x) {
    for (i = 2; i <= n[key, side]; i++) {
        x = v[key, side, i]
        for (j = i - 1; j > 0 && v[key, side, j] + 0 > x + 0; j--)
            v[key, side, j + 1] = v[key, side, j]
        v[key, side, j + 1] = x
    }
}
function median(key, side,   k) {
    k = n[key, side]
    return k % 2 ? v[key, side, (k + 1) / 2] : (v[key, side, k / 2] + v[key, side, k / 2 + 1]) / 2
}
function med(key, side) { return n[key, side] ? median(key, side) : "" }
function spread(key, side) { return sprintf("%.4g..%.4g", v[key, side, 1], v[key, side, n[key, side]]) }
