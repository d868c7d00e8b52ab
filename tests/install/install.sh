#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# install.sh SOURCE BUILD - installs BUILD below a temporary root; a small project finds it there by pkg-config and by CMake's
# find_package, is built, and runs under the installed ftrun, with a failure.
set -eu
project=$1/tests/install/project
build=$2
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

DESTDIR=$root/root cmake --install "$build" >"$root/log" || { cat "$root/log"; exit 1; }
prefix=$root/root$(sed -n 's/^CMAKE_INSTALL_PREFIX:PATH=//p' "$build/CMakeCache.txt")
for f in bin/ftrun bin/ftrma-dump bin/ftrma-model bin/ftrma-sim bin/ftrma-sim-job bin/ftrma-sim-large include/ftrma.h \
    share/man/man1/ftrun.1 share/man/man1/ftrma-dump.1 share/man/man1/ftrma-model.1 share/man/man1/ftrma-sim.1 \
    share/man/man5/ftrma-domains.5; do
    [ -e "$prefix/$f" ] || { echo "FAILED: $f was not installed"; exit 1; }
done
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name ftrma.pc)")
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR="$root/root" PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1

# run BINARY: as it is, and through a failure
run() {
    "$prefix/bin/ftrun" -n 3 "$1" >"$root/out" 2>&1 </dev/null && grep -qx "sum 60, expected 60" "$root/out" ||
        { echo "FAILED: $1: $(cat "$root/out")"; exit 1; }
    "$prefix/bin/ftrun" -v -n 3 --inject rank=1,point=safepoint,hit=4 "$1" >"$root/out" 2>&1 </dev/null &&
        grep -qx "sum 60, expected 60" "$root/out" && grep -q "rank 1 failed" "$root/out" ||
        { echo "FAILED: $1 with a failure: $(cat "$root/out")"; exit 1; }
    echo "ran $1"
}

mpicc=$(command -v mpicc.openmpi || command -v mpicc)
# shellcheck disable=SC2046
"$mpicc" -Wall -Wextra -Werror -o "$root/by_pkg_config" "$project/user.c" $(pkg-config --cflags --libs ftrma)
[ "$(pkg-config --modversion ftrma)" = "$("$prefix/bin/ftrun" --version | sed 's/.* //')" ]
run "$root/by_pkg_config"

cmake -S "$project" -B "$root/project" -DCMAKE_PREFIX_PATH="$prefix" -DMPI_C_COMPILER="$mpicc" >"$root/log" 2>&1 &&
    cmake --build "$root/project" >"$root/log" 2>&1 || { cat "$root/log"; exit 1; }
run "$root/project/linked"
run "$root/project/unlinked"
