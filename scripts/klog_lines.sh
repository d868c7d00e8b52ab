#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# klog_lines.sh - the lines, without comments and empty ones, that the logs of npb_cg_log and lulesh_log take, by what
# table 2 of "Implementing Efficient Message Logging Protocols as MPI Application Extensions" counts
# (docs/EVALUATION.md). Sources of apps/kernels_log mark their parts by comments of one line, "--- message logging ---".
set -eu
cd "$(dirname "$0")/../apps"

code() { "${CC:-cc}" -fpreprocessed -dD -E -P -x c - | grep -c . || true; } # of stdin
part() { # NAME FILE...: both kernels have it
    name=$1
    shift
    awk -v name="$name" '
        FNR == 1 { on = name == "the rest" }
        /^\/\* --- .* --- \*\/$/ { on = $0 == "/* --- " name " --- */"; next }
        on' "$@" | code
}
row() { printf '%-42s %5s %5s %7s\n' "$@"; }

row "" CG LULESH shared
for what in checkpoint/restart "told of a loss" "message logging" "temporary buffers" "the loop and its surroundings" \
    "for reading" "the rest"; do
    row "$what" - - "$(part "$what" kernels_log/klog.c kernels_log/rescue.c)"
done
row "headers; time in MPI" - - "$(cat kernels_log/klog.h kernels_log/rescue.h sender.h kernels_log/mpi_time.c | code)"
row "the program that uses it" "$(code <kernels_log/cg_log.c)" "$(code <kernels_log/lulesh_log.c)" -
row "lines of the kernel that send by sender.h" "$(cat npb_cg/*.[ch] | grep -c 'send_doubles\|struct sender')" \
    "$(cat lulesh/*.[ch] | grep -c 'send_doubles\|struct sender')" -
row "the kernel, with its own program" "$(cat npb_cg/*.[ch] | code)" "$(cat lulesh/*.[ch] | code)" -
