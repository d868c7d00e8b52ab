#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# deps.sh - installs what is missing of the Debian packages that are needed:
#
#   deps.sh install   to build and install the library, ftrun and the tools
#   deps.sh run       to build the applications too
#   deps.sh test      to build and run the tests too
#   deps.sh browser   to run the test that looks at ftrma-timeline's page in a browser; without it that test is skipped
#   deps.sh cluster   to run the tests of jobs in a real Slurm and over a real sshd; without it they are skipped
#   deps.sh check     for the sanitizers' builds and the static checks too
#   deps.sh package   to build and check the Debian package
#   deps.sh coverage  to measure which lines the tests run
#   deps.sh docs      to make the HTML site of the documents
#
# Installs only as root or with sudo; otherwise it prints the line that does, and fails.
set -eu

install="gcc libc6-dev make cmake ninja-build pkg-config"
install="$install libopenmpi-dev openmpi-bin libpmix-dev libisal-dev libcjson-dev libxxhash-dev"
run="libfftw3-dev"
test="libcmocka-dev g++ gfortran jq procps iproute2 util-linux python3-mpi4py python3-numpy gnuplot-nox"
browser="chromium"
cluster="slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge openssh-server openssh-client"
check="clang clang-tidy clang-format"
package="build-essential debhelper dh-python dpkg-dev lintian python3"
coverage="gcovr python3"
docs="mkdocs mandoc python3"
case "${1-}" in
install) want=$install ;;
run) want="$install $run" ;;
test) want="$install $run $test" ;;
browser) want=$browser ;;
cluster) want=$cluster ;;
check) want="$install $run $test $check" ;;
package) want="$install $package" ;;
coverage) want="$install $run $test $coverage" ;;
docs) want=$docs ;;
*) echo "usage: deps.sh install|run|test|browser|cluster|check|package|coverage|docs" >&2; exit 2 ;;
esac

if ! command -v dpkg-query >/dev/null; then
    echo "deps.sh: this is not Debian: make sure of what these packages of Debian 12 hold: $want" >&2
    exit 0
fi

missing=
for p in $want; do
    # pkgconf provides pkg-config on newer releases
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null)" = installed ] ||
        { [ "$p" = pkg-config ] && command -v pkg-config >/dev/null; } || missing="$missing $p"
done
[ -n "$missing" ] || exit 0

line="apt-get install -y --no-install-recommends$missing"
if [ "$(id -u)" = 0 ]; then
    as=
elif command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
    as="sudo"
else
    echo "Packages are missing. As root:  apt-get update && $line" >&2
    exit 1
fi

export DEBIAN_FRONTEND=noninteractive
echo "installing:$missing"
# shellcheck disable=SC2086
$as $line </dev/null >/dev/null 2>&1 || { $as apt-get update </dev/null && $as $line </dev/null; } || {
    echo "The packages could not be installed. As root, with a network:  apt-get update && $line" >&2
    exit 1
}
