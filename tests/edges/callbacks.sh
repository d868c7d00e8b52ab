# SPDX-License-Identifier: BSD-3-Clause
#
# callbacks.sh - callbacks of the program's that wait are left like any other place when all go
# back, and what follows is as ever.
. "$(dirname "$0")/lib.sh"

seed=${FTRMA_TEST_SEED:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}
prog=$(edge callbacks)
ends 0 'result: ' "$ftrun" -n 4 "$prog"
want=$(grep '^result' out)
for i in 1 2 3 4 5 6; do
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    threads= last=60
    # Not after 40 with threads: a rank that dies at 46 or 47 leaves a job that goes back and then hangs.
    [ $((i % 2)) = 0 ] && threads=threads last=40
    recovery=global
    [ $((i % 3)) = 0 ] && recovery=auto
    ends 0 "$want" "$ftrun" -v -n 4 --spares 2 --recovery $recovery --checkpoint every:3 \
        --inject rank=$((seed / 65536 % 4)),point=msg.recv.done,hit=$((1 + seed / 262144 % last)) "$prog" $threads
    grep -q 'replacement' out || fail "FTRMA_TEST_SEED=$seed: nobody was replaced: $(cat out)"
done
done_testing
