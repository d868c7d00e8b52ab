#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# pointers.sh - memory that MPI or malloc gives lies in a replacement where it lay in the lost
# process, so that pointers to it which the program keeps in protected memory keep their meaning: by
# local recovery and after a global rollback.
. "$(dirname "$0")/lib.sh"
prog=$(edge pointers)

for kind in allocate again mem shared dynamic body freed thread waited issend; do
    ends 0 "^sum" "$ftrun" -n 3 "$prog" $kind
    right=$(grep "^sum" out)
    for how in "--recovery auto" "--recovery global"; do
        for every in 4 100; do # to a checkpoint in body, and to its entry
            ends 0 "^$right$" "$ftrun" -n 3 $how --checkpoint every:$every \
                --inject rank=1,point=safepoint,hit=7 "$prog" $kind
        done
    done
done
done_testing
