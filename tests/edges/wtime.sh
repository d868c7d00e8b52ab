#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# wtime.sh - MPI_Wtime goes on in a replacement, and after a rollback, where the lost process's
# clock was: it is one clock on the node.
. "$(dirname "$0")/lib.sh"
p=$(edge wtime)
f=$(edge wtime_f)

for inject in "" rank=1,point=msg.send.half,hit=20 rank=2,point=msg.recv.done; do
    for how in plain run; do
        ends 0 "^sum 18920$" "$ftrun" -n 4 ${inject:+--inject $inject} "$p" "$how"
    done
    [ ! -x "$f" ] || ends 0 "^sum 60$" "$ftrun" -n 4 ${inject:+--inject $inject} "$f"
done
ends 0 "^sum 18920$" "$ftrun" -n 4 --checkpoint every:8 --inject rank=1,point=safepoint,hit=30 "$p" run
ends 0 "^sum 18920$" "$ftrun" -n 4 --checkpoint every:8 --recovery global \
    --inject rank=1,point=safepoint,hit=30 "$p" run
ends 0 "^sum 18920$" "$ftrun" -n 4 --checkpoint every:8 --parity 2 --spares 2 --inject rank=1,point=safepoint,hit=30 \
    --inject rank=2,point=safepoint,hit=30 "$p" run
ends 0 "^sum 18920$" "$ftrun" -n 4 --inject rank=3,point=run.leave "$p" run
done_testing
