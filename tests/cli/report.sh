#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# report.sh - the files of --report and --trace are JSON and hold what is promised.
. "$(dirname "$0")/lib.sh"
command -v jq >/dev/null || skip "jq is not installed"

# holds FILE FILTER: the jq filter is true of the file
holds() { jq -e "$2" "$1" >/dev/null || fail "$1: not true: $2 of $(cat "$1")"; }

ends 0 "^Verification: SUCCESSFUL$" "$ftrun" -n 4 --checkpoint every:2 --inject rank=2,point=safepoint,hit=5 \
    --report r.json --trace t.json "$npb_ft" S
holds r.json '.result == "ok" and .status == 0 and .message == ""'
holds r.json '.ranks == 4 and .checksums == 1 and .spares == 1 and .elapsed_us > 0 and .events_lost == 0'
holds r.json '.schema == 1 and (.ftrma | test("^[0-9.]+$"))'
holds r.json '(.started | sub("[.][0-9][0-9][0-9]Z$"; "Z") | fromdateiso8601) > 1.7e9'
holds r.json '.command[1:] == ["-n", "4", "--checkpoint", "every:2", "--inject", "rank=2,point=safepoint,hit=5",
    "--report", "r.json", "--trace", "t.json", "'"$npb_ft"'", "S"]'
holds r.json '.settings | .FTRMA_CHECKPOINT == "every:2" and .FTRMA_SPARES == "1" and .FTRMA_RECOVERY == "auto"'
holds r.json '.hosts == ["'"$(uname -n)"'"]'
holds r.json '.failures | length == 1'
holds r.json '.failures[0] | .who == "rank 2" and .slot == 2 and .failpoint == "safepoint" and .when_us > 0'
holds r.json '.failures[0] | 0 < .detected_us and .detected_us <= .agreed_us and .agreed_us <= .resumed_us'
holds r.json '.checkpoints | length >= 2 and all(.bytes > 0 and .copy_us > 0 and .parity_us > 0 and .total_us > 0)'
holds r.json '[.checkpoints[].version] as $v | $v == ($v | sort | unique)'
holds r.json '.rollbacks == 0 and .local_recoveries == 1 and .rollback_reasons == []'
holds r.json '.recoveries | length == 1 and (.[0] | .rank == 2 and .restore_us > 0 and .replay_us > 0 and
    .records_fetched > 0 and .bytes > 0)'
holds r.json '.memory | length == 4 and
    all(.beyond_bytes > 0 and .protected_bytes > 0 and .log_limit_bytes >= 268435456)'
holds r.json '.memory | [.[].rank] == [0, 1, 2, 3]'
holds r.json '.safepoints | .[0] == 6 and .[1] == 6 and .[2] > 6 and .[3] == 6' # survivors did not run again
valid_trace() { python3 "$here/check_trace.py" "$1" || fail "$1 is no valid trace"; }
valid_trace t.json
holds t.json '[.[] | select(.name == "process_name") | .args.name] == ["slot 0: rank 0", "slot 1: rank 1",
    "slot 2: rank 2", "slot 3: rank 3", "slot 4: checksum process 0", "slot 5: spare 0, then rank 2"]'
# the death is on the row of the dead process, what its replacement does on its own
holds t.json '[.[] | select(.name == "failure") | .pid] == [3]'
holds t.json '[.[] | select(.name == "replacement" or .name == "rejoined" or .name == "live") | .pid] | unique == [6]'
for event in started failure detection agreement local rejoined restore live checkpoint.copy \
    checkpoint.parity checkpoint; do
    holds t.json "any(.name == \"$event\")"
done

mv r.json local.json

ends 0 "^Verification: SUCCESSFUL$" "$ftrun" -vv -n 4 --recovery global --checkpoint every:2 \
    --inject rank=2,point=safepoint,hit=5 --report r.json --trace t.json "$npb_ft" S
holds r.json '.rollbacks == 1 and .local_recoveries == 0 and .recoveries == []'
holds r.json '.rollback_reasons | length == 1 and .[0].why == "--recovery global" and .[0].when_us > 0'
holds r.json '.safepoints | all(. > 6)'
holds t.json 'any(.name == "resumed")'
valid_trace t.json

mv r.json global.json
# lines of events come in the order of their times, each event once
grep '^\[ftrma' out | tr -d '[]' >lines
sort -s -n -k2,2 lines | cmp -s - lines || fail "lines of -vv are not in the order of their times: $(cat lines)"
for event in started failure agreement resumed done; do
    [ "$(grep -c " $event: " lines)" = 1 ] || fail "-vv did not say '$event' once: $(cat lines)"
done

# a job that fails, and one that is lost, are reported too
ends 3 "" "$ftrun" -n 2 --report r.json --trace t.json "$ending" exit 1 3
holds r.json '.result == "failed" and .status == 3 and (.message | test("rank 1 ended with exit status 3"))'
holds t.json 'length > 0'
ends 75 "" "$ftrun" -n 4 --spares 0 --save sets --inject rank=1,point=safepoint,hit=2 --report r.json "$npb_ft" S
holds r.json '.saves | length > 0 and all(.bytes > 0 and .write_us > 0)'
holds r.json '.result == "lost" and .status == 75 and (.message | test("too few spares are left")) and
    .reason == "no-spare" and .failures[0].resumed_us == null'
mv r.json lost.json
ends 9 "" "$ftrun" -n 2 --report r.json "$ending" exit-before 0 9
holds r.json '.result == "failed" and .status == 9'
mv r.json early.json

# names in UTF-8 survive; other bytes do not make the report invalid
mkdir "$work/größe"
cp "$ending" "$work/größe/プログラム"
ends 3 "" "$ftrun" -n 2 --report "größe/r.json" "$work/größe/プログラム" exit 1 3 \
    "$(printf 'latin1: \344\377')"
iconv -f UTF-8 -t UTF-8 größe/r.json >/dev/null || fail "the report is no UTF-8"
holds größe/r.json '.command |
    .[4] == "größe/r.json" and .[5] == "'"$work"'/größe/プログラム" and .[9] == "latin1: \\xe4\\xff"'

# ftrma-report(5) names each key, and no other
ends 0 "" "$ftrun" -n 2 --checkpoint every:2 --report r.json "$build/tests/edges_unprotected" forget
ends 0 "" "$ftrun" -n 2 --virtual-nodes 2 --report nodes.json "$build/tests/nodes_talk"
page=$here/../../docs/man/ftrma-report.5
jq -r '.settings = {} | .. | objects | keys[]' r.json nodes.json local.json global.json early.json \
    lost.json | sort -u >keys
sed -n '/^[.]SH KEYS/,/^[.]SH [^K]/s/^[.]R*B[RI]* //p' "$page" |
    grep -o '"[^"]*"\|[^ ]*' | grep -x '[a-z_]*' | sort -u >documented
diff documented keys >differ || fail "keys of the page (<) and of reports (>) differ: $(cat differ)"
done_testing
