#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# timeline.sh - the trace of a job with a loss, drawn: rows, the death on the row of the dead
# process, and the spare that takes its place.
. "$(dirname "$0")/lib.sh"
timeline=$build/bin/ftrma-timeline
ends 0 "Verification: SUCCESSFUL" "$ftrun" -n 4 --trace trace.json --inject rank=2,point=safepoint,hit=3 "$npb_ft" S
"$timeline" trace.json && "$timeline" trace.json --failure 1 -o loss.svg || fail "ftrma-timeline ended with $?"
for want in ">rank 2<" ">slot 2<" ">slot 5, was spare 0<" ">checksum process 0<" ">lost<" ">takes rank 2<" \
    ">setup again<" ">replay from logs<" ">live again<" ">milliseconds since the start of the job<" ; do
    grep -qF -- "$want" loss.svg || fail "the picture has no '$want'"
done
! grep -q "<script" loss.svg || fail "the picture has a script"
grep -q "checkpoint 1 committed" trace.html || fail "the page shows no checkpoint"
! grep -o 'https*://[^"<]*\|src=\|href=' trace.html || fail "the page needs other files"
# Labels of the axis keep clear of each other, whatever part is drawn: a digit is 8 pixels wide at the most.
for part in "0 12" "0 360" "2445 2840" "9000 9340" "99000 99340" "99000 99000.5" "0 5000000" "123456 98765432"; do
    "$timeline" trace.json --from ${part% *} --to ${part#* } -o part.svg || fail "ftrma-timeline ended with $?"
    sed -n 's|.*<text x="\([0-9.]*\)" y="[0-9]*" text-anchor="middle">\([0-9.]*\)</text>|\1 \2|p' part.svg >labels
    awk '{ wide = length($2) * 8; if (NR > 1 && $1 - x < (wide + w) / 2 + 4) bad = 1; x = $1; w = wide }
        END { exit bad || NR < 3 }' labels || fail "labels of --from ${part% *} --to ${part#* }: $(cat labels)"
done
# refused TEXT ARGUMENT...: it ends with 2 and says TEXT
refused() {
    want=$1
    shift
    "$timeline" "$@" >out 2>&1
    got=$?
    { [ "$got" = 2 ] && grep -q -- "$want" out; } || fail "'$*' ended with $got and said: $(cat out)"
}
refused "the trace has 1 loss" trace.json --failure 2
refused "cannot be read" no-such-file
echo "{}" >other.json
refused "no trace" other.json
echo '[{"ph":"X","name":"x","pid":7,"ts":1,"dur":1}]' >other.json
refused "process 7, which it does not name" other.json
refused "unknown option '--form'; did you mean --from?" trace.json --form 3
refused "--from must be a number" trace.json --from soon
refused "must be later than --from" trace.json --from 5 --to 4
refused "one trace is needed"
refused "must end with .svg" trace.json -o picture.png
refused "cannot be written" trace.json -o "$work/no/such/place.svg"
"$timeline" --help | grep -q "^usage: ftrma-timeline" || fail "--help prints no usage"
done_testing
