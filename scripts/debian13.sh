#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# debian13.sh - builds and tests this tree on Debian 13 with its Open MPI 5, inside a directory made by debootstrap:
#
#   debian13.sh [DIRECTORY] [CTEST ARGUMENTS ...]      (default: /var/tmp/ftrma-debian13; made once, used again)
#   FTRMA_ULFM=1 debian13.sh ...                       the same with mpirun's --with-ft ulfm
#
# Needs root, debootstrap and a network for the first time. Mounts live in a namespace of their own and go with it.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
dir=${1:-/var/tmp/ftrma-debian13}
[ $# -eq 0 ] || shift

if [ "${FTRMA_IN_NAMESPACE-}" != 1 ]; then
    [ "$(id -u)" = 0 ] || { echo "debian13.sh: this needs root (chroot and mounts)" >&2; exit 1; }
    command -v debootstrap >/dev/null || { echo "debian13.sh: debootstrap is missing: apt-get install debootstrap" >&2; exit 1; }
    # --fork: a pid namespace, so that whatever a job leaves dies with it
    FTRMA_IN_NAMESPACE=1 exec unshare --mount --pid --fork --kill-child "$0" "$dir" "$@"
fi

if [ ! -f "$dir/made" ]; then
    rm -rf "$dir"
    mkdir -p "$dir"
    debootstrap --variant=minbase trixie "$dir/root" >"$dir/log" 2>&1 || { tail -5 "$dir/log" >&2; exit 1; }
    touch "$dir/made"
fi
root=$dir/root
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
mkdir -p "$root/src" "$root/build"
mount --bind "$here" "$root/src"
mount -o remount,bind,ro "$root/src"
export DEBIAN_FRONTEND=noninteractive LC_ALL=C PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
unset OMPI_MCA_btl MAKEFLAGS || :
chroot "$root" sh /src/scripts/deps.sh test
chroot "$root" sh -eu -c '
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    if [ "${FTRMA_ULFM-}" = 1 ]; then
        mkdir -p /tmp/ulfm
        for m in mpirun mpirun.openmpi; do
            printf "#!/bin/sh\nexec /usr/bin/%s --with-ft ulfm \"\$@\"\n" $m >/tmp/ulfm/$m
        done
        chmod +x /tmp/ulfm/*
        PATH=/tmp/ulfm:$PATH
    fi
    mpirun --version | head -1
    cmake -S /src -B /build -G Ninja -DBUILD_TESTING=ON >/build.log || { cat /build.log; exit 1; }
    cmake --build /build -- -k 0 >>/build.log || { grep -E "error|FAILED" /build.log; exit 1; }
    ctest --test-dir /build --parallel 2 --output-on-failure --no-tests=error "$@"' sh "$@"
