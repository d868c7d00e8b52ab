#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# many_deaths.sh BUILD - what a lost process held is given back: after many deaths the job holds no
# more memory, and neither a survivor nor a gateway more descriptors and mappings, than after the first ones,
# and the result is that of a run without a death. By local and by global recovery, on one node and on two.
#
#   EDGES_DEATHS=64 sh many_deaths.sh BUILD
CLI_SHM=4g
. "$(dirname "$0")/lib.sh"
[ "$CLI_NAMESPACE" = own ] || skip "it takes a mount namespace"
program=$(edge deaths)
: "${EDGES_DEATHS:=30}"
deaths=$EDGES_DEATHS
spares=$((deaths + 2))

mkdir none
i=2
while [ $i -lt $((3 * deaths)) ]; do # as if all had been died
    : >none/$i
    i=$((i + 3))
done
ends 0 "^sum" "$ftrun" -n 4 --checkpoint every:2 "$program" "$work/none" "$deaths"
sum=$(grep "^sum" out)

# held least|most COLUMN FROM TO: the smallest or the largest value there in the rounds [FROM, TO)
held() {
    awk -v how="$1" -v c="$2" -v from="$3" -v to="$4" '
        $1 >= from && $1 < to && (m == "" || (how == "least" ? $c < m : $c > m)) { m = $c }
        END { print m + 0 }' "$work/$dir/held"
}

# flat WHAT COLUMN SLACK [least]: not more in the last third than in the second, but for so much
flat() {
    early=$(held "${4:-most}" "$2" "$deaths" "$((2 * deaths))")
    late=$(held "${4:-most}" "$2" "$((2 * deaths))" "$((3 * deaths))")
    echo "$dir: $1: $early, later $late"
    [ "$early" -gt 0 ] && [ "$late" -le $((early + $3)) ] ||
        fail "$dir: $1 grew from $early to $late in $((deaths / 3)) deaths"
}

for dir in auto global nodes_auto nodes_global; do
    mkdir "$dir"
    case $dir in nodes_*) nodes="--virtual-nodes 2 --checksums 4" ;; *) nodes= ;; esac
    # shellcheck disable=SC2086
    ends 0 "^$sum\$" "$ftrun" -n 4 --spares "$spares" --checkpoint every:2 --recovery "${dir#nodes_}" $nodes \
        --report "$work/report" "$program" "$work/$dir" "$deaths"
    died=$(ls "$work/$dir" | grep -c "^[0-9]")
    [ "$died" = "$deaths" ] || fail "$dir: $died deaths instead of $deaths"
    flat "bytes in /dev/shm" 2 $((8 << 20))
    flat "descriptors" 3 2
    flat "mappings" 4 3
    flat "descriptors of ftrun, keepers and gateways" 5 4
    flat "mappings of these" 6 6
    flat "KiB of these" 7 1024 least # bursts come and go
done
done_testing
