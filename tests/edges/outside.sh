#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# outside.sh - a store just outside of a window, or of memory of MPI_Alloc_mem, ends in SIGSEGV and
# not in the library's memory.
. "$(dirname "$0")/lib.sh"

ends 0 "^sum" "$ftrun" -n 2 "$(edge pointers)" past
for r in 0 1; do
    says_once "^rank $r: 0 stores went wrong"
done
done_testing
