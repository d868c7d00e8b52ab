#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# slow.sh - the disk is slow: the program goes on, checkpoints that are due meanwhile are passed
# over, and when the job is lost ftrun waits for the set that is being written.
. "$(dirname "$0")/lib.sh"
steps="$build/tests/save_steps"
learn $steps 200

# on_slow_disk MS STATUS TEXT ARGUMENTS...: ftrun with these. The program waits until the writer has
# come to the disk.
on_slow_disk() {
    ms=$1 status=$2 text=$3
    shift 3
    rm -f calls
    ends "$status" "$text" env LD_PRELOAD="$build/tests/save_slow_disk.so" SLOW_DISK_MS="$ms" \
        SLOW_DISK_LOG="$work/calls" \
        STEPS_GO="$work/calls" "$ftrun" "$@"
    [ -s calls ] || fail "the disk was not slow: nobody asked it for anything"
}

on_slow_disk 100 0 "is not saved: the set of checkpoint [0-9]* is still being written" -v $job --save d $steps 200
same "a slow disk"

# The set that is under way, and the newest checkpoint after it.
rm -rf d
on_slow_disk 100 75 "checkpoint [0-9]* is saved in" $job --save d --report r.json $(lost_at 20) $steps 200
[ "$(sets d | wc -w)" = 2 ] || fail "not two sets: $(ls -R d; cat out)"
ends 0 "^result:" "$ftrun" --checksums 2 --checkpoint every:1 --restart d $steps 200
same "restart after a slow disk"

# The next run may not begin before the writer has ended.
rm -rf d
on_slow_disk 60 0 "restart 1 of 3: all ranks go on from checkpoint" $job --save d,every=7 \
    --restarts 3 $(lost_at 120) $steps 200
same "restarts with a slow disk"
done_testing
