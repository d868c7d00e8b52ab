#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# address_space.sh BUILD - under a limit on address space (ulimit -v) a job is refused at start,
# with the setting that helps; and with that setting it runs, a death included.
. "$(dirname "$0")/lib.sh"
mpirun=$(command -v mpirun.openmpi || command -v mpirun) || skip "mpirun is not installed"
program=$(edge shm_full)
limit=$((4 * 1024 * 1024)) # KiB: the host itself and a small job run well in it

limited="sh $work/limited"
echo "ulimit -v $limit && exec \"\$@\"" >"$work/limited"
$limited true || skip "ulimit -v is not to be had"

ends 0 "^sum" "$ftrun" -n 2 --checkpoint every:3 "$program" 8 1
sum=$(grep "^sum" out)

refuses "ulimit -v.*FTRMA_ARENA_SIZE=[0-9]*M" $limited "$ftrun" -n 2 "$program" 8 1
size=$(sed -n 's/.*FTRMA_ARENA_SIZE=\([0-9]*M\).*/\1/p' out | head -1)
ends 0 "^$sum\$" $limited env FTRMA_ARENA_SIZE="$size" "$ftrun" -n 2 --checkpoint every:3 --report "$work/report" \
    --inject rank=1,point=safepoint,hit=5 "$program" 8 1
grep -q '"local_recoveries":1' "$work/report" || fail "nobody was replaced: $(cat "$work/report")"

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
TMPDIR=$work/tmp timeout -k 5 "$CLI_LIMIT" $limited "$mpirun" --oversubscribe --bind-to none -np 2 \
    -x LD_PRELOAD="$build/lib/libftrma.so" \
    "$program" 8 1 >out 2>&1 </dev/null
got=$?
[ "$got" != 0 ] && grep -q "ulimit -v.*FTRMA_ARENA_SIZE=[0-9]*M" out ||
    fail "plain mpirun ended with $got and said: $(cat out)"
done_testing
