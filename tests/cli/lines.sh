#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# lines.sh SOURCE - scripts/lines.sh finds nothing in the tree, nothing in a small one, and a long line
# in each kind of file; not in those that are exempt.
script=lines.sh
. "$(dirname "$0")/tree.sh"
mkdir -p "$tree/src/base" "$tree/docs/man" "$tree/docs/figures" "$tree/scripts" "$tree/tests/cli" "$tree/.ci"
most=$(printf '%0120d' 0)
echo "$most" >"$tree/README.md"
check || bad=1

for file in src/base/new.c src/base/new.def docs/new.md docs/man/new.1 docs/man/FTT_Open.3 scripts/new.sh \
    scripts/new.awk tests/cli/new.txt tests/cli/CMakeLists.txt tests/cli/new.f90 .ci/run; do
    harmless $file "$most"
    violation $file "$most."
done
violation docs/new.md "    \$ $most"
violation docs/new.md "$(printf '%s\n' '```console' '$ true' '```' "$most.")"
violation src/base/new.c "|$most"
violation docs/new.md "$most [page](https://example.org)"
harmless docs/new.md "| $most |"
harmless docs/new.md "    $most."
harmless docs/new.md "$(printf '%s\n' '```console' '$ true' "$most." '```')"
harmless docs/new.md "[page](https://example.org/$most)"
harmless docs/figures/new.svg "$most."
harmless docs/man/FTT_Send.3 "$most."
printf 'short\n%s.\n' "$most" >"$tree/src/base/new.c"
echo "$most." >"$tree/Makefile"
[ "$(check | cut -d: -f1,2 | tr '\n' ' ')" = "Makefile:1 src/base/new.c:2 " ] || {
    echo "the lines are not named: $(check)"
    bad=1
}
rm "$tree/src/base/new.c" "$tree/Makefile"

done_testing
