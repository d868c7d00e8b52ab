#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# bad_tmpdir.sh - a TMPDIR in which nothing can be made is bad input: nothing is started, and the
# status is 2.
. "$(dirname "$0")/lib.sh"
touch plain

refuses "no directory can be made in /no/such/place: No such file or directory.*TMPDIR" \
    env TMPDIR=/no/such/place "$ftrun" -n 2 "$ending"
refuses "no directory can be made in $work/plain: Not a directory" env TMPDIR="$work/plain" "$ftrun" -n 2 "$ending"
refuses "no directory can be made in /proc: " env TMPDIR=/proc "$ftrun" -n 2 "$ending"
long=$(printf '%5000s' '' | tr ' ' x)
refuses "no directory can be made in xxx.*: File name too long" env TMPDIR="$long" "$ftrun" -n 2 "$ending"
done_testing
