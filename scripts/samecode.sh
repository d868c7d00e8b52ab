#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# samecode.sh REVISION [SOURCE...] - compiles sources as they are at a revision and as they are here, and compares the
# machine code instruction by instruction. Displacements of variables, line numbers and names are masked: a variable may
# move and be renamed. Without SOURCE it compares the hot ways: accesses, copies, messages and logs. BUILD is the build
# directory whose flags and generated files are used (build). Fails if an object differs, and prints where.
set -u
cd "$(dirname "$0")/.." || exit 2
[ $# -ge 1 ] || { sed -n '4,7s/^# //p' "$0" >&2; exit 2; }
revision=$1
shift
[ $# -gt 0 ] || set -- src/rma/access.c src/base/copy.c src/msg/msg.c src/msg/reader.c src/alog/chan.c
build=${BUILD:-build}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
mkdir "$work/then" && git archive "$revision" src include | tar -x -C "$work/then" || exit 2
mpi=$(sed -n 's/^MPI_C_HEADER_DIR:PATH=//p' "$build/CMakeCache.txt")

# Without line numbers, of which assertions know; without debug information.
code() { # directory source
    cc=${CC:-gcc}
    flags="-std=gnu11 -O2 -g0 -DNDEBUG -fPIC -fvisibility=hidden -fno-omit-frame-pointer"
    flags="$flags -w -D__LINE__=0 -Wno-builtin-macro-redefined"
    clearing=-mmemset-strategy=vector_loop:256:noalign,libcall:-1:noalign
    $cc $clearing -fsyntax-only -x c /dev/null 2>/dev/null && flags="$flags $clearing"
    (cd "$1" && $cc $flags -D__FILE__='""' -Isrc -Isrc/mpi -Iinclude ${mpi:+-I"$mpi"} -c -o "$work/o" "$2") || return 1
    ${OBJDUMP:-objdump} -d -r --no-show-raw-insn "$work/o" | sed -E '
        1,/^Disassembly/d
        s/<[^>]*>//g
        s/-?0x[0-9a-f]+\(%rip\)/(%rip)/
        s/#.*//
        s/^([ \t]*[0-9a-f]+: R_[A-Z0-9_]+)[ \t].*/\1/'
}

bad=0
for f in "$@"; do
    code "$work/then" "$f" >"$work/a" && code . "$f" >"$work/b" || { bad=1; continue; }
    if cmp -s "$work/a" "$work/b"; then
        echo "samecode: $f: the same $(grep -c '^ *[0-9a-f]*:' "$work/b") instructions and relocations"
    else
        echo "samecode: $f differs ($(diff "$work/a" "$work/b" | grep -c '^[<>]') lines):"
        diff "$work/a" "$work/b" | head -n "${LINES_SHOWN:-20}"
        bad=1
    fi
done
exit $bad
