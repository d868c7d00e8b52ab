#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# programs.sh - a job is lost, and goes on from its set with the same result: messages, windows,
# atomics, nonblocking collectives; ranks die after that, and it is lost again.
. "$(dirname "$0")/lib.sh"

for p in "$npb_ft S" "$kvstore" "$build/bin/chaos_medley" "$build/bin/npb_cg S --iters 1"; do
    learn $p
    ends 75 "job lost" "$ftrun" $job --save d,every=2 $(lost_at 4) $p
    ends 0 '^result:' "$ftrun" --checksums 2 --checkpoint every:1 --restart d $p
    same "restart of $p"
    # a rank is lost after the restart, before the next checkpoint and later; then the job; and that
    # one goes on, too
    ends 0 '^result:' "$ftrun" $job --restart d --spares 2 --inject rank=1,point=resume \
        --inject rank=3,point=safepoint,hit=3 $p
    same "restart of $p with deaths"
    ends 75 "job lost" "$ftrun" $job --restart d --save d $(lost_at 3) $p
    ends 0 '^result:' "$ftrun" --checksums 1 --checkpoint every:1 --restart d $p
    same "restart of a restart of $p"
    rm -r d
done
done_testing
