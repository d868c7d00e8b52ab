#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# timeline.sh - the trace of a job with a loss, drawn: rows, the death on the row of the dead process, the spare that takes its place.
. "$(dirname "$0")/lib.sh"
timeline=$build/bin/ftrma-timeline
ends 0 "Verification: SUCCESSFUL" "$ftrun" -n 4 --trace trace.json --inject rank=2,point=safepoint,hit=3 "$npb_ft" S
"$timeline" trace.json && "$timeline" trace.json --failure 1 -o loss.svg || fail "ftrma-timeline ended with $?"
for f in trace.html loss.svg; do
    for want in "slot 2 (rank 2, lost)" "slot 5 (spare, then rank 2)" "slot 4 (checksum process 0)" ">lost<" ">takes rank 2<" ">setup again<" ">replay<"; do
        grep -qF -- "$want" "$f" || fail "$f has no '$want'"
    done
done
grep -q "<script>" trace.html || fail "the page has no script"
! grep -q "https*://" trace.html || [ "$(grep -o 'https*://[^"]*' trace.html | sort -u)" = "http://www.w3.org/2000/svg" ] || fail "the page needs other files"
! grep -q "<script\|checkpoint, first arrival" loss.svg || fail "the picture of the loss has what does not belong there"
grep -q "checkpoint, first arrival" trace.html || fail "the page shows no checkpoint"
ends 2 "fewer losses" "$timeline" trace.json --failure 2
ends 2 "cannot be read" "$timeline" no-such-file
echo "{}" >other.json
ends 2 "no trace" "$timeline" other.json
ends 2 "--from must be a number" "$timeline" trace.json --from soon
ends 2 "one trace is needed" "$timeline"
ends 2 "cannot be written" "$timeline" trace.json -o "$work/no/such/place.svg"
ends 0 "usage: ftrma-timeline" "$timeline" --help
done_testing
