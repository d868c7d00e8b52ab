#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# epoch.sh - a job goes on from a set that was taken within an epoch, and before the next checkpoint the rank that has
# the epoch open is lost: its replacement has the own part for itself as the lost process had, until the epoch's end.
. "$(dirname "$0")/lib.sh"
epoch="$build/tests/save_epoch"
for kind in all own setup-all setup-own; do
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
