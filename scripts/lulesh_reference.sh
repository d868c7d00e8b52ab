#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# lulesh_reference.sh - builds the reference, LULESH 2.0 of LLNL, with a fixed time step, and
# compares its final origin energy with that of apps/lulesh, for 1 and 8 ranks of 10^3 and 20^3
# elements.
#
#   scripts/lulesh_reference.sh DIR [BUILD_DIR]
#
# DIR has the reference's sources (git clone https://github.com/LLNL/LULESH DIR); its MPI compiler
# is $MPICXX, else mpicxx. A copy is built in DIR/fixed-step, in which two lines differ: dtfixed is
# positive, and so is taken for the time step (the reference itself lets a positive dtfixed keep the
# first step). CYCLES (200) and DT (1.5e-6) may be set; too long a step ends both programs.
set -eu
dir=${1:?usage: scripts/lulesh_reference.sh DIR [BUILD_DIR]}
bin=${2:-build}/bin
cycles=${CYCLES:-200} dt=${DT:-1.5e-6}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

die() {
    echo "lulesh_reference.sh: $*" >&2
    exit 2
}

[ -f "$dir/lulesh-init.cc" ] ||
    die "there are no sources of LULESH in $dir: git clone https://github.com/LLNL/LULESH $dir"
[ -x "$bin/lulesh" ] || die "there is no $bin/lulesh: cmake --build ${2:-build} --target lulesh"
fixed=$dir/fixed-step
mkdir -p "$fixed"
cp "$dir"/lulesh*.cc "$dir"/lulesh*.h "$fixed"
sed -i -e "s/dtfixed() = Real_t(-1.0e-6)/dtfixed() = Real_t($dt)/" \
    -e 's/^\( *\)deltatime() = (Real_t(.5).*$/\1deltatime() = dtfixed();/' "$fixed/lulesh-init.cc"
grep -q "dtfixed() = Real_t($dt)" "$fixed/lulesh-init.cc" &&
    grep -q 'deltatime() = dtfixed();' "$fixed/lulesh-init.cc" ||
    die "lulesh-init.cc is not as expected: the time step could not be fixed"
"${MPICXX:-mpicxx}" -O3 -DUSE_MPI=1 -I"$fixed" "$fixed"/lulesh*.cc -o "$fixed/lulesh"

bad=0
for ranks in 1 8; do
    for size in 10 20; do
        theirs=$(mpirun --oversubscribe -n $ranks "$fixed/lulesh" -s $size -i "$cycles" |
            sed -n 's/.*[Ff]inal [Oo]rigin [Ee]nergy *= *\([0-9.e+-]*\).*/\1/p')
        ours=$(mpirun --oversubscribe -n $ranks "$bin/lulesh" -s $size -i "$cycles" -d "$dt" |
            sed -n 's/^final origin energy: *\([0-9.e+-]*\) .*/\1/p')
        verdict=equal
        [ -n "$theirs" ] && [ "$theirs" = "$ours" ] || verdict=DIFFERENT bad=1
        echo "$ranks ranks of $size^3 elements, $cycles cycles of $dt:" \
            "reference ${theirs:-none}, ours ${ours:-none}: $verdict"
    done
done
exit $bad
