#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# layering.sh [TREE] - the rules of the house that a compiler does not see: calls go down only, the
# rooms without I/O know no clock, thread, environment, random source, socket or MPI, mpi.h belongs
# to src/mpi, a variable is declared in a header, a name means one thing, files and private headers
# stay small. Prints each violation; fails on any.
set -u
scripts=$(cd "$(dirname "$0")" && pwd)
cd "${1:-$(dirname "$0")/..}" || exit 2

bad=0
complain() {
    echo "layering: $*"
    bad=1
}

# shellcheck disable=SC2046 # names without blanks
awk -f "$scripts/layering.awk" $(find src sim -name '*.[ch]' 2>/dev/null | sort) </dev/null || bad=1

for id in $(sed -n \
    's/^\(- \)\{0,1\}\*\*\([A-Z][0-9]\{1,2\}[a-z]\{0,1\}\(, [A-Z][0-9]\{1,2\}[a-z]\{0,1\}\)*\)\(\.\|\*\*\).*/\2/p' \
    docs/PROTOCOL.md 2>/dev/null |
    tr -d ' ' | tr ',' '\n' | sort | uniq -d); do
    complain "docs/PROTOCOL.md defines the rule $id twice"
done

long=$(find src include apps bench tests scripts \
    \( -name '*.[chs]' -o -name '*.sh' -o -name '*.f90' -o -name '*.def' \) \
    -exec wc -l {} + | awk '$2 != "total" && $1 > 800 { print $2 " has " $1 " lines: more than 800 hold two ideas" }')
[ -z "$long" ] || complain "$long"

# What only makes sense at the place where it was written: paths of one machine, numbers of a
# tracker.
words=$(grep -rnIsE '/wor[k]/|\bissue #?[0-9]' src include apps bench tests docs scripts cmake \
    Makefile CMakeLists.txt README* .ci)
if [ -n "$words" ]; then
    complain "words that mean nothing to a reader elsewhere:
$words"
fi
[ "$bad" = 0 ] && echo "layering: all is in its place"
exit "$bad"
