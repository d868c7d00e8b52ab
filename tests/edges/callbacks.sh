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
    threads=
    [ $((i % 2)) = 0 ] && threads=threads
    recovery=global
    [ $((i % 3)) = 0 ] && recovery=auto
    ends 0 "$want" "$ftrun" -v -n 4 --spares 2 --recovery $recovery --checkpoint every:3 \
        --inject rank=$((seed / 65536 % 4)),point=msg.recv.done,hit=$((1 + seed / 262144 % 60)) "$prog" $threads
    grep -q 'replacement' out || fail "FTRMA_TEST_SEED=$seed: nobody was replaced: $(cat out)"
done
# The others are inside of a dup's copy callback, or of a free's delete callback.
for at in 46 48 52 '46 threads' '47 threads'; do
    # shellcheck disable=SC2086
    ends 0 "$want" "$ftrun" -v -n 4 --spares 2 --recovery global --checkpoint every:3 \
        --inject rank=2,point=msg.recv.done,hit=${at% *} "$prog" ${at#[0-9]*[0-9]}
    grep -q 'replacement' out || fail "nobody was replaced: $(cat out)"
done
done_testing
