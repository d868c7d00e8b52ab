#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# clean.sh - types what the README says in a clean Debian, as a user without privileges, and prints what it types:
#
#   clean.sh [RELEASE ...]       default: bookworm trixie (Debian 12 and 13)
#   clean.sh --help
#
# The Debian has the package make and this tree, and nothing else. Each command of README.md is typed
# in its order, in the top directory; `make test` runs the tests that CLEAN_TESTS names (default: one
# room). Where a command says which packages are missing, root types the line that it prints. Then the
# user types the commands of the tutorial, and builds and runs the examples against the installed
# files. scripts/debian.sh says what this needs. It takes some minutes for each release.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)

case ${1-} in
-h | --help)
    sed -n '4,/^set/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac
[ $# -gt 0 ] || set -- bookworm trixie

# --- inside: root in the clean Debian ---
inside() {
    echo "# $(sed -n 's/^PRETTY_NAME=//p' /etc/os-release | tr -d '"'), with the package make and nothing else"
    { apt-get update && apt-get install -y --no-install-recommends make; } >/tmp/log 2>&1 || { cat /tmp/log; exit 1; }
    useradd --create-home --shell /bin/sh user
    mkdir /home/user/ftrma
    tar -C /src --exclude='./build*' --exclude=./.git -cf - . | tar -C /home/user/ftrma -xf -
    chown -R user: /home/user

    sed -n 's/^    \$ //p' README.md >/tmp/commands
    [ "$(wc -l </tmp/commands)" -ge 5 ] || { echo "README.md has no commands"; exit 1; }
    while IFS= read -r line <&3; do
        user "$(printf '%s\n' "$line" | sed 's/ *#.*//; s|=DIR|=$HOME/installed|')"
    done 3</tmp/commands
    user "sh tests/docs/tutorial.sh . build"
    user 'cp -r $HOME/installed/share/doc/ftrma/examples $HOME/mine'
    installed='PATH=$HOME/installed/bin:$PATH PKG_CONFIG_PATH=$HOME/installed/lib/pkgconfig'
    user "$installed make -C \$HOME/mine run"
    user "$installed make -C \$HOME/mine run_python"
    echo "# all commands ended well"
}

# user LINE: the user types LINE. Root types the packages that it lacks.
user() {
    echo "user\$ $1"
    status=0
    typed "$1" || status=$?
    packages=$(sed -n 's/^Packages are missing. As root:  //p' /tmp/said)
    if [ $status != 0 ] && [ "$packages" ]; then
        echo "root# $packages"
        sh -c "$packages" >/tmp/log 2>&1 || { tail -20 /tmp/log; exit 1; }
        echo "user\$ $1"
        status=0
        typed "$1" || status=$?
    fi
    [ $status = 0 ] || { echo "# '$1' ended with $status"; exit 1; }
}

# The ends of what it prints are shown; what a build prints is long.
typed() {
    echo "cd \$HOME/ftrma; export CTEST_ARGS='-R ${CLEAN_TESTS:-^unit.base}'; $1" >/tmp/line
    status=0
    su - user -c "sh /tmp/line" >/tmp/said 2>&1 </dev/null || status=$?
    if [ "$(wc -l </tmp/said)" -gt 30 ]; then
        head -3 /tmp/said
        echo "..."
        tail -24 /tmp/said
    else
        cat /tmp/said
    fi
    return $status
}

if [ "$1" = inside ]; then
    cd /src
    inside
    exit
fi
for release in "$@"; do
    "$here/scripts/debian.sh" "$release" env CLEAN_TESTS="${CLEAN_TESTS-}" sh /src/scripts/clean.sh inside
done
