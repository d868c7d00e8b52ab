#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# records.sh BUILD - what agents do is recorded, in a process that is killed as well; two runs of
# one library did the same, and one that did something else is found out.
set -u
build=$1
records=$(dirname "$0")/../../scripts/records.sh
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

fail() {
    echo "records: $*"
    exit 1
}

for d in a b; do
    sh "$records" make "$build" "$work/$d" every lost_global domains || fail "the runs of $d"
done
sh "$records" compare "$work/a" "$work/b" || fail "two runs of one library differ"
tail -n 1 "$work/a/lost_global/2" | grep -q '^[AE] [0-9]* .*' ||
    fail "the record of the lost process ends in the middle of a line"
sed -i '0,/COMMAND COPY/s//COMMAND RELEASE/' "$work/b/every/1"
sh "$records" compare "$work/a" "$work/b" >"$work/out" && fail "another command was not found out"
grep -q 'every/1 differs' "$work/out" || fail "the difference is not named"
