#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# python.sh - the module ftrma of Python: a lost rank gets its arrays back and goes on from the last
# checkpoint. What would need the others to go back ends the job with 75, as the job said at its
# start, and ftrun can restart it. Exceptions in body end the job.
. "$(dirname "$0")/../edges/lib.sh"
for python in /usr/bin/python3 "$(command -v python3)" ''; do # the system's first: Debian's mpi4py is its
    [ -n "$python" ] || skip "python3-mpi4py is not installed"
    ! "$python" -c 'import mpi4py, numpy' 2>/dev/null || break
done
PYTHONPATH=$here/../../bindings/python PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH PYTHONDONTWRITEBYTECODE
rows() { # STATUS TEXT HOW OPTIONS...
    status=$1 text=$2 how=$3
    shift 3
    ends "$status" "$text" "$ftrun" -n 3 --checkpoint every:10 "$@" "$python" "$here/rows.py" "$how"
}
same() {
    grep '^result\|is at step' out | sort | cmp -s - want || fail "another result with $1: $(cat out)"
}
both='--inject rank=1,point=safepoint,hit=58 --inject rank=2,point=agree.vote' # a restarted job has less to do
first=rank=1,point=rma.fence,hit=50 second=rank=0,point=rma.fence,hit=90

rows 0 "note: body runs in an interpreter.*status 75" ""
grep '^result\|is at step' out | sort >want
grep '^result' out >only
[ "$(wc -l <want)" = 4 ] || fail "not every rank has printed its line: $(cat out)"
if tried; then
    rows 0 "restored [0-9]* bytes of checkpoint [45]" "" -v --spares 2 --inject $first --inject $second
    same "two losses, one after the other"
fi
if tried; then
    rows 0 "local recovery of rank 0 begins from its start" "" -v --checkpoint off --inject $second
    same "a replay from the start"
fi
! tried || rows 75 "job lost: all ranks have to go back to a checkpoint, and this program cannot.*\[interpreter\]$" "" \
    --spares 2 --checksums 2 $both
if tried; then
    rows 0 "restart 1 of 3: all ranks go on from checkpoint" "" \
        --spares 2 --checksums 2 $both --save "$work/sets" --restarts 3
    same "a restart"
fi
! tried || rows 75 "with --recovery global or program, or --log off, the loss of a rank ends the job" "" \
    --recovery global --inject $second
rows 1 "ValueError: no more" fails
rows 7 "rank 1 called MPI_Abort(7)" exits
rows 0 "refused: ftrma: only numpy arrays" refusals
mpirun=$(command -v mpirun.openmpi || command -v mpirun) || skip "mpirun is not installed"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
"$mpirun" --oversubscribe --bind-to none -n 3 "$python" "$here/rows.py" >out 2>&1 </dev/null
grep '^result' out | cmp -s - only || fail "another result under plain mpirun: $(cat out)" # mpirun mixes lines
done_testing
