#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# nodes_counts.sh - what checkpoints and agreements send over the links between nodes: counted by the gateways, so the
# load of the machine does not matter. See docs/BENCH.md.
#
#   bench/nodes_counts.sh BUILD_DIR [NODES:RANKS[:CODEWORDS] ...]
#
# Without CODEWORDS groups are as small as the loss of a node needs: a member on each node but one, where the codeword
# is. With 1 all ranks are one group. A first job takes checkpoints; in a second one a rank is killed, too, and what
# votes it sends are those of one agreement. The link of a node is what it receives, or what it sends; the busiest one
# is shown. Environment: COUNTS_MIB (1, a rank), COUNTS_SAFEPOINTS (6).
set -u
build=${1:?usage: bench/nodes_counts.sh BUILD_DIR [NODES:RANKS[:CODEWORDS] ...]}
shift
jobs=${*:-2:8 2:16 4:8 4:16 4:32 8:16 8:32 2:8:1 4:8:1 8:8:1 8:32:1} # 10 to 64 processes
mib=${COUNTS_MIB:-1} safepoints=${COUNTS_SAFEPOINTS:-6}
command -v jq >/dev/null || { echo "nodes_counts.sh: jq is missing" >&2; exit 2; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# a gateway reserves addresses for each process of its node once for each process of another one
export FTRMA_ARENA_SIZE="${FTRMA_ARENA_SIZE:-4G}"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
bad=0

echo "nodes ranks codewords processes | a checkpoint: orders, bytes; busiest link: images per codeword |" \
    "an agreement: votes, bytes"
for job in $jobs; do
    nodes=${job%%:*} n=${job#*:} size=$((${job%%:*} - 1))
    case $n in
    *:*) checksums=${n#*:} n=${n%:*} ;;
    *) checksums=$(((n + size - 1) / size)) ;;
    esac
    options="-n $n --virtual-nodes $nodes --checksums $checksums --checkpoint every:1 --log-limit 4M"
    # shellcheck disable=SC2086
    "$build/bin/ftrun" $options --report "$work/r" "$build/bin/bench_checkpoint" "$mib" "$safepoints" >"$work/out" \
        2>&1 || {
        echo "nodes_counts.sh: ftrun $options: $(tail -3 "$work/out")" >&2
        bad=1
        continue
    }
    # shellcheck disable=SC2086
    "$build/bin/ftrun" $options --report "$work/l" --inject rank=1,point=safepoint,hit=3 \
        "$build/bin/bench_checkpoint" "$mib" "$safepoints" >"$work/out" 2>&1 || {
        echo "nodes_counts.sh: ftrun $options with a loss: $(tail -3 "$work/out")" >&2
        bad=1
        continue
    }
    jq -r --slurpfile l "$work/l" --argjson nodes "$nodes" --argjson checksums "$checksums" '
        def total(k; w): [.links[][k][w]] | add;
        . as $r | (.checkpoints | length) as $c | ([.checkpoints[].bytes] | add / length / $r.ranks) as $image
        | ([(.links | group_by(.from)[], group_by(.to)[]) | map(.images.bytes) | add] | max) as $busiest
        | "\($nodes) \(.ranks) \($checksums) \(.ranks + .checksums + .spares) | "
            + "\(total("orders"; "items") / $c | round), \(total("orders"; "bytes") / $c | round); "
            + "\($busiest / $c / $checksums / $image * 1000 | round / 1000) | "
            + "\($l[0] | total("votes"; "items")), \($l[0] | total("votes"; "bytes"))"
    ' "$work/r"
done
exit $bad
