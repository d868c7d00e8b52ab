#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# forker.sh - a child that a program forks has a copy of the program's memory, also of what
# MPI_Win_create has shared, and of what lies beside it.
. "$(dirname "$0")/lib.sh"

for kind in create dynamic; do
    for where in heap data stack; do
        ends 0 "^forked" "$ftrun" -n 2 "$(edge forker)" $kind $where
    done
done
done_testing
