#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# examples.sh - the installed examples as a stranger would build them, by their Makefile and by
# their CMakeLists.txt: each prints the same result with a rank killed, and kv survives a rehearsal.
# The guide shows just what heat.c adds to plain.c.
. "$(dirname "$0")/../edges/lib.sh"
cmake --install "$build" --prefix "$work/prefix" >log || fail "no installation: $(cat log)"
export PATH="$work/prefix/bin:$PATH" ftrun="$work/prefix/bin/ftrun" PYTHONDONTWRITEBYTECODE=1
PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name ftrma.pc)")
export PKG_CONFIG_PATH
cp -r "$work/prefix/share/doc/ftrma/examples" mine
mpi() { command -v "$1.openmpi" || command -v "$1"; }
mpicc=$(mpi mpicc) || skip "no mpicc"
programs="plain heat kv told"
[ -z "$(command -v g++)" ] || programs="$programs heat_cpp"
[ -z "$(command -v gfortran)" ] || programs="$programs heat_f90"
# shellcheck disable=SC2086
make -C mine MPICC="$mpicc" MPICXX="$(mpi mpicxx)" MPIFC="$(mpi mpifort)" $programs >log 2>&1 || fail "make: $(cat log)"
! grep -i warning log || fail "the examples do not compile quietly"

result() { grep '^result: ' out; }
# kills RESULT COMMAND...: it prints RESULT with a rank killed, too
kills() {
    right=$1
    shift
    ends 0 "live: rank 1 is live again" \
        "$ftrun" -n 3 -v --checkpoint every:40 --inject rank=1,point=safepoint,hit=100 "$@"
    [ "$(result)" = "$right" ] || fail "another result than '$right' after a death: $(cat out)"
}
ends 0 "^result: " "$ftrun" -n 3 mine/plain
heat=$(result)
for p in heat heat_cpp heat_f90; do # the same arithmetic
    [ ! -x mine/$p ] || kills "$heat" mine/$p
done
ends 0 "^result: " "$ftrun" -n 3 mine/kv
kv=$(result)
kills "$kv" mine/kv
ends 0 "3 deaths: same output" "$ftrun" -n 3 --rehearse mine/kv
ends 0 "^repaired: 0" "$ftrun" -n 3 mine/told
told=$(result)
for v in 0 1; do # repaired by itself: once, and again
    ends 0 "^repaired: 1" "$ftrun" -n 3 --recovery program --inject rank=$v,point=coll.enter,hit=120 mine/told
    [ "$(result)" = "$told" ] || fail "another result than '$told' after a repair: $(cat out)"
done
ends 0 "^repaired: [12]" "$ftrun" -n 3 --spares 2 --recovery program --inject rank=2,point=msg.recv.copied,hit=300 \
    --inject rank=0,point=coll.enter,hit=200 mine/told
[ "$(result)" = "$told" ] || fail "another result than '$told' after two repairs: $(cat out)"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
"$(mpi mpirun)" --oversubscribe --bind-to none --mca osc ^rdma -n 3 mine/kv >out 2>&1 </dev/null
[ "$(result)" = "$kv" ] || fail "another result under plain mpirun: $(cat out)"

for python in /usr/bin/python3 "$(command -v python3)" ''; do # the system's first: Debian's mpi4py is its
    [ -n "$python" ] || break
    ! "$python" -c 'import mpi4py, numpy' 2>/dev/null || break
done
if [ -n "$python" ]; then
    PYTHONPATH=$(pkg-config --variable=python ftrma)
    export PYTHONPATH
    ends 0 "^result: " "$ftrun" -n 3 "$python" mine/heat.py
    kills "$(result)" "$python" mine/heat.py
fi

if [ -x mine/heat_f90 ] && [ -x mine/heat_cpp ]; then
    cmake -S mine -B by_cmake -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" -DMPI_C_COMPILER="$mpicc" \
        -DMPI_CXX_COMPILER="$(mpi mpicxx)" -DMPI_Fortran_COMPILER="$(mpi mpifort)" >log 2>&1 &&
        cmake --build by_cmake --target heat_cpp heat_f90 >log 2>&1 || fail "cmake: $(cat log)"
    ends 0 "$heat" "$ftrun" -n 3 by_cmake/heat_f90
fi

# every line of the difference is in the guide, in its order
diff -u mine/plain.c mine/heat.c | sed 1,2d >added
sed -n '/^```diff/,/^```$/p' "$here/../../docs/GUIDE.md" | grep -v '^```' | sed 1,2d >shown
cmp -s added shown || fail "docs/GUIDE.md shows another difference than $(diff added shown)"
done_testing
