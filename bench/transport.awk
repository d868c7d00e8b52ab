# SPDX-License-Identifier: BSD-3-Clause
#
# transport.awk - from transport.sh's single figures to a table: of each case the fastest round of all runs. The host's
# ping-pong goes there and back, so one way is half of it.   -v csv= -v machine= -v runs= -v rounds=
BEGIN { FS = "," }
NR == 1 || $3 !~ /\.min$/ { next }
{
    name = $3
    sub(/\.min$/, "", name)
    if (name ~ /^mpi/) {
        if ($2 != "host") next
        $5 /= 2
    }
    key = name SUBSEP $4
    if (!($4 in known)) { known[$4] = 1; size[++sizes] = $4 }
    if (!(key in best) || $5 + 0 < best[key]) best[key] = $5 + 0
}
function cell(name, bytes) { return (name, bytes) in best ? sprintf("%.5g", best[name, bytes]) : "" }
END {
    if (!sizes) exit 1
    n = split("registered acked registering mpi.hot mpi.cold", names, " ")
    print "A block is fetched by name: microseconds until it is there"
    print machine "; the fastest of " runs " runs of " rounds " rounds"
    print ""
    printf "%9s %14s %14s %14s %14s %14s\n", "bytes", "pre-registered", "put and ack", "registering", "MPI, hot",
        "MPI, cold"
    print "bytes,registered,acked,registering,hot,cold" > csv
    for (i = 1; i <= sizes; i++) {
        printf "%9d", size[i]
        printf "%d", size[i] > csv
        for (k = 1; k <= n; k++) {
            printf " %14s", cell(names[k], size[i]) == "" ? "-" : cell(names[k], size[i])
            printf ",%s", cell(names[k], size[i]) > csv
        }
        print ""
        print "" > csv
    }
}
