#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# descriptors.sh - a program closes all descriptors that it does not know, takes their numbers, or
# leaves none: nobody is taken for dead who is not, a rank that is lost is replaced, and the result
# is what it is without.
. "$(dirname "$0")/lib.sh"
closer=$(edge closer)

result() { sed -n 's/^result //p' out; }
failures() { grep -o '"detected_us"' report | wc -l; }

# same FAILURES HOW OPTIONS...: the result of HOW is that of `none`, and so many processes were
# taken for dead
same() {
    deaths=$1 how=$2
    shift 2
    ends 0 "^result " "$ftrun" -n 3 --checksums 1 --spares 2 --report report "$@" "$closer" "$how" 20
    [ "$(result)" = "$right" ] || fail "$how $*: result $(result) instead of $right"
    [ "$(failures)" = "$deaths" ] || fail "$how $*: $(failures) processes were lost, not $deaths: $(cat report)"
}

ends 0 "^result " "$ftrun" -n 3 --checksums 1 --spares 2 "$closer" none 20
right=$(result)
same 0 close
for how in close range from dup raw; do
    same 1 $how --inject rank=1,point=safepoint,hit=14
done
ulimit -n 256
same 1 full --inject rank=1,point=safepoint,hit=14

# What it takes back cannot be had again: that is said.
ends 16 "of ftrma by a direct system call" "$ftrun" -n 3 --checksums 1 --spares 2 "$closer" taken 20
# Eight at once: on a machine with too few cores a helper thread runs late.
for i in 1 2 3 4 5 6 7 8; do
    ("$ftrun" -n 3 --checksums 1 --spares 2 "$closer" taken 20 >"out.$i" 2>&1; echo $? >"status.$i") &
done
wait
for i in 1 2 3 4 5 6 7 8; do
    [ "$(cat "status.$i")" = 16 ] ||
        fail "taken, at once with others: status $(cat "status.$i"), not 16: $(cat "out.$i")"
done
done_testing
