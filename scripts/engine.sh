#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# engine.sh [BUILD | OBJECT...] - what the rooms of the library keep from one call to the next lies
# in the engine (src/base/engine.h). Looks at the objects of a build (build) for other variables
# that can be written, and names them. Fails on any that is not listed below as the process's own.
set -u
rooms="transport alog msg coll rma runtime mpi ftt"

# SOURCE VARIABLE: what is the same for all ranks that a process could carry
own() {
    case "$1 $2" in
    *" fn_") ;; # where the host's functions are (HOST)
    "src/runtime/fork.c libc_fork") ;;
    "src/mpi/init.c ft_main_thread") ;; # the thread's
    "src/transport/apart.c under_way") ;; # the thread's: its fork
    "src/mpi/op.c ops") ;; # what the processor can
    src/runtime/load.c\ * | src/runtime/descriptors.c\ * | src/runtime/hostfds.c\ *) ;; # descriptors
    src/runtime/output.c\ * | src/runtime/input.c\ * | src/runtime/names.c\ *) ;;        # streams, environment
    src/runtime/memcheck.c\ *) ;;                                                       # mappings
    *) return 1 ;;
    esac
}

if [ $# -le 1 ] && [ -d "${1:-$(dirname "$0")/../build}" ]; then
    build=${1:-$(dirname "$0")/../build}
    set --
    for room in $rooms; do
        set -- "$@" $(find "$build/CMakeFiles/ftrma_core.dir/src/$room" \
            "$build/CMakeFiles/ftrma.dir/src/$room" -name '*.o' 2>/dev/null | sort)
    done
fi
[ $# -gt 0 ] || { echo "engine: no objects of $rooms; is the library built?" >&2; exit 2; }

# Objects in .data, .bss or COMMON: constants with addresses in them are in .data.rel.ro.
variables() {
    readelf -SW "$1" >/dev/null || exit 2
    { readelf -SW "$1"; readelf -sW "$1"; } | sed 's/\[ */[/' | awk '
        /^ +\[[0-9]+\]/ { n = substr($1, 2) + 0; section[n] = $2 }
        $4 == "OBJECT" || $4 == "TLS" {
            s = $7 == "COM" ? ".bss" : section[$7 + 0]
            if (s ~ /^\.(t?data|t?bss)/ && s !~ /^\.data\.rel\.ro/) print $8 }'
}

bad=0
for o in "$@"; do
    source=${o##*.dir/}
    source=${source%.o}
    [ -z "${build:-}" ] || [ -f "$(dirname "$0")/../$source" ] || continue # of a source that is no more
    for v in $(variables "$o"); do
        own "$source" "${v%%.*}" && continue
        echo "engine: $source: ${v%%.*} is a variable outside of the engine: declare it by FT_STATE (src/base/engine.h)"
        bad=1
    done
done
[ "$bad" = 0 ] && echo "engine: no variable of $# objects is outside of the engine"
exit "$bad"
