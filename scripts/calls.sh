#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# calls.sh - docs/CALLS.md, how each function of MPI is handled, from src/mpi/calls.def. Prints it;
# `make calls` writes it.
set -eu
cd "$(dirname "$0")/.."
cat <<'TEXT'
# How each call of MPI is handled

`make calls` makes this page from `src/mpi/calls.def`; a test checks that both agree.

| class | what happens |
| --- | --- |
| own engine | the library carries the call; Open MPI sees nothing of it, except for calls of files |
| local | Open MPI serves the call within the process: datatypes, operations, groups, info, error handlers, files |
| refused | the call could break what the library promises, and is not handled yet: the job ends with the call's name |

Calls on handles that the library does not know (before MPI_Init, or Open MPI's own inner ones) are passed through.
Calls marked ° are in the headers of some Open MPI releases only.
TEXT
awk '
    /^# / && FNR > 9 { sub(/^# /, ""); title = $0; next }
    { optional = sub(/^\?[ \t]*/, ""); sub(/#.*/, "") }
    NF != 2 { next }
    title != shown { printf "\n## %s\n\n| call | class |\n| --- | --- |\n", title; shown = title }
    { class = $1 == "own" ? "own engine" : $1 == "refuse" ? "refused" : $1
      printf "| %s%s | %s |\n", $2, optional ? " °" : "", class }
    { n[$1]++ }
    END {
        printf "\n%d by the own engine, %d local, %d refused.\n", n["own"], n["local"], n["refuse"]
    }' src/mpi/calls.def
