#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# heap.sh - pointers into the heap, in protected memory, keep their meaning over a restart, whatever was allocated
# before; where they cannot, the job ends with 75.
. "$(dirname "$0")/lib.sh"
heap="$build/tests/save_heap"
again="$ftrun -n 4 --checksums 2 --checkpoint every:4 --restart d"

learn $heap
grep -q "randomisation cannot be switched off" out && skip "address randomisation cannot be switched off"
# The saved job's heap began further up than this one's would.
ends 75 "job lost" env HEAP_BEFORE=1 "$ftrun" $job --save d,every=1 $(lost_at 7) $heap
[ -n "$(sets d)" ] || fail "nothing was saved: $(cat out)"
ends 0 "^result:" $again $heap
same "with less in front of the heap"
ends 0 "^result:" $again --spares 5 $heap
same "with other spares"
ends 0 "^result:" env HEAP_BEFORE=1 $again $heap
same "with the same in front of the heap"
# The image that was loaded says where the heap begins in this job.
ends 0 "^result:" $again --inject rank=1,point=safepoint,hit=3 $heap
grep -q "rank 1 lost" out || fail "rank 1 was not lost: $(cat out)"
same "with a loss after the restart"
rm -r d

ends 75 "job lost" "$ftrun" $job --save d,every=1 $(lost_at 7) $heap
ends 75 "its heap began at 0x[0-9a-f]* in the saved job.*\[set-unusable\]$" env HEAP_BEFORE=1 $again $heap
done_testing
