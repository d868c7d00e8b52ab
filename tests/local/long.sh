#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# long.sh - logs that are long ask for a checkpoint of all (C7), and a rank is lost as it asks.
#
#   long.sh DIRECTORY-OF-FTRUN
#   LONG_SEED=S                                    repeats the draws (which rank is lost, and when)
#   CHAOS_KEEP, CHAOS_LINES, CHAOS_LIMIT           as in ../chaos
#
# npb_ft writes as much for each rank, four times as much as a process may log. By the clock there
# is no checkpoint between entry and exit.
BIN=$1
here=$(dirname "$0")
CHAOS_SEED=${LONG_SEED:-$(date +%s)}
. "$here/../chaos/jobs.sh"
. "$here/programs.sh"
export FTRMA_LOG_LIMIT=64M
common="-n 4 --checksums 1 --spares 2 --mtbf 1000d"
cmd="$BIN/npb_ft W --iters 80"

job $common --recovery global -- $cmd
expect=$result
[ "$status" -eq 0 ] && [ -n "$expect" ] || complain "without logs"
[ "$(field checkpoints)" -eq 2 ] || complain "a checkpoint between entry and exit, though nothing is logged"

for FTRMA_DEMAND in bulk off; do
    export FTRMA_DEMAND
    job $common -- $cmd
    survived "$expect"
    [ "$(field checkpoints)" -gt 2 ] || complain "no checkpoint was taken for logs that are long"
    for hit in 1 2; do
        draw 4
        job $common --inject "rank=$drawn,point=ckpt.long,hit=$hit" -- $cmd
        survived "$expect"
        died_at ckpt.long || complain "nobody died at ckpt.long"
    done
done
# where the safepoints of checkpoints are given, none is taken elsewhere
job $common --checkpoint every:1000 -- $cmd
survived "$expect"
[ "$(field checkpoints)" -eq 2 ] || complain "a checkpoint that was not asked for"
echo "repeat with LONG_SEED=$SEED"
verdict
