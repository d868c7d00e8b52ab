#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# settings.sh - a setting that is mistyped, its name or its value, is said, with ftrun and without.
. "$(dirname "$0")/lib.sh"
mpirun=$(command -v mpirun.openmpi || command -v mpirun) || skip "mpirun is not installed"
mkdir host
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl=self,vader \
    OMPI_MCA_orte_tmpdir_base="$work/host" OMPI_MCA_btl_vader_backing_directory="$work/host" \
    PRTE_MCA_prte_tmpdir_base="$work/host" OMPI_MCA_btl_sm_backing_directory="$work/host"
plain="$mpirun --enable-recovery --oversubscribe --bind-to none -x LD_PRELOAD=$build/lib/libftrma.so "
fault="there is no setting FTRMA_SPARE; did you mean FTRMA_SPARES"

# the names
ends 0 "^ftrun: warning: $fault" env FTRMA_SPARE=2 "$ftrun" -n 2 "$ending"
says_once "no setting"
ends 0 "^ftrma: warning: $fault" env FTRMA_SPARE=2 $plain -np 2 "$ending"
says_once "no setting"
ends 0 "there is no setting FTRMA_UNHEARD_OF ('ftrun --help-settings' lists all)" \
    env FTRMA_UNHEARD_OF=1 "$ftrun" -n 2 "$ending"
ends 0 "" env FTRMA_TEST_ANYTHING=1 FTRMA_SPARES= "$ftrun" -n 2 "$ending"
! grep -q "warning" out || fail "there was nothing to warn of: $(cat out)"

# the values, of every setting; mpirun's status means nothing
names=$("$ftrun" --help-settings | sed -n 's/^\(FTRMA_[A-Z_]*\).*/\1/p')
for name in $names; do
    case $name in
    # what the library says to itself, and what only a rehearsal reads
    FTRMA_REHEARSAL | FTRMA_HOST_NAMES | FTRMA_TEST_*) continue ;;
    FTRMA_AGENT_LOG) continue ;; # any name of a file is good
    esac
    for way in "$ftrun -n 1" "$plain -np 1"; do
        [ "$name $way" != "FTRMA_BOARD $ftrun -n 1" ] || continue # which is ftrun's own
        [ "$name $way" != "FTRMA_WIRE_FAULTS $plain -np 1" ] || continue # of links between nodes: here are none
        TMPDIR=$work/tmp timeout -k 5 "$CLI_LIMIT" env "$name=no such typo" $way "$ending" >out 2>&1 </dev/null
        grep -q "^ftr.*: .*\($name\|no such typo\)" out || fail "$name: a bad value was not said by $way: $(cat out)"
        ! grep -q "sum over" out || fail "$name: a bad value was said by $way, but the program ran: $(cat out)"
    done
done
ends 0 "nowhere/x.0 (FTRMA_AGENT_LOG) cannot be written: No such file" \
    env FTRMA_AGENT_LOG=nowhere/x "$ftrun" -n 1 "$ending"
nothing_left "bad values"
done_testing
