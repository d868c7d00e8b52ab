#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# pointers_again.sh - the same with other ways to take checkpoints, several codewords, and several
# deaths, of one rank and of several.
. "$(dirname "$0")/lib.sh"
prog=$(edge pointers)

# try KIND OPTIONS...: as without failures
try() {
    kind=$1
    shift
    ends 0 "^sum" "$ftrun" -n 3 "$prog" $kind
    ends 0 "$(grep "^sum" out)" "$ftrun" -n 3 "$@" "$prog" $kind
}

try allocate --parity 2 --spares 3 --checkpoint every:3 --inject rank=1,point=safepoint,hit=4 \
    --inject rank=2,point=safepoint,hit=4
try shared --spares 2 --checkpoint every:3 --inject rank=0,point=safepoint,hit=5 --inject rank=2,point=coll.leave,hit=20
try body --snapshot peek --spares 2 --checkpoint every:2 --inject rank=1,point=safepoint,hit=5 \
    --inject spare=0,point=safepoint,hit=3
try mem --log-limit 1 --demand stream --spares 2 --inject rank=1,point=demand.copied \
    --inject rank=2,point=safepoint,hit=9
try freed --log off --spares 2 --checkpoint every:3 --inject rank=2,point=safepoint,hit=8
try waited --spares 2 --checkpoint every:3 --inject rank=1,point=safepoint,hit=5 --inject spare=0,point=safepoint,hit=3
try issend --snapshot peek --spares 2 --inject rank=1,point=safepoint,hit=5 --inject spare=0,point=safepoint,hit=3
try again --spares 3 --inject rank=1,point=finalize.enter --inject rank=2,point=init.leave
done_testing
