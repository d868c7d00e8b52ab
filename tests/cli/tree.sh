# SPDX-License-Identifier: BSD-3-Clause
#
# tree.sh - read by the tests of checks that look at a source tree, called as  sh TEST.sh SOURCE, with `script` set: the
# check finds nothing in the tree. The test then makes a small one in $tree.
set -u
source=$1
bad=0
sh "$source/scripts/$script" "$source" || exit 1

tree=$(mktemp -d) || exit 2
trap 'rm -rf "$tree"' EXIT
check() { sh "$source/scripts/$script" "$tree"; }

# violation FILE TEXT: with this text at its end, the file is complained about (it, or its stem)
violation() {
    existed=1
    [ -e "$tree/$1" ] && cp "$tree/$1" "$tree/saved" || existed=0
    mkdir -p "$tree/${1%/*}"
    printf '%s\n' "$2" >>"$tree/$1"
    if out=$(check) || ! echo "$out" | grep -q "${1%.*}"; then
        echo "not found: '$2' in $1; it said: $out"
        bad=1
    fi
    rm "$tree/$1"
    [ $existed = 0 ] || mv "$tree/saved" "$tree/$1"
}

# harmless FILE TEXT: this is not complained about
harmless() {
    printf '%s\n' "$2" >"$tree/$1"
    if ! out=$(check); then
        echo "'$2' in $1 is harmless; it said: $out"
        bad=1
    fi
    rm "$tree/$1"
}

done_testing() {
    [ "$bad" = 0 ] && echo "each violation was found"
    exit "$bad"
}
