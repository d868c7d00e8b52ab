#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# engine.sh SOURCE BUILD CC - scripts/engine.sh finds no variable outside of the engine in the
# build, and finds each kind of one in an object that has it.
set -u
source=$1
build=$2
cc=$3
sh "$source/scripts/engine.sh" "$build" || exit 1

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
bad=0
expect() { # status, what is named, a source's text
    printf '#include "base/engine.h"\n%s\n' "$3" >"$work/a.c"
    "$cc" -std=gnu11 -O2 -fPIC -I"$source/src" -c -o "$work/a.o" "$work/a.c" || exit 1
    out=$(sh "$source/scripts/engine.sh" "$work/a.o")
    status=$?
    if [ "$status" != "$1" ] || ! echo "$out" | grep -q "$2"; then
        echo "expected status $1 and '$2' for: $3"
        echo "$out"
        bad=1
    fi
}
expect 1 ': seen is' 'int seen;'
expect 1 ': seen is' 'int seen = 1;'
expect 1 ': seen is' 'static int seen; int f(void); int f(void) { return seen++; }'
expect 1 ': seen is' 'int f(void); int f(void) { static int seen; return seen++; }'
expect 1 ': seen is' '_Thread_local int seen;'
expect 1 ': seen is' 'int seen __attribute__((common));'
expect 0 'no variable' 'FT_STATE(int, seen); static FT_STATE(int, n) = 1; int *f(void); int *f(void) { return &n; }'
expect 0 'no variable' 'int f(void); int (*const table[])(void) = {f}; const int seen = 1;'
exit "$bad"
