#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# rounding.sh - all go back while most of them wait in a call, in another rounding mode and with a
# signal blocked: body begins without these, and the result has the same bits.
. "$(dirname "$0")/lib.sh"
p=$(edge rounding)

ends 0 "^rank 3: [0-9a-f]*$" "$ftrun" -n 4 "$p"
grep '^rank [0-9]: ' out >expected
for how in "--recovery global" "--recovery auto" "--recovery global --checkpoint every:3"; do
    for point in coll.enter msg.send.half; do
        ends 0 "^rank 3: [0-9a-f]*$" "$ftrun" -n 4 $how --inject rank=1,point=$point,hit=20 "$p"
        grep '^rank [0-9]: ' out | cmp -s expected - || fail "$how, $point: $(cat out)"
    done
done
done_testing
