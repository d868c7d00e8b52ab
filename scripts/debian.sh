#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# debian.sh - runs a command in a clean Debian of a release:
#
#   debian.sh [--keep DIRECTORY] RELEASE COMMAND [ARGUMENTS ...]      RELEASE: bookworm, trixie
#   debian.sh --help
#
# COMMAND runs as root in a minimal Debian with this tree at /src, which cannot be written to. What
# it installs and writes is thrown away when it ends, unless DIRECTORY keeps it for the next time.
# The minimal Debian is made by debootstrap, once, in FTRMA_DEBIAN (default: /var/tmp/ftrma-debian).
# FTRMA_MIRROR names another mirror.
#
# Needs root, debootstrap, overlayfs, a network, and 2 GB. Mounts, processes and what they leave in
# /dev/shm and /tmp are in namespaces of their own and go with them, also after an interrupt (apt
# ends its installation first). One run at a time in a DIRECTORY.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
self=$here/scripts/$(basename "$0")

fail() {
    echo "debian.sh: $*" >&2
    exit 1
}

keep=
case ${1-} in
-h | --help)
    sed -n '4,/^set/s/^# \{0,1\}//p' "$self"
    exit 0
    ;;
--keep)
    [ $# -gt 3 ] || fail "--keep needs a directory, a release and a command"
    keep=$2
    shift 2
    ;;
esac
[ $# -ge 2 ] || fail "usage: debian.sh [--keep DIRECTORY] RELEASE COMMAND [ARGUMENTS ...]"
release=$1
base=${FTRMA_DEBIAN:-/var/tmp/ftrma-debian}/$release

if [ "${FTRMA_IN_NAMESPACE-}" != 1 ]; then
    [ "$(id -u)" = 0 ] || fail "this needs root (chroot and mounts)"
    command -v debootstrap >/dev/null || fail "debootstrap is missing: apt-get install debootstrap"
    mkdir -p "$base"
    # One at a time makes a Debian. What was half made is removed.
    (
        flock 9
        [ ! -f "$base/made" ] || exit 0
        rm -rf "$base/root"
        echo "making a Debian $release in $base/root" >&2
        debootstrap --variant=minbase "$release" "$base/root" ${FTRMA_MIRROR:+"$FTRMA_MIRROR"} >"$base/log" 2>&1 ||
            { tail -5 "$base/log" >&2; exit 1; }
        touch "$base/made"
    ) 9>"$base/lock"
    changes=${keep:-$(mktemp -d /var/tmp/ftrma-run.XXXXXX)}
    [ "$keep" ] || trap 'rm -rf "$changes"' EXIT
    trap 'exit 130' INT TERM
    mkdir -p "$changes"
    [ -d "$changes/upper" ] || [ -z "$(ls -A "$changes")" ] ||
        fail "$changes holds something that this script has not made"
    exec 9>"$changes/lock"
    flock -n 9 || fail "another run uses $changes"
    # --fork: a pid namespace, so that whatever a job leaves dies with it
    status=0
    FTRMA_IN_NAMESPACE=1 FTRMA_CHANGES=$changes unshare --mount --pid --fork --kill-child "$self" "$@" 9>&- || status=$?
    exit $status
fi
trap 'exit 130' INT # the first process of a pid namespace is not interrupted otherwise

changes=$FTRMA_CHANGES root=$changes/root
shift
mkdir -p "$root" "$changes/upper" "$changes/work"
mount -t overlay overlay -o "lowerdir=$base/root,upperdir=$changes/upper,workdir=$changes/work" "$root"
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
mkdir -p "$root/src"
mount --bind "$here" "$root/src"
mount -o remount,bind,ro "$root/src"
cp /etc/resolv.conf /etc/hosts "$root/etc/" # without them Open MPI waits for its own name
within() { # the environment is clean, too
    chroot "$root" env -i DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 HOME=/root TERM=dumb \
        ${http_proxy:+"http_proxy=$http_proxy"} ${https_proxy:+"https_proxy=$https_proxy"} \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}
within dpkg --configure -a # it was interrupted
within "$@"
