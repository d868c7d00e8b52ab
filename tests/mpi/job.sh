#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# job.sh FTRUN N PROGRAM [OPTION...]: runs one test as an entire job, with options of ftrun's; it must
# say ok and end with status 0.
ftrun=$1 ranks=$2 program=$3
shift 3
out=$("$ftrun" -n "$ranks" --checksums 0 --spares 0 "$@" "$program" 2>&1)
status=$?
echo "$out"
[ $status = 0 ] && echo "$out" | grep -q '^ok'
