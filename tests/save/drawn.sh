#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# drawn.sh - programs that show if one action is done twice, lost or out of order: some that are
# drawn are lost and go on from their sets with the same result. SAVE_ALL=1 tries all of them.
. "$(dirname "$0")/lib.sh"
seed=${FTRMA_TEST_SEED:-$(date +%s)}
echo "FTRMA_TEST_SEED=$seed"
BIN=$build/bin
. "$here/../local/programs.sh"

if [ -n "${SAVE_ALL-}" ]; then
    names=$PROTECTED
else
    names=$(echo $PROTECTED | tr ' ' '\n' | awk -v seed="$seed" 'BEGIN { srand(seed) } { print rand(), $1 }' |
        sort | head -n 4 | cut -d' ' -f2)
fi
for name in $names; do
    select_program "$name"
    ends 0 '^result:' "$ftrun" $job $cmd
    cp out expected
    ends 75 "job lost" "$ftrun" $job --save d $(lost_at 3) $cmd
    ends 0 '^result:' "$ftrun" --checksums 2 --checkpoint every:1 --restart d $cmd
    same "restart of $name"
    ! grep -q "other data" out || fail "$name sends other data in setup: $(cat out)"
    rm -r d
done
done_testing
