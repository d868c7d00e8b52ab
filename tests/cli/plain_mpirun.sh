#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# plain_mpirun.sh - the way without ftrun: environment settings and the host's own mpirun.
. "$(dirname "$0")/lib.sh"
mpirun=$(command -v mpirun.openmpi || command -v mpirun) || skip "mpirun is not installed"
# The session directory and what a kill leaves behind in shared memory are the host's here:
# somewhere that we look at.
mkdir host
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl=self,vader \
    OMPI_MCA_btl_vader_backing_directory=$work/host OMPI_MCA_orte_tmpdir_base=$work/host \
    PRTE_MCA_prte_tmpdir_base=$work/host OMPI_MCA_btl_sm_backing_directory=$work/host

host() { # N ARGUMENTS...
    n=$1
    shift
    set -- "$mpirun" --enable-recovery --oversubscribe --bind-to none -np "$n" \
        -x LD_PRELOAD="$build/lib/libftrma.so" "$@"
    TMPDIR=$work/tmp timeout -k 5 "$CLI_LIMIT" "$@" >out 2>&1 </dev/null
    got=$?
    nothing_left "$*"
}

host 4 "$npb_ft" S # no settings: nothing but 4 ranks
[ $got = 0 ] || fail "a run without settings ended with $got: $(cat out)"
grep -q "4 ranks" out && grep -q "^Verification: SUCCESSFUL" out || fail "a run without settings: $(cat out)"
result=$(grep "^result:" out)

host 6 -x FTRMA_CHECKSUMS=1 -x FTRMA_SPARES=1 "$npb_ft" S
[ $got = 0 ] || fail "a run without failures ended with $got: $(cat out)"
[ "$(grep "^result:" out)" = "$result" ] || fail "a run with a checksum process and a spare: $(cat out)"

# mpirun's own status says little now
host 6 -x FTRMA_CHECKSUMS=1 -x FTRMA_SPARES=1 -x FTRMA_VERBOSE=1 \
    -x FTRMA_INJECT=rank=2,point=safepoint,hit=3 "$npb_ft" S
grep -q "rank 2 failed" out || fail "nobody was killed: $(cat out)"
[ "$(grep "^result:" out)" = "$result" ] || fail "a run with a failure: $(cat out)"

# No loss takes the log of another rank with it: neither that of a neighbour, nor that of slot 0,
# which has made the file of the logs. Each goes back alone, one after the other, and two in setup at
# once.
goes_back_alone() { # HOW-MANY INJECT COMMAND...
    many=$1 inject=$2
    shift 2
    host 9 -x FTRMA_CHECKSUMS=2 -x FTRMA_SPARES=3 -x FTRMA_DEMAND=off -x FTRMA_CHECKPOINT=every:100000 "$@"
    want=$(grep "^result" out)
    [ -n "$want" ] || fail "no result: $(cat out)"
    host 9 -x FTRMA_CHECKSUMS=2 -x FTRMA_SPARES=3 -x FTRMA_DEMAND=off \
        -x FTRMA_CHECKPOINT=every:100000 -x FTRMA_VERBOSE=1 \
        -x "FTRMA_INJECT=$inject" "$@"
    [ "$(grep "^result" out)" = "$want" ] || fail "$inject: another result: $(cat out)"
    n=$(grep -c "is live again" out)
    [ "$n" = "$many" ] || fail "$inject: $n ranks went back alone instead of $many: $(cat out)"
    ! grep -q "all ranks go back\|rollback" out || fail "$inject: all went back: $(cat out)"
}
goes_back_alone 3 "rank=1,point=safepoint,hit=20;rank=0,point=safepoint,hit=23;rank=3,point=safepoint,hit=26" \
    "$build/bin/local_cases" isend_barrier --rounds 60
goes_back_alone 3 "rank=0,point=safepoint,hit=20;rank=3,point=safepoint,hit=50;rank=2,point=safepoint,hit=55" \
    "$build/bin/local_patterns" A --rounds 60
goes_back_alone 2 "rank=0,point=msg.recv.match,hit=5;rank=1,point=msg.recv.match,hit=4" "$build/bin/local_manager"

host 5 -x FTRMA_CHECKSUMS=1 -x FTRMA_SPARES=0 -x FTRMA_INJECT=rank=2,point=safepoint,hit=3 "$npb_ft" S
grep -q 'job lost: .*too few spares are left.*\[no-spare\]$' out || fail "a lost job: $(cat out)"
host 3 -x FTRMA_CHECKSUMS=2 -x FTRMA_SPARES=1 "$npb_ft" S
grep -q "change -n of mpirun" out || fail "more processes of ours than there are: $(cat out)"
host 3 -x FTRMA_DEMAND_AT=101 "$npb_ft" S # the same check as ftrun's
grep -q "FTRMA_DEMAND_AT=101: must be a whole number from 0 to 100" out || fail "a setting out of its range: $(cat out)"
! grep -q "^iteration" out || fail "npb_ft has begun with a bad setting: $(cat out)"
host 3 "$ending" abort 1 7
grep -q "called MPI_Abort(7)" out || fail "MPI_Abort: $(cat out)"

# the same program without the library
"$mpirun" --oversubscribe --bind-to none -np 4 "$npb_ft" S >out 2>&1 </dev/null
[ "$(grep -a "^result:" out)" = "$result" ] || fail "a run without the library: $(cat out)"
done_testing
