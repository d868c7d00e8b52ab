# SPDX-License-Identifier: BSD-3-Clause
#
# padding.sh - bytes that are no values, the padding of a long double and the holes of a pair, may
# differ between a replacement and the process that it replaces. That is no divergence, neither with
# FTRMA_CHECK=envelopes nor with data.
. "$(dirname "$0")/lib.sh"

for check in envelopes data; do
    FTRMA_CHECK=$check ends 0 'result: [0-9a-f]*$' "$ftrun" -n 3 "$(edge padding)"
    want=$(grep '^result' out)
    for victim in 0 1 2; do
        for hit in 3 70 121; do
            FTRMA_CHECK=$check ends 0 "$want" "$ftrun" -v -n 3 \
                --inject rank=$victim,point=rma.atomic.done,hit=$hit "$(edge padding)"
            grep -q 'live again' out ||
                fail "FTRMA_CHECK=$check: rank $victim was not replaced at hit $hit, or has not come live"
            grep -q 'diverged' out && fail "FTRMA_CHECK=$check: rank $victim diverged: $(grep diverged out)"
        done
    done
done
done_testing
