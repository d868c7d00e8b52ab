#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# input_body.sh - what is read from standard input inside FTRMA_Run's body cannot be read again
# after a checkpoint. It is said so, and then a loss that takes rank 0 back ends with 75, and never
# with another result. Before the first such checkpoint all can be repeated.
. "$(dirname "$0")/lib.sh"
p=$(edge input)
export ftrun p
# reads STATUS TEXT ARGUMENTS...: ftrun with these and numbers to read
reads() {
    status=$1 text=$2
    shift 2
    ends "$status" "$text" sh -c 'seq 1 1000 | "$ftrun" "$@"' sh "$@"
}
kill="--inject rank=0,point=coll.enter,hit=20"
back="--checkpoint every:8 $kill"
for how in body body-own; do
    reads 0 "^total 55 sum 13920$" -n 3 "$p" "$how"
    # from before the first line that was read in body all of it can be repeated
    reads 0 "^total 55 sum 13920$" -n 3 $kill "$p" "$how"
    reads 75 "standard input at the checkpoint that it goes back to.*cannot be read again.*\[input-read\]$" \
        -n 3 $back "$p" "$how"
    says_once "note: rank 0 reads standard input in the body of FTRMA_Run"
    # another rank is lost and goes back alone: nothing is read again
    reads 0 "^total 55 sum 13920$" -n 3 --checkpoint every:8 --inject rank=1,point=coll.enter,hit=20 "$p" "$how"
    reads 75 "cannot be read again" -n 3 --checkpoint every:8 --recovery global \
        --inject rank=1,point=coll.enter,hit=20 "$p" "$how"
done
done_testing
