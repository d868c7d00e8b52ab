# SPDX-License-Identifier: BSD-3-Clause
#
# clocked.sh - a program whose loops grow by differences of MPI_Wtime is replaced wherever it is
# lost: a replay is told what the clock said. One that draws from what is not logged diverges, and
# the message says what may be the reason.
. "$(dirname "$0")/lib.sh"

seed=${FTRMA_TEST_SEED:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}
prog=$(edge clocked)
ends 0 'result: ' "$ftrun" -n 4 "$prog" 30
want=$(grep '^result' out)
for i in 1 2 3 4; do
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    ends 0 "$want" "$ftrun" -v -n 4 \
        --inject rank=$((seed / 65536 % 4)),point=coll.enter,hit=$((1 + seed / 262144 % 90)) "$prog" 30
    grep -q 'live again' out || fail "FTRMA_TEST_SEED=$seed: nobody was replaced: $(cat out)"
done
ends 75 'possible causes: time()' "$ftrun" -n 4 --inject rank=1,point=coll.enter,hit=60 "$prog" 30 pid
grep -q 'replay.* diverged' out || fail "it did not say that the replay diverged: $(cat out)"
grep -q 'job lost: .*\[diverged\]$' out || fail "it did not say why the job was lost: $(cat out)"
done_testing
