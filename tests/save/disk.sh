#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# disk.sh - the disk is full, slow, read-only or gone: the program goes on, it is said, and what was
# there before can be used.
. "$(dirname "$0")/lib.sh"
[ "$CLI_NAMESPACE" = own ] || skip "no mount namespace, so no disk of our own"
steps="$build/tests/save_steps"
disk() { mkdir -p disk && mount -t tmpfs -o size="$1" tmpfs disk; }

# The program waits for the writer until ftrun says what became of the set.
go_when_said() {
    rm -f go
    : >out
    (for i in $(seq 6000); do
        grep -q "was not saved" out && break
        sleep 0.05
    done
    : >go) &
}

learn $steps 200
goes_on() { # WHAT
    ends 0 '^result:' "$ftrun" --checksums 2 --checkpoint every:1 --restart disk/d $steps 200
    same "restart after $1"
}

# One set fits, and a part of the next one.
disk 100k
go_when_said
ends 75 "No space left on device" env STEPS_GO=$work/go "$ftrun" $job --save disk/d,every=2 $(lost_at 150) $steps 200
[ -n "$(sets disk/d)" ] || fail "no set on a disk with room for one: $(ls -R disk)"
ls disk/d | grep -q part && fail "a set that was given up is still there: $(ls disk/d)"
[ "$(grep -c "No space left" out)" -le 2 ] || fail "said again and again: $(cat out)"
goes_on "a full disk"
umount disk

# None fits: the job does not care.
disk 8k
go_when_said
ends 0 "No space left on device" env STEPS_GO=$work/go "$ftrun" $job --save disk/d $steps 200
same "nothing could be saved"
umount disk

# It is taken away while the job runs.
disk 10m
go_when_said
ends 75 "was not saved: .*No such file" env STEPS_TAKE=$work/disk/d STEPS_TO=$work/disk/taken \
    STEPS_GO=$work/go "$ftrun" $job --save disk/d,every=2 $(lost_at 150) $steps 200
umount disk

# It becomes one that can only be read while the job runs: that is said once. A set that is just
# being written may first miss its directory.
disk 10m
go_when_said
ends 0 "was not saved: .*Read-only file system" env STEPS_COVER=$work/disk/d STEPS_GO=$work/go \
    "$ftrun" $job --save disk/d $steps 200
says_once "was not saved: .*Read-only file system"
same "a disk that can only be read"
umount disk/d disk

# A set on such a disk is good for a restart that saves elsewhere or nowhere. Nothing can be saved
# there.
disk 10m
ends 75 "job lost" "$ftrun" $job --save disk/d $(lost_at 20) $steps 200
mount -o remount,ro disk
goes_on "reading from a disk that can only be read"
ends 75 "job lost" "$ftrun" $job --restart disk/d --save elsewhere $(lost_at 20) $steps 200
[ -n "$(sets elsewhere)" ] || fail "nothing was saved elsewhere: $(cat out)"
refuses "nothing can be saved there: Read-only file system" "$ftrun" $job --restart disk/d --save disk/d $steps 200
refuses "cannot be made: Read-only file system" "$ftrun" $job --save disk/new $steps 200
umount disk

# The writer stands still: what is due meanwhile is passed over, and the job ends in its time.
disk 10m
ends 0 "is not saved: the set of checkpoint [0-9]* is still being written" "$ftrun" -v $job --save disk/d \
    --inject writer=0,point=save.half,action=stop $steps 200
same "a slow disk"
[ -z "$(ls disk/d | grep -v lock)" ] || fail "left: $(ls disk/d)"
umount disk
done_testing
