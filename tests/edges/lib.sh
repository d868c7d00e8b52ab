# SPDX-License-Identifier: BSD-3-Clause
#
# lib.sh - read by the scripts of this folder: what the tests of the command line have (ends,
# refuses, fail, done_testing ...), and programs.
: "${CLI_SHM:=1g}"
. "$(dirname "$0")/../cli/lib.sh"

edge() { echo "$build/tests/edges_$1"; } # the program of that name
