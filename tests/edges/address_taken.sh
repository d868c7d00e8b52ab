#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# address_taken.sh - where memory that MPI gives cannot lie at the lost process's address, since
# something else is mapped there, the job ends with 75, which says what lay where; and nothing
# happens where the program has no such memory.
. "$(dirname "$0")/lib.sh"
prog=$(edge pointers)
kill="--checkpoint every:4 --inject rank=1,point=safepoint,hit=7"

# in the spare, which is process 3 + 1: first where the program's first block lies, then where
# arenas begin
for kind in mem shared; do
    ends 0 "^address" "$ftrun" -n 3 "$prog" $kind
    at=$(sed -n 's/^address //p' out)
    [ $kind = shared ] && at=$(printf '0x%x' $(((at & ~4095) - 4096))) # rank 0's part comes first
    export TAKEN=$at TAKEN_BY=4
    ends 75 "bytes of rank 1 lay at $at in the lost process.*something else is mapped.*\[address-taken\]$" \
        "$ftrun" -n 3 $kill "$prog" $kind
    # in rank 1 itself: its replacement could have the address, and would be another
    export TAKEN_BY=1
    ends 75 "bytes of rank 1 could not lie at $at in the lost process.*\[address-moved\]$" \
        "$ftrun" -n 3 $kill "$prog" $kind
    unset TAKEN TAKEN_BY
done
export TAKEN=0x200000000000 TAKEN_BY=4
ends 75 "a window of .* of rank 1 lay at 0x20[0-9a-f]* in the lost process" "$ftrun" -n 3 $kill "$prog" allocate
ends 0 "^sum" "$ftrun" -n 3 $kill "$prog" none
unset TAKEN TAKEN_BY
# a setup that asks for more in the replacement
export MORE_BY=4
ends 75 "setup of rank 1 did not repeat itself: .* lies at 0x1e.*, and lay at 0x1e.*\[setup-changed\]$" \
    "$ftrun" -n 3 $kill "$prog" mem
done_testing
