#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# fold_vectors.sh - sums that the library computes are vectorized on x86-64: gcc 12 does that only
# where CMakeLists.txt says -O3, and nothing else would notice that it is lost.
#
#   fold_vectors.sh LIBRARY
set -u
command -v objdump > /dev/null || exit 77
objdump -d --no-show-raw-insn "$1" | awk '
    /^[0-9a-f]+ <sum_double_avx2>:/ { inside = 1; found = 1 }
    /^$/ { inside = 0 }
    inside && /vaddpd.*%ymm/ { wide++ }
    END {
        if (!found) { print "there is no sum_double_avx2 in the library"; exit 1 }
        if (!wide) { print "sum_double_avx2 adds one element at a time"; exit 1 }
    }'
