#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# replay_agent.sh BUILD - what agents have heard in jobs is fed to the machine of recover/process.h,
# which does what they did: without a failure, in a local recovery, in a global rollback, where
# FTRMA_Run runs nothing, where failure domains are known, and where ranks take images alone. A
# record that was changed is found out.
set -u
build=$1
records=$(dirname "$0")/../../scripts/records.sh
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

fail() {
    echo "replay_agent: $*"
    exit 1
}

sh "$records" make "$build" "$work/runs" plain lost lost_global refused domains demand || fail "the runs"
grep -q 'COMMAND FAIL' "$work/runs/refused/1" || fail "no FTRMA_Run was refused"
grep -q 'COMMAND RESTORE .* 1 0 0$' "$work/runs/lost/5" || fail "no process went back alone"
grep -q 'COMMAND RESTORE' "$work/runs/lost_global/0" || fail "nobody went back with all"
grep -q '^E [0-9]* LEVEL rack 2 ' "$work/runs/domains/0" || fail "the failure domains are not in the record"
grep -q 'A [0-9]* MAIL [0-9]* DEMAND 10 1 ' "$work/runs/demand/4" || fail "the lead has not said its tag"
grep -q 'SEEN GROUP' "$work/runs/demand/4" || fail "the lead has not looked at its group"
sh "$records" replay "$build" "$work/runs" >"$work/out" || { cat "$work/out"; fail "the machine does not do the same"; }
grep -q 'in 40 processes the machine does the same; 0 cannot' "$work/out" ||
    { cat "$work/out"; fail "not all records were run again"; }

# a tag that was not said; failure domains that are missing
sed '/^A [0-9]* MAIL [0-9]* DEMAND 10 1 /d' "$work/runs/demand/4" >"$work/other"
"$build/bin/ftrma-sim" --replay-agent "$work/other" >"$work/out" && fail "a tag that was not said was not found out"
sed '/LEVEL rack/d' "$work/runs/domains/0" >"$work/other"
"$build/bin/ftrma-sim" --replay-agent "$work/other" >"$work/out" 2>&1
[ $? = 2 ] || fail "a record without a level of its failure domains was run"
# another command; an event that is missing; a mail with another word; what is no record
cp "$work/runs/lost/0" "$work/other"
sed -i '0,/COMMAND COPY/s//COMMAND RELEASE/' "$work/other"
"$build/bin/ftrma-sim" --replay-agent "$work/other" >"$work/out" && fail "another command was not found out"
grep -q 'recorded: commands RELEASE' "$work/out" || fail "the other command is not named"
grep -q 'now: .* commands COPY' "$work/out" || fail "the command of the machine is not named"
grep -v 'WITNESSED' "$work/runs/lost/0" >"$work/other"
"$build/bin/ftrma-sim" --replay-agent "$work/other" >"$work/out" && fail "a vote without a witness was not found out"
sed '/E .* ORDER READY/{s/$/ 7/;:a;n;ba}' "$work/runs/lost/0" >"$work/other"
"$build/bin/ftrma-sim" --replay-agent "$work/other" >"$work/out" 2>&1
[ $? = 1 ] && grep -q 'this mail is not complete' "$work/out" || fail "a mail with a word too many was taken"
echo nothing >"$work/other"
"$build/bin/ftrma-sim" --replay-agent "$work/other" >"$work/out" 2>&1
[ $? = 2 ] || fail "what is no record was taken for one"
grep -q 'is not the record of a process' "$work/out" || fail "what is no record is not called so"
