#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# shut.sh - a node is out, and the gateway of the other one stands at that moment, with what may have come from the lost
# node in its hands. Nobody goes back before that gateway has closed the connection.
. "$(dirname "$0")/../cli/lib.sh"
npb_ft=$build/bin/npb_ft
FTRMA_LEASE_MS=20000 # or the standing gateway's own node is lost as well
export FTRMA_LEASE_MS

ends 0 '^result:' "$ftrun" -n 4 "$npb_ft" S
grep '^result:' out >expected
for point in gate.out gate.out.done; do
    "$ftrun" -v -n 4 --virtual-nodes 2 --checksums 4 --spares 8 --checkpoint every:2 \
        --inject node=0,point=safepoint,hit=5 --inject "gateway=1,point=$point,action=stop" "$npb_ft" S >out 2>err &
    job=$!
    gateway= state=
    while [ "$state" != T ] && kill -0 $job 2>/dev/null; do
        sleep 0.02
        for k in 0 1; do # the keeper of node 1 is the first one when that of node 0 is gone
            keeper=$(child $job $k)
            [ -n "$keeper" ] && gateway=$(child "$keeper" 0)
            [ -n "$gateway" ] && state=$(awk '{ print $3 }' "/proc/$gateway/stat" 2>/dev/null)
            [ "$state" != T ] || break
        done
    done
    [ "$state" = T ] || fail "$point: no gateway has stopped: $(cat err)"
    sleep 1
    ! grep -q 'all ranks went back\|restored' err || fail "$point: gone back meanwhile: $(cat err)"
    kill -CONT $gateway
    wait $job
    status=$?
    [ $status = 0 ] || fail "$point: status $status: $(cat err)"
    grep '^result:' out | cmp -s expected - || fail "$point: $(cat out)"
    grep -q 'node0.* lost' err || fail "$point: no node was lost: $(cat err)"
done
done_testing
