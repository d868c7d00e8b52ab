#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# both.sh - a program that does something else when a rank is run again: the divergence must be
# named with what the replay does and with what a record has of the lost process.
#
#   both.sh DIRECTORY-OF-FTRUN
BIN=$1
here=$(dirname "$0")
. "$here/../chaos/jobs.sh"
. "$here/programs.sh"

number='[0-9]+' word='0x[0-9a-f]{16}'

# A stopped process is replaced as a lost one is, after FTRMA_PING_TIMEOUT_MS. Until then the others
# go on as far as they come without it, so they have seen all that it had done: a process that is
# killed may be gone before anybody looks, and then there is nothing to compare with.
export FTRMA_PING_TIMEOUT_MS=1000

# named CHEAT FAILPOINT HIT VALUE REST [OPTIONS]: of VALUE both must be said.
named() {
    select_program "cheat_$1"
    job -n 4 --checksums 2 --spares 3 --recovery auto --checkpoint every:4 \
        --inject "rank=1,point=$2,hit=$3,action=stop" -- $cmd $6
    survived "$result"
    grep -Eq "$5 now $4, in the lost process $4[^0-9a-f].*not deterministic" "$WORK/err" ||
        complain "not both values of $1"
}

in_call="replay of rank 1 diverged in call $number: it did"
named value rma.put.after 7 "$word" "$in_call a put .window $number, target 2, displacement $number.; data:"
named displ rma.put.after 7 $number "$in_call a put .window $number, target 2, displacement $number.; displacement:"
named operand rma.atomic.done 7 "$word" "$in_call an atomic .window $number, target 2, displacement $number.; operand:"
named tag msg.recv.done 20 $number "messages of rank 1 to rank 2 .*; tag:"
named length msg.recv.done 20 $number "messages of rank 1 to rank 2 .*; bytes:"
# in the second message, of ten fragments or so
named data msg.send.fragment 17 "$word" \
    "messages of rank 1 to rank 2 .*; data of a message of tag 3 from its byte 4[0-7] on:" "--at 1"
verdict
