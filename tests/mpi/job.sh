#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# job.sh FTRUN N PROGRAM: runs one test as a whole job; it must say ok and end with status 0.
out=$("$1" -n "$2" --checksums 0 --spares 0 "$3" 2>&1)
status=$?
echo "$out"
[ $status = 0 ] && echo "$out" | grep -q '^ok'
