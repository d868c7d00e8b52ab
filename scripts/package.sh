#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# package.sh - builds the Debian package of this tree in a clean Debian, checks it by lintian, and
# uses it in another one:
#
#   package.sh [--release RELEASE] [DIRECTORY]      RELEASE: bookworm (default), trixie. The package
#                                                   is left in DIRECTORY (default: build-package)
#   package.sh --lint [DIRECTORY]                   built and checked here, for the release that this
#                                                   machine has; not used
#   package.sh --help
#
# The package is for the release on which it was built, since it depends on that release's Open MPI.
# In the second Debian root installs it, and a user without privileges compiles the example heat.c
# against it and lets a rank be killed. What the user types is printed. scripts/deps.sh package
# installs what the build needs, scripts/debian.sh says what a clean Debian needs.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)

lint= release=bookworm
while :; do
    case ${1-} in
    -h | --help)
        sed -n '4,/^set/s/^# \{0,1\}//p' "$0"
        exit 0
        ;;
    --lint) lint=1 ;;
    --release)
        [ $# -gt 1 ] || { echo "package.sh: --release needs a release" >&2; exit 2; }
        release=$2
        shift
        ;;
    *) break ;;
    esac
    shift
done
dir=${1:-$here/build-package}
version=$(sed -n 's/^project(ftrma VERSION \([0-9.]*\).*/\1/p' "$here/CMakeLists.txt")
[ "$(dpkg-parsechangelog -l "$here/debian/changelog" -S Version)" = "$version" ] ||
    { echo "package.sh: debian/changelog names another version than CMakeLists.txt ($version)" >&2; exit 1; }

rm -rf "$dir"
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
if [ "$lint" ]; then
    sh "$here/scripts/deps.sh" package
    mkdir "$dir/source"
    tar -C "$here" --exclude='./build*' --exclude=./.git -cf - . | tar -C "$dir/source" -xf -
    (cd "$dir/source" && DEB_BUILD_OPTIONS=noautodbgsym dpkg-buildpackage -b -us -uc >"$dir/log" 2>&1) ||
        { tail -40 "$dir/log" >&2; exit 1; }
    rm -rf "$dir/source"
    lintian --allow-root --display-info --fail-on error,warning "$dir"/ftrma_*.changes
    echo "built $(cd "$dir" && echo *.deb); lintian has no error and no warning"
    exit 0
fi

# The files come out of the clean Debian by its standard output.
"$here/scripts/debian.sh" "$release" sh -eu -c '
    exec 4>&1 >&2
    apt-get update >/tmp/log
    apt-get install -y --no-install-recommends dpkg-dev >/tmp/log 2>&1 || { tail -20 /tmp/log; exit 1; }
    sh /src/scripts/package.sh --lint /tmp/package
    cd /tmp/package
    tar -cf - * >&4' >"$dir/all.tar"
tar -C "$dir" -xf "$dir/all.tar"
rm "$dir/all.tar"

tar -C "$dir" -cf - $(cd "$dir" && echo *.deb) | "$here/scripts/debian.sh" "$release" sh -eu -c '
    cd /tmp
    tar -xf -
    { apt-get update
        apt-get install -y --no-install-recommends ./*.deb g++ gfortran libopenmpi-dev make pkg-config; } >log 2>&1 ||
        { tail -20 log; exit 1; }
    useradd --create-home user
    cat >typed <<"END"
cd
cp /usr/share/doc/ftrma/examples/heat.c .
mpicc $(pkg-config --cflags ftrma) heat.c -o heat $(pkg-config --libs ftrma)
ftrun -n 3 ./heat >plain
cat plain
ftrun -n 3 -v --checkpoint every:500 --inject rank=1,point=rma.fence,hit=2500 ./heat >alone 2>log
grep "rank 1" log
cmp plain alone
ftrun -n 3 -v --checkpoint every:500 --recovery global --inject rank=1,point=rma.fence,hit=2500 ./heat >all 2>log
grep "rollback" log
cmp plain all
mpirun --oversubscribe -n 3 ./heat
cp -r /usr/share/doc/ftrma/examples mine
make -C mine run run_python
END
    su user -c "sh /src/scripts/type.sh /tmp/typed"
    apt-get purge -y ftrma python3-ftrma >log 2>&1
    left=$(find /etc /usr /var -xdev -name "*ftrma*")
    [ -z "$left" ] || { echo "left after purge: $left"; exit 1; }
'
echo "used in a clean $release: a rank was killed, and the result was the same"
