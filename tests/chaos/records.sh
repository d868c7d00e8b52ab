#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# records.sh - jobs that the tests of failures would draw, with a record of each process: the machine
# of src/recover/process.h is fed what the process has heard, and must do what the process did.
#
#   records.sh DIRECTORY-OF-FTRUN
#   CHAOS_SEED=S   repeats a run
#
# It tries one failpoint of ../chaos, one program of ../local and one of ../scenario. With
# CHAOS_RECORDS=1 in the environment the other scripts do so with all that they try.
BIN=$1
here=$(dirname "$0")
. "$here/jobs.sh"
export CHAOS_RECORDS=1
CHAOS_SEED=$SEED LOCAL_SEED=$SEED
export CHAOS_SEED LOCAL_SEED

one_of() { # WORD... -> $one
    draw $#
    shift "$drawn"
    one=$1
}

try() { # SCRIPT ARGUMENT...
    runs=$((runs + 1))
    sh "$@" >"$WORK/said" 2>&1 && grep -q '[1-9][0-9]* records' "$WORK/said" && return
    bad=$((bad + 1))
    echo "FAILED: $*${CHAOS_POINTS:+ at $CHAOS_POINTS}"
    cat "$WORK/said"
}

one_of safepoint msg.wait coll.enter rma.put.half ckpt.copied ckpt.commit agree.decided detect.death rejoin.ready \
    replay.begin restore.rebuild
CHAOS_POINTS=$one
export CHAOS_POINTS
try "$here/chaos.sh" "$BIN"
unset CHAOS_POINTS
one_of patterns_A patterns_C cas wild isend_barrier poll pollop holder
try "$here/../local/local.sh" "$BIN" "$one"
one_of behind left refused setup locks requests crossing far
try "$here/../scenario/scenario.sh" "$BIN" "$one"
verdict
