#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# examples.sh - the example programs as a stranger would build them: plain and protected give the same bits, with a kill as well, and the guide
# shows just what was added.
. "$(dirname "$0")/lib.sh"
examples=$here/../../examples
mpicc=$(command -v mpicc.openmpi || command -v mpicc) || skip "no mpicc"
for p in plain heat; do
    "$mpicc" -Wall -Wextra -Werror -I "$here/../../include" "$examples/$p.c" -o "$p" || fail "$p.c does not compile"
done
ends 0 "^result: " "$ftrun" -n 3 ./plain
grep '^result' out >want
ends 0 "^result: " "$ftrun" -n 3 ./heat
grep '^result' out | cmp -s - want || fail "heat differs from plain: $(cat out)"
ends 0 "live: rank 1" "$ftrun" -n 3 -v --checkpoint every:500 --inject rank=1,point=rma.fence,hit=2500 ./heat
grep '^result' out | cmp -s - want || fail "heat with rank 1 killed differs: $(cat out)"

# every line of the difference is in the guide, in its order
diff -u "$examples/plain.c" "$examples/heat.c" | sed 1,2d >added
sed -n '/^```diff/,/^```$/p' "$here/../../docs/GUIDE.md" | grep -v '^```' | sed 1,2d >shown
cmp -s added shown || fail "docs/GUIDE.md shows another difference than $(diff added shown)"
done_testing
