#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# fortran.sh - the module ftrma: what it protects comes back, alone and with all ranks; what it
# cannot protect it refuses; the program runs without the library as well. It uses the module mpi;
# examples/heat.f90 uses mpi_f08.
. "$(dirname "$0")/../edges/lib.sh"
kinds=$build/tests/bindings_kinds
[ -x "$kinds" ] || skip "no Fortran compiler"

ends 0 "^result: " "$ftrun" -n 3 "$kinds"
grep '^result' out >want
death="--checkpoint every:10 --inject rank=1,point=safepoint,hit=27"
ends 0 "live: rank 1 is live again" "$ftrun" -n 3 -v $death "$kinds"
grep '^result' out | cmp -s - want || fail "another result after a local recovery: $(cat out)"
# checkpoint 3 may be under way still
ends 0 "resumed from checkpoint [23]" "$ftrun" -n 3 -v --recovery global $death "$kinds"
grep '^result' out | cmp -s - want || fail "another result after a rollback: $(cat out)"
ends 1 "ftrma: FTRMA_Protect: the array is not contiguous" "$ftrun" -n 1 "$kinds" slice

told=$build/tests/bindings_told
ends 0 "^entered: 1" "$ftrun" -n 3 "$told"
grep '^result' out | sort >want_told
ends 0 "^entered: 2" "$ftrun" -n 3 --recovery program --inject rank=1,point=safepoint,hit=27 "$told"
grep '^result' out | sort | cmp -s - want_told || fail "another result where the program was told: $(cat out)"

mpirun=$(command -v mpirun.openmpi || command -v mpirun) || skip "mpirun is not installed"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
"$mpirun" --oversubscribe --bind-to none -n 3 "$kinds" >out 2>&1 </dev/null
grep '^result' out | cmp -s - want || fail "another result under plain mpirun: $(cat out)"
done_testing
