#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# lost.sh - a job that cannot be saved ends with 75 and says what was lost, and leaves nothing.
. "$(dirname "$0")/lib.sh"

ends 0 "^Verification: SUCCESSFUL$" "$ftrun" -n 4 --inject rank=2,point=safepoint,hit=3 "$npb_ft" S
ends 75 'job lost: rank 1 was lost, and too few spares .*needed: 1, left: 0)\. Start with --spares 1 \[no-spare\]$' \
    "$ftrun" -n 4 --spares 0 --inject rank=1,point=safepoint,hit=2 "$npb_ft" S
# the second one hears of the first one's loss, and says no more that it accesses nothing of it: so
# that one is not yet recovered
ends 75 'job lost: .*group 0 .*lost rank 1 and rank 2 .*\[group-lost\]$' \
    "$ftrun" -n 4 --spares 2 --inject rank=1,point=safepoint,hit=2 --inject rank=2,point=assign "$npb_ft" S
ends 75 'rank 1 died 3 times at the same place .*probably a bug.*\[same-place\]$' \
    "$ftrun" -n 3 --spares 5 "$ending" segv 1
# without checkpoints the rank is run again from its start, as long as its logs fit, and unless only
# global rollbacks are wanted
ends 0 "^Verification: SUCCESSFUL$" "$ftrun" -n 4 --checksums 0 --spares 1 \
    --inject rank=1,point=safepoint,hit=2 "$npb_ft" S
ends 75 "job lost" "$ftrun" -n 4 --checksums 0 --spares 1 --recovery global \
    --inject rank=1,point=safepoint,hit=2 "$npb_ft" S
# the host carries files of several ranks: it cannot be open when one is lost, nor be opened again
# by one alone
export FILES_DIR="$work"
ends 75 'rank 1 was lost while a file was open that several ranks.*\[file-open\]$' \
    "$ftrun" -n 4 --inject rank=1,point=coll.enter,hit=4 "$build/tests/mpi_files" # once it is open in all
ends 75 'several ranks have opened a file together outside of FTRMA_Run.*\[outside-file\]$' \
    "$ftrun" -n 4 --inject rank=1,point=finalize.enter "$build/tests/mpi_files"
# the lost rank alone has got in setup what no log has, and the window has changed since
ends 75 'rank 1 .*gets outside of FTRMA_Run are not logged.*\[outside-gets\]$' "$ftrun" -n 4 --log puts \
    --checkpoint every:3 --inject rank=1,point=safepoint,hit=9 "$build/tests/nodes_first" get
done_testing
