#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# reasons.sh - each reason for which a job is given up is met by a test that asserts it by its name,
# or stands in reasons_untested.txt with the cause. ftrun prints them all, and ftrun(1) has what it
# prints.
. "$(dirname "$0")/lib.sh"
root=$here/../..

ends 0 "^no-spare$" "$ftrun" --help-reasons
grep -c '^[a-z][^ ]*$' out >printed
sed -n 's/^FT_REASON(\([A-Z_]*\), "\([a-z-]*\)".*/\1 \2/p' "$root/src/base/reason.def" >reasons
[ "$(wc -l <reasons)" = "$(cat printed)" ] ||
    fail "$(wc -l <reasons) reasons in the table, and $(cat printed) are printed"
[ -z "$(cut -d' ' -f2 reasons | sort | uniq -d)" ] || fail "two reasons have one name"
# A text in brackets in a script, or the identifier in a unit test.
cat "$root"/tests/*/*.sh >scripts
cat "$root"/src/*/test_*.c >units
while read -r id name; do
    asserted=no
    if grep -qF "\\[$name\\]" scripts || grep -q "FT_REASON_$id\>" units; then asserted=yes; fi
    listed=no
    grep -q "^$name " "$here/reasons_untested.txt" && listed=yes
    [ $asserted != $listed ] || fail "$name: asserted by a test: $asserted, in reasons_untested.txt: $listed"
    grep -q "^$name$" out || fail "--help-reasons does not print $name"
done <reasons
sed -n 's/^\([a-z-][a-z-]*\) .*/\1/p' "$here/reasons_untested.txt" | while read -r name; do
    grep -q " $name$" reasons || echo "reasons_untested.txt names $name, which is no reason"
done >stale
[ ! -s stale ] || fail "$(cat stale)"
sh "$root/scripts/reasons.sh" "$build" || fail "ftrun(1) is older than the table"
done_testing
