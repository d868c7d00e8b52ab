#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# debian13.sh - builds and tests this tree on Debian 13 with its Open MPI 5, inside a directory made by debootstrap:
#
#   debian13.sh [DIRECTORY] [CTEST ARGUMENTS ...]      (default: /var/tmp/ftrma-debian13; made once, used again)
#   FTRMA_ULFM=1 debian13.sh ...                       the same with mpirun's --with-ft ulfm
#   debian13.sh --help
#
# Needs root, debootstrap, a network for the first time, and 2 GB. Mounts, processes and what they leave in /dev/shm and /tmp
# are in namespaces of their own and go with them, also after an interrupt (apt ends its installation first); a Debian that was
# half made is made anew the next time. DIRECTORY may be removed when nothing runs. One run at a time in a DIRECTORY.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
self=$here/scripts/$(basename "$0")

fail() {
    echo "debian13.sh: $*" >&2
    exit 1
}

dir=/var/tmp/ftrma-debian13
case ${1-} in
-h | --help)
    sed -n '4,/^set/s/^# \{0,1\}//p' "$self"
    exit 0
    ;;
'' | -*) ;; # ctest's
*)
    dir=$1
    shift
    ;;
esac

if [ "${FTRMA_IN_NAMESPACE-}" != 1 ]; then
    [ "$(id -u)" = 0 ] || fail "this needs root (chroot and mounts)"
    command -v debootstrap >/dev/null || fail "debootstrap is missing: apt-get install debootstrap"
    # --fork: a pid namespace, so that whatever a job leaves dies with it
    FTRMA_IN_NAMESPACE=1 exec unshare --mount --pid --fork --kill-child "$self" "$dir" "$@"
fi
trap 'exit 130' INT # the first process of a pid namespace is not interrupted otherwise

root=$dir/root
if [ ! -f "$dir/made" ]; then
    mkdir -p "$dir"
    [ -f "$dir/log" ] || [ -z "$(ls -A "$dir")" ] || fail "$dir holds something that this script has not made"
    : >"$dir/log"
    rm -rf "$root"
    echo "making a Debian 13 in $root"
    debootstrap --variant=minbase trixie "$root" >"$dir/log" 2>&1 || { tail -5 "$dir/log" >&2; exit 1; }
    touch "$dir/made"
fi
mount --bind "$root" "$root" # a mount point: or else the tests could make no mount namespaces in it
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
mkdir -p "$root/src" "$root/build"
mount --bind "$here" "$root/src"
mount -o remount,bind,ro "$root/src"
export DEBIAN_FRONTEND=noninteractive LC_ALL=C PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
unset OMPI_MCA_btl MAKEFLAGS TMPDIR FTRMA_IN_NAMESPACE || :
chroot "$root" dpkg --configure -a # it was interrupted
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
    unset FTRMA_ULFM
    mpirun --version | head -1
    cmake -S /src -B /build -G Ninja -DBUILD_TESTING=ON -DFTRMA_WERROR=ON >/build.log || { cat /build.log; exit 1; }
    cmake --build /build -- -k 0 >>/build.log || { grep -E "error|FAILED" /build.log; exit 1; }
    ctest --test-dir /build --parallel 2 --output-on-failure --no-tests=error "$@"' sh "$@"
