#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# epoch.sh - a job goes on from a set that was taken within an epoch, and before the next checkpoint the rank that has
# the epoch open is lost: the parts that it loads from and stores to are kept from the others as before, until the
# epoch's end. Without the second: [after a restart, which loses nobody, rank 1 has the word while rank 0 adds to it].
. "$(dirname "$0")/lib.sh"
epoch="$build/tests/save_epoch"
for kind in all own common setup-all setup-own setup-common; do
    ends 75 "job lost" "$ftrun" $job --save d,every=1 $(lost_at 7) $epoch $kind
    [ -n "$(sets d)" ] || fail "$kind: nothing was saved: $(cat out)"
    ends 0 "^result: 24 of 24$" "$ftrun" -n 4 --checksums 2 --checkpoint every:1000 --restart d $epoch $kind
    : >dies
    ends 0 "^result: 24 of 24$" env EPOCH_DIES="$work/dies" \
        "$ftrun" -n 4 --checksums 2 --checkpoint every:1000 --restart d $epoch $kind
    grep -q "rank 0 lost" out || fail "$kind: rank 0 was not lost: $(cat out)"
    rm -r d
done
done_testing
