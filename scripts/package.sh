#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# package.sh - builds the Debian package of this tree, checks it by lintian, and uses it in a clean Debian 12:
#
#   package.sh [--lint] [DIRECTORY]      the package is left in DIRECTORY (default: build-package)
#                                        --lint: it is not used
#   package.sh --help
#
# The package is for the release on which it was built, since it depends on that release's Open MPI; so it is used where
# that is Debian 12. There root installs it, and a user without privileges compiles the example heat.c against it and
# lets a rank be killed. What the user types is printed. scripts/deps.sh package installs what the build needs,
# scripts/debian.sh says what the clean Debian needs.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)

use=1
case ${1-} in
-h | --help)
    sed -n '4,/^set/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
--lint)
    use=0
    shift
    ;;
esac
dir=${1:-$here/build-package}
version=$(sed -n 's/^project(ftrma VERSION \([0-9.]*\).*/\1/p' "$here/CMakeLists.txt")
[ "$(dpkg-parsechangelog -l "$here/debian/changelog" -S Version)" = "$version" ] ||
    { echo "package.sh: debian/changelog names another version than CMakeLists.txt ($version)" >&2; exit 1; }

sh "$here/scripts/deps.sh" package
rm -rf "$dir"
mkdir -p "$dir/source"
dir=$(cd "$dir" && pwd)
tar -C "$here" --exclude='./build*' --exclude=./.git -cf - . | tar -C "$dir/source" -xf -
(cd "$dir/source" && DEB_BUILD_OPTIONS=noautodbgsym dpkg-buildpackage -b -us -uc >"$dir/log" 2>&1) ||
    { tail -40 "$dir/log" >&2; exit 1; }
rm -rf "$dir/source"
lintian --allow-root --display-info --fail-on error,warning "$dir"/ftrma_*.changes
echo "built $(cd "$dir" && echo *.deb) in $dir; lintian has no error and no warning"
[ $use = 1 ] || exit 0

[ "$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)" = bookworm ] ||
    { echo "package.sh: the package is for this release, and the clean Debian is Debian 12" >&2; exit 1; }
tar -C "$dir" -cf - $(cd "$dir" && echo *.deb) | "$here/scripts/debian.sh" bookworm sh -eu -c '
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
echo "used in a clean Debian 12: a rank was killed, and the result was the same"
