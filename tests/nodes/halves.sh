#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# halves.sh - four hosts that ftrun reaches, and of which the first two do not reach the other two: two go out, one
# after the other, and the job ends. Its result is the one that it has on one host, or 75 as two hosts are too many.
. "$(dirname "$0")/../cli/lib.sh"
. "$here/lib/jobs.sh"
npb_cg=$build/bin/npb_cg
hosts=4
. "$here/lib/namespaces.sh"

alone "$npb_cg" S
up
lease 4000 # no host is lost for anything else
rm -f err
# shellcheck disable=SC2086
"$ftrun" -v -n 4 --checksums 4 --parity 2 --spares 8 --checkpoint every:2 $on "$npb_cg" S >out 2>err </dev/null &
job=$!
has_committed 4
for k in 1 2; do
    for other in 3 4; do
        inside $k ip route add blackhole 10.78.0.$other
        inside $other ip route add blackhole 10.78.0.$k
    done
done
for _ in $(seq 6000); do
    kill -0 $job 2>/dev/null || break
    sleep 0.02
done
if kill -0 $job 2>/dev/null; then
    fail "two halves: the job goes on: $(cat err)"
    kill $job
fi
wait $job
status=$?
if [ $status = 75 ]; then
    grep -q '\[group-lost\]' err || fail "two halves: $(cat err)"
else
    same "two halves" $status
fi
[ "$(grep -c '^ftrun: 10.78.0.* lost (other nodes cannot reach it)' err)" = 2 ] || fail "two halves: $(cat err)"
done_testing
