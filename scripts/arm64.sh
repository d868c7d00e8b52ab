#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# arm64.sh - builds this tree for arm64 with a cross compiler, and runs it under qemu-user in a
# Debian made by debootstrap:
#
#   arm64.sh [--build] [DIRECTORY] [CTEST ARGUMENTS ...]     (default: /var/tmp/ftrma-arm64; made once, used again)
#   arm64.sh --help
#
# Without CTEST ARGUMENTS: the unit tests that qemu-user can run, then NAS FT with a rank killed,
# and without, by ftrun; the results must be the same. --build: all is compiled, nothing is run.
# Slow: an emulated process takes some ten times as long.
#
# Needs root, the packages that it names if they are missing, and a network for the first time: the
# mirror that apt uses here, or FTRMA_MIRROR. Programs of arm64 are started by binfmt_misc: as the
# system has it (qemu-user-static registers it where there is systemd or binfmt-support), or, from
# Linux 6.7 on, in a user namespace of its own. Mounts live in a namespace and go with it.
#
# What qemu-user shows is that the code for arm64 is right, not the order of memory accesses: it
# gives that of the machine below. Nor does it show pages of 16 or 64 KiB.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
self=$here/scripts/$(basename "$0")
triplet=aarch64-linux-gnu
qemu=/usr/bin/qemu-aarch64-static
# PR_SET_CHILD_SUBREAPER; and what starts and kills processes by the hundred, for longer than the
# tests' watchdogs wait
not_emulated='unit\.(launch\.test_children|alog\.test_chan|alog\.test_homelog)$'

fail() {
    echo "arm64.sh: $*" >&2
    exit 1
}

# --- inside the namespaces: $dir/root is mounted and entered ---

mounts() {
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount --rbind /dev "$root/dev"
    mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
    mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
    for d in "$here" "$dir/build"; do # where they are outside: the build's files name them
        mkdir -p "$root$d"
        mount --bind "$d" "$root$d"
    done
    mount -o remount,bind,ro "$root$here" 2>/dev/null || :
}

# ELF, 64 bits, of machine 183. F: opened here, so that it need not be in the tree.
register() {
    mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc ||
        fail "programs of arm64 cannot be started: Linux 6.7 is wanted," \
            "or: apt-get install binfmt-support qemu-user-static"
    printf '%s%s%s\n' ':qemu-aarch64:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00' \
        ':\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff' ":$qemu:FOC" \
        >/proc/sys/fs/binfmt_misc/register
}

in_root() {
    $as chroot "$root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        HOME=/root LC_ALL=C DEBIAN_FRONTEND=noninteractive \
        OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 FTRMA_PING_TIMEOUT_MS=0 "$@"
}

if [ "${FTRMA_ARM64_STEP-}" ]; then
    dir=$1 root=$1/root as=
    shift
    [ -e /proc/sys/fs/binfmt_misc/qemu-aarch64 ] || register
    mounts
    case $FTRMA_ARM64_STEP in
    install)
        # container: it makes no device nodes, which are those of the machine
        [ ! -d "$root/debootstrap" ] || in_root container=lxc /debootstrap/debootstrap --second-stage
        in_root apt-get update
        # shellcheck disable=SC2086
        in_root apt-get install -y --no-install-recommends $*
        ;;
    # in the place of this shell, the first process of its pid namespace: what is left dies with it
    run) as=exec in_root "$@" ;;
    esac
    exit
fi

# step NAME ARGUMENTS...: this script again, as above
step() {
    what=$1
    shift
    if [ -e /proc/sys/fs/binfmt_misc/qemu-aarch64 ]; then
        FTRMA_ARM64_STEP=$what unshare --mount --pid --fork --kill-child "$self" "$dir" "$@"
        return
    fi
    # A user namespace in which all users are those outside. Its map is written from outside, then
    # it begins.
    fifo=$dir/begin
    rm -f "$fifo"
    mkfifo "$fifo"
    FTRMA_ARM64_STEP=$what unshare --user sh -c 'read -r go <"$0"
        exec setpriv --reuid 0 --regid 0 --clear-groups \
            unshare --mount --pid --fork --kill-child "$@"' "$fifo" "$self" "$dir" "$@" &
    child=$!
    while [ "$(readlink /proc/$child/ns/user)" = "$(readlink /proc/self/ns/user)" ]; do
        kill -0 $child 2>/dev/null || fail "no user namespace"
        sleep 0.1
    done
    echo 0 0 65536 >/proc/$child/uid_map
    echo 0 0 65536 >/proc/$child/gid_map
    echo go >"$fifo"
    status=0
    wait $child || status=$?
    return $status
}

# --- outside ---

only_build=0
case "${1-}" in
-h | --help)
    sed -n '4,/^set/s/^# \{0,1\}//p' "$self"
    exit 0
    ;;
--build)
    only_build=1
    shift
    ;;
esac
dir=${1:-/var/tmp/ftrma-arm64}
[ $# -eq 0 ] || shift
root=$dir/root

[ "$(id -u)" = 0 ] || fail "this needs root (chroot and mounts)"
missing=
for p in debootstrap gcc-$triplet g++-$triplet qemu-user-static cmake ninja-build pkg-config; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null)" = installed ] ||
        { [ "$p" = pkg-config ] && command -v pkg-config >/dev/null; } || missing="$missing $p"
done
[ -z "$missing" ] || fail "packages are missing: apt-get install -y --no-install-recommends$missing"

mkdir -p "$dir/build"
if [ ! -f "$dir/made" ]; then
    rm -rf "$root"
    # the release of this machine, whose cross compiler and C library then fit
    release=$(. /etc/os-release && echo "$VERSION_CODENAME")
    mirror=${FTRMA_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' "Codename: $release" | head -n 1)}
    [ "$mirror" ] || fail "apt knows no mirror of Debian $release: name one by FTRMA_MIRROR"
    echo "making a Debian $release for arm64 in $root, from $mirror"
    debootstrap --arch=arm64 --foreign --variant=minbase "$release" "$root" "$mirror" \
        >"$dir/log" 2>&1 || { tail -5 "$dir/log" >&2; exit 1; }
    echo "deb $mirror $release main" >"$dir/sources"
    cp "$dir/sources" "$root/etc/apt/sources.list"
    step install libc6-dev libopenmpi-dev openmpi-bin libisal-dev libfftw3-dev libcjson-dev \
        libxxhash-dev libcmocka-dev cmake make jq procps >>"$dir/log" 2>&1 ||
        { tail -5 "$dir/log" >&2; exit 1; }
    touch "$dir/made"
fi

cat >"$dir/toolchain.cmake" <<END
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_SYSROOT $root)
set(CMAKE_C_COMPILER $triplet-gcc)
set(CMAKE_CXX_COMPILER $triplet-g++)
set(CMAKE_Fortran_COMPILER NOTFOUND)
set(CMAKE_LIBRARY_ARCHITECTURE $triplet)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} $root)
set(ENV{PKG_CONFIG_LIBDIR} $root/usr/lib/$triplet/pkgconfig:$root/usr/share/pkgconfig)
END
# The MPI wrapper compiler of arm64 would run under qemu: told by hand what it says.
mpi=$root/usr/lib/$triplet/openmpi
cmake -S "$here" -B "$dir/build" -G Ninja -DBUILD_TESTING=ON -DFTRMA_WERROR=ON \
    -DCMAKE_TOOLCHAIN_FILE="$dir/toolchain.cmake" -DMPI_C_LIB_NAMES=mpi \
    -DMPI_mpi_LIBRARY="$mpi/lib/libmpi.so" -DMPI_C_HEADER_DIR="$mpi/include" \
    >"$dir/build.log" 2>&1 || { cat "$dir/build.log"; exit 1; }
cmake --build "$dir/build" -- -k 0 >>"$dir/build.log" 2>&1 || { grep -E "error|FAILED" "$dir/build.log"; exit 1; }
echo "built: $(file -bL "$dir/build/lib/libftrma.so" 2>/dev/null || echo "$dir/build/lib/libftrma.so")"
[ $only_build = 0 ] || exit 0

if [ $# -gt 0 ]; then
    step run ctest --test-dir "$dir/build" --parallel 2 --output-on-failure --no-tests=error "$@"
    exit
fi
step run ctest --test-dir "$dir/build" --parallel 2 --output-on-failure --no-tests=error -R '^unit\.' -E "$not_emulated"
bin=$dir/build/bin
# Orphans come to the first process of a pid namespace, which ftrun is here: the call by which it
# asks for them is to succeed.
cat >"$dir/prctl.c" <<'END'
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int prctl(int option, ...)
{
    unsigned long a[4];
    va_list ap;
    va_start(ap, option);
    for (int i = 0; i < 4; i++)
        a[i] = va_arg(ap, unsigned long);
    va_end(ap);
    return option == PR_SET_CHILD_SUBREAPER ? 0 : (int)syscall(SYS_prctl, option, a[0], a[1], a[2], a[3]);
}
END
$triplet-gcc -shared -fPIC "$dir/prctl.c" -o "$dir/build/prctl.so"
rm -f "$dir/results.new"
for inject in "" "--inject rank=2,point=safepoint,hit=3"; do
    # shellcheck disable=SC2086
    step run LD_PRELOAD="$dir/build/prctl.so" "$bin/ftrun" -n 4 -v --checkpoint every:2 $inject \
        "$bin/npb_ft" S >"$dir/job.log" 2>&1 || { cat "$dir/job.log"; exit 1; }
    cat "$dir/job.log"
    grep '^result:' "$dir/job.log" >>"$dir/results.new"
done
[ "$(sort -u "$dir/results.new" | wc -l)" = 1 ] || fail "the results differ: $(cat "$dir/results.new")"
rm "$dir/results.new"
