#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# check_calls.sh SOURCE "cc -I/path/to/mpi/include" libftrma.so
#
# Every function of the host's mpi.h is listed in calls.def exactly once, and the library defines
# what its class promises: MPI_X and PMPI_X for own and refuse, neither for local; and docs/CALLS.md
# says the same.
set -eu
def=$1/src/mpi/calls.def
"$1/src/mpi/gen_refuse.sh" --check "$def" "$2"
sh "$1/scripts/calls.sh" | cmp - "$1/docs/CALLS.md" ||
    { echo "docs/CALLS.md is not what calls.def says: make calls"; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$1/src/mpi/gen_refuse.sh" --prototypes "$2" | awk '{print $2}' > "$work/declared"
nm -D --defined-only "$3" | awk '{print $NF}' > "$work/defined"
awk -v declared="$work/declared" -v defined="$work/defined" '
    FILENAME == declared { exists[$1] = 1; next }
    FILENAME == defined { sub(/@.*/, "", $1); have[$1] = 1; next }
    { sub(/#.*/, ""); sub(/^\?[ \t]*/, "") }
    NF == 0 || !($2 in exists) { next }
    {
        mine = ($2 in have) + (("P" $2) in have)
        want = $1 == "local" ? 0 : 2
        if (mine != want) {
            print $2 " is of class " $1 ", but the library defines " mine " of MPI_X and PMPI_X"
            bad = 1
        }
    }
    END { exit bad }' "$work/declared" "$work/defined" "$def"
echo ok
