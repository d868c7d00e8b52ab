#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# install.sh SOURCE BUILD - installs BUILD into a temporary prefix and moves the tree; a small
# project finds it there by pkg-config and by CMake's find_package, is built, and runs under the
# installed ftrun with a failure, under ftrun's library and mpirun, and under mpirun alone. Then
# what an installation needs is configured where there is neither FFTW nor cmocka, and no warning is
# an error.
set -eu
project=$1/tests/install/project
build=$2
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
fail() {
    echo "FAILED: $*"
    exit 1
}

cmake --install "$build" --prefix "$root/first" >"$root/log" || fail "$(cat "$root/log")"
prefix=$root/moved
mv "$root/first" "$prefix"
for f in bin/ftrun bin/ftrma-dump bin/ftrma-model bin/ftrma-timeline bin/ftrma-sim bin/ftrma-sim-job \
    bin/ftrma-sim-nodes bin/ftrma-sim-large include/ftrma.h include/ftrma_transport.h share/man/man1/ftrun.1 \
    share/man/man3/FTRMA_Run.3 share/man/man5/ftrma-domains.5 \
    share/man/man7/ftrma.7 share/doc/ftrma/docs/GUIDE.md; do
    [ -e "$prefix/$f" ] || fail "$f was not installed"
done
# `make install` builds the target `installed` and nothing else.
ninja -C "$build" -t commands installed >"$root/built"
for f in $(cd "$prefix" && find bin lib* -type f \( -path 'bin/*' -o -name '*.so' -o -name ftrma-process \)); do
    grep -q -e "-o [a-z]*/${f##*/} " "$root/built" || fail "the target installed does not build $f"
done
grep -rI -e "$root/first" -e "$1" "$prefix" >"$root/log" &&
    fail "an installed text names a place of the build: $(cat "$root/log")"
pc=$(find "$prefix" -name ftrma.pc)
export PKG_CONFIG_PATH="${pc%/*}"
preload=$(pkg-config --variable=preload ftrma)
[ -f "$preload" ] || fail "pkg-config's preload is $preload, which is no file"
mpirun=$(command -v mpirun.openmpi || command -v mpirun)

good() { # COMMAND...: it prints the right sum
    "$@" >"$root/out" 2>&1 </dev/null && grep -qx "sum 60, expected 60" "$root/out" || fail "$*: $(cat "$root/out")"
}

# run BINARY: as it is, and through a failure
run() {
    good "$prefix/bin/ftrun" -n 3 "$1"
    good "$prefix/bin/ftrun" -v -n 3 --inject rank=1,point=safepoint,hit=4 "$1"
    grep -q "rank 1 failed" "$root/out" || fail "$1 did not lose rank 1: $(cat "$root/out")"
    echo "ran $1"
}

mpicc=$(command -v mpicc.openmpi || command -v mpicc)
# shellcheck disable=SC2046
"$mpicc" -Wall -Wextra -Werror -o "$root/by_pkg_config" "$project/user.c" $(pkg-config --cflags --libs ftrma)
[ "$(pkg-config --modversion ftrma)" = "$("$prefix/bin/ftrun" --version | sed 's/.* //')" ]
run "$root/by_pkg_config"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
good "$mpirun" --oversubscribe -n 3 "$root/by_pkg_config"
good "$mpirun" --enable-recovery --oversubscribe -n 5 -x FTRMA_CHECKSUMS=1 -x FTRMA_SPARES=1 -x LD_PRELOAD="$preload" \
    "$root/by_pkg_config"

cmake -S "$project" -B "$root/project" -DCMAKE_PREFIX_PATH="$prefix" -DMPI_C_COMPILER="$mpicc" >"$root/log" 2>&1 &&
    cmake --build "$root/project" >"$root/log" 2>&1 || fail "$(cat "$root/log")"
run "$root/project/user"

# The tests' libraries are hidden: only what is installed may be asked for.
mkdir "$root/pc"
for p in libisal libcjson libxxhash \
    $(pkg-config --print-requires --print-requires-private libisal libcjson libxxhash | sed 's/ .*//'); do
    ln -s "$(pkg-config --variable=pcfiledir "$p")/$p.pc" "$root/pc/"
done
PKG_CONFIG_PATH='' PKG_CONFIG_LIBDIR=$root/pc cmake -S "$1" -B "$root/lean" -G Ninja -DBUILD_TESTING=OFF \
    -DMPI_C_COMPILER="$mpicc" >"$root/log" 2>&1 || fail "without FFTW and tests: $(cat "$root/log")"
grep -q "There is no FFTW" "$root/log" || fail "FFTW was found where it is not: $(cat "$root/log")"
ninja -C "$root/lean" -t commands all | grep -e -Werror -e '/apps/' -e '/bench/' &&
    fail "all builds more than is installed, or by -Werror"
echo "configured without FFTW and tests"
