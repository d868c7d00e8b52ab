#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# gen_refuse.sh - writes the wrappers of all calls of class `refuse`, and checks calls.def against the installed mpi.h
# (and mpi-ext.h, where there is one).
#
#   gen_refuse.sh calls.def "cc -I/path/to/mpi/include" > refuse.c     the wrappers
#   gen_refuse.sh --check calls.def "cc -I..."                         only the check: each function listed exactly once
#   gen_refuse.sh --prototypes "cc -I..."                              what the host declares, a prototype a line
#
# The prototypes come from the preprocessed mpi.h of the host that is built against, so they fit its
# version. A wrapper looks at the first parameter of type MPI_Comm, if there is one: a call on a
# communicator that is not the library's goes to the host. To move a call to class `own`, write it
# (FT_MPI, mpi_internal.h) and change its line in calls.def.
set -eu

prototypes() {
    printf '#include <mpi.h>\n#if __has_include(<mpi-ext.h>)\n#include <mpi-ext.h>\n#endif\n' |
        $1 -E -P -x c - | sed 's/"[^"]*"//g' | tr '\n' ' ' | tr ';' '\n' |
        sed -n 's/^.*[ *]\(int\|double\|MPI_[A-Za-z]*\) \(MPIX*_[A-Z][A-Za-z0-9_]*\) *(\(.*\)$/\1 \2 (\3/p' |
        sed 's/ *__attribute__.*$//; s/  */ /g; s/ *$//' | sort -u
}

check() { # calls.def prototypes
    awk -v def="$1" '
        function fail(what) { print def ": " what > "/dev/stderr"; bad = 1 }
        FILENAME == def {
            sub(/#.*/, "")
            optional = sub(/^\?[ \t]*/, "")
            if (NF == 0) next
            if (NF != 2 || $1 !~ /^(own|local|refuse)$/) fail("line " FNR " is not: class name")
            if ($2 in class) fail($2 " is listed twice")
            class[$2] = $1
            if (optional) may_lack[$2] = 1
            next
        }
        { declared[$2] = 1; if (!($2 in class)) fail($2 " of mpi.h is not listed") }
        END {
            for (f in class) if (!(f in declared) && !(f in may_lack)) fail(f " is not in mpi.h")
            exit bad
        }' "$1" "$2"
}

wrappers() { # calls.def prototypes
    echo '/* Made by gen_refuse.sh from calls.def and the host'"'"'s mpi.h. */'
    printf '#include "mpi/mpi_internal.h"\n#if __has_include(<mpi-ext.h>)\n#include <mpi-ext.h>\n#endif\n'
    awk -v def="$1" '
        FILENAME == def { sub(/#.*/, ""); sub(/^\?[ \t]*/, ""); if ($1 == "refuse") refused[$2] = 1; next }
        $2 in refused {
            list = substr($0, index($0, "(") + 1)
            sub(/\)[^)]*$/, "", list)
            n = split(list, parameter, ",")
            args = comm = ""
            for (i = 1; i <= n; i++) {
                p = parameter[i]
                gsub(/\[[^]]*\]/, "", p)
                if (match(p, /[A-Za-z_][A-Za-z0-9_]* *$/) == 0 || p ~ /^ *void *$/) continue
                id = substr(p, RSTART); gsub(/ /, "", id)
                args = args (args == "" ? "" : ", ") id
                if (comm == "" && p ~ /MPI_Comm [A-Za-z_]/) comm = id
            }
            printf "\nFT_TAKE_OVER(%s, %s, P%s, (%s))\n{\n", $1, $2, $2, list
            if (comm != "")
                printf "    if (!ft_comm_of(%s))\n        return FT_HOST_CALL(P%s)(%s);\n", comm, $2, args
            else
                printf "    if (!ft_mpi_up)\n        return FT_HOST_CALL(P%s)(%s);\n", $2, args
            printf "    ft_refuse(\"%s\");\n}\n", $2
        }' "$1" "$2"
}

if [ "${1-}" = --prototypes ]; then
    prototypes "$2"
    exit 0
fi
only_check=0
if [ "${1-}" = --check ]; then
    only_check=1
    shift
fi
[ $# -eq 2 ] || { echo "usage: $0 [--check] calls.def \"cc -Iinclude\"" >&2; exit 2; }
list=$(mktemp)
trap 'rm -f "$list"' EXIT
prototypes "$2" > "$list"
[ -s "$list" ] || { echo "$0: no prototypes found: is mpi.h where \"$2\" looks?" >&2; exit 1; }
check "$1" "$list"
[ "$only_check" = 1 ] || wrappers "$1" "$list"
