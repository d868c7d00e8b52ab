#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# citations.sh SOURCE - scripts/citations.sh finds nothing in the tree, nothing in a small one, and
# each kind of violation in that.
script=citations.sh
. "$(dirname "$0")/tree.sh"
mkdir -p "$tree/src/room" "$tree/include" "$tree/apps" "$tree/sim" "$tree/bench" "$tree/scripts" \
    "$tree/tests" "$tree/examples" "$tree/docs"
echo hello >"$tree/README.md"
printf '%s\n' '**D1. A rule.** As R6 says.' '- **R6, R8** Two more.' '**C5a. Another.**' >"$tree/docs/PROTOCOL.md"
check || bad=1

violation docs/PROTOCOL.md '- **R8** The same id again.'
violation docs/PROTOCOL.md 'No rule is called R7.'
violation src/room/new.c '/* as C5 says */'
violation src/room/new.h 'int x; // (D1, D2)'
violation src/room/new.c '/* first line
 * (protocol 4.2) */'
violation tests/new.sh 'true # see PROTOCOL.md, section 9'
violation README.md 'It follows section 3.'
violation src/room/new.c 'f("a replica is lost (D1)");'
violation src/room/new.def 'ROW(x, "see src/room/new.c")'
harmless src/room/new.c '/* D1, C5a and R6 to R8 */ int C5 = D2; f("F32");'
harmless tests/new.sh "head -R9 file; echo 'not # R9'"
harmless src/room/test_new.c 'expect("(D1)");'

done_testing
