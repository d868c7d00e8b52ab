#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# freed.sh - a window or a communicator that was freed does not matter after the next checkpoint:
# whoever is lost then is replaced. Where a loss cannot be survived, because the window held what
# others had stored, or because all would have to go back to when it was there, the job ends with
# 75, which says just that.
. "$(dirname "$0")/lib.sh"
prog=$(edge freed)
every="--checkpoint every:2"

# survives OPTIONS -- ARGUMENTS
survives() {
    options=
    while [ "$1" != -- ]; do
        options="$options $1"
        shift
    done
    shift
    ends 0 "^sum" "$ftrun" -n 3 "$prog" "$@"
    ends 0 "$(grep "^sum" out)" "$ftrun" -n 3 $every $options "$prog" "$@"
}

# freed in setup: the first member of the window is lost, another one, all go back, FTRMA_Run is
# over
survives --inject rank=0,point=safepoint,hit=4 -- setup shared
survives --inject rank=1,point=safepoint,hit=4 -- setup shared
survives --recovery global --spares 2 --inject rank=1,point=safepoint,hit=4 \
    --inject rank=0,point=safepoint,hit=6 -- setup shared
survives --inject rank=2,point=finalize.enter -- setup shared
# freed in body, and a checkpoint since
for kind in shared plain comm; do
    survives --inject rank=0,point=safepoint,hit=9 -- body $kind
    # the fourth at the least is of safepoint 6, and step 4 begins with the fifth
    survives --inject rank=1,point=ckpt.committed,hit=4 --recovery global -- body $kind
done
# and before the next checkpoint, where the others need not go back
survives --checkpoint every:4 --inject rank=1,point=safepoint,hit=7 -- body plain
survives --checkpoint every:4 --inject rank=1,point=safepoint,hit=7 -- body comm
# then all go back to a checkpoint of the replacement, which has freed it, too
survives --checkpoint every:4 --parity 2 --spares 3 --inject rank=1,point=safepoint,hit=7 \
    --inject rank=0,point=ckpt.committed,hit=3 --inject rank=2,point=ckpt.committed,hit=3 -- body comm
# and where the replacement frees it again before the checkpoint, which the lost process did, too
survives --checkpoint every:4 --parity 2 --spares 3 --inject rank=1,point=ckpt.committed,hit=2 \
    --inject rank=0,point=safepoint,hit=8 --inject rank=2,point=safepoint,hit=8 -- begin comm
# freed after FTRMA_Run: nobody is lost any more
survives --inject rank=1,point=safepoint,hit=9 -- after shared

ends 75 "setup of rank 1 uses a window of MPI_Win_allocate_shared that all ranks have freed.*\[shared-freed\]$" \
    "$ftrun" -n 3 $every --inject rank=1,point=safepoint,hit=4 "$prog" setup shared used
shared="rank 1 .*lost: it shared memory with other ranks (MPI_Win_allocate_shared).*no checkpoint"
ends 75 "$shared.*\[shared-window\]$" \
    "$ftrun" -n 3 $every --inject rank=1,point=run.enter "$prog" setup shared
ends 75 "$shared.*\[shared-window\]$" \
    "$ftrun" -n 3 $every --inject rank=1,point=finalize.enter "$prog" after shared
ends 75 "a window that setup had made was freed in body since that checkpoint.*\[window-freed\]$" \
    "$ftrun" -n 3 --checkpoint every:4 --inject rank=1,point=safepoint,hit=7 "$prog" body shared
ends 75 "a window that setup had made was freed in body since that checkpoint" \
    "$ftrun" -n 3 --checkpoint every:4 --recovery global --inject rank=0,point=safepoint,hit=7 "$prog" body plain
freed="a communicator that setup had made was freed in body since that checkpoint.*\[communicator-freed\]$"
ends 75 "$freed" "$ftrun" -n 3 --checkpoint every:4 --parity 2 --spares 2 \
    --inject rank=0,point=safepoint,hit=7 --inject rank=2,point=safepoint,hit=7 "$prog" body comm
ends 75 "$freed" "$ftrun" -n 3 --checkpoint every:4 --recovery global \
    --inject rank=1,point=safepoint,hit=7 "$prog" body comm
done_testing
