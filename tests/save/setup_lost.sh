#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# setup_lost.sh - a rank is lost, and so is each of its replacements, in setup, until none is left. The newest
# checkpoint is saved nevertheless: a replacement publishes its image only after setup, and the lost process had it.
. "$(dirname "$0")/lib.sh"
steps="$build/tests/save_steps 30"

for spares in 1 2 3; do
    inject="--inject rank=1,point=safepoint,hit=12"
    for k in $(seq 0 $((spares - 1))); do inject="$inject --inject spare=$k,point=rejoin.setup"; done
    ends 75 "job lost" "$ftrun" -v $job --spares $spares --save d,every=1000 $inject $steps
    newest=$(sed -n 's/.*checkpoint: checkpoint \([0-9]*\) committed.*/\1/p' out | tail -n 1)
    [ "$newest" -ge 8 ] || fail "$spares spares: the newest checkpoint is '$newest'"
    [ "$(checkpoint_of d/set.*)" = "$newest" ] ||
        fail "$spares spares: checkpoint '$(checkpoint_of d/set.*)' is saved instead of $newest: $(tail -n 4 out)"
    ends 0 "" "$ftrun" --checksums 2 --restart d $steps
    rm -r d
done
done_testing
