#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# open_epoch.sh - a checkpoint in an epoch whose target was lost since it was put to: the puts get their stamp from the
# rank's new carrier. [The memory of the old one is unmapped by then, and the rank that had put died of SIGSEGV.]
. "$(dirname "$0")/lib.sh"
program=$(edge open_epoch)
run="$ftrun -n 3 --checksums 2 --spares 3 --checkpoint every:2"
ends 0 "^result: " $run "$program"
grep '^result:' out >want
for hit in 15 16 27 28 41 60; do # some of them after the put, some before
    ends 0 "rank 1 lost (SIGKILL), recovered alone" $run --inject "rank=1,point=coll.enter,hit=$hit" "$program"
    grep '^result:' out | cmp -s - want || fail "another result at $hit: $(cat out)"
    [ "$(grep -c ' lost (' out)" = 1 ] || fail "not only rank 1 was lost at $hit: $(grep ' lost (' out)"
done
done_testing
