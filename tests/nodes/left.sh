#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# left.sh - a job on several hosts leaves nothing in their $TMPDIR, which is a file system of its own on each: neither
# when it has ended, nor on a host whose keeper was killed.
. "$(dirname "$0")/../cli/lib.sh"
. "$here/lib/jobs.sh"
npb_cg=$build/bin/npb_cg
hosts=3

. "$here/lib/namespaces.sh"

alone "$npb_cg" S
up
for k in $(seq "$hosts"); do
    inside "$k" mount -t tmpfs -o mode=1777 tmpfs "$work/tmp" || fail "host $k has no TMPDIR of its own"
done

# empty WHAT: what is left on a host after ftrun has ended is removed there soon
empty() {
    for k in $(seq "$hosts"); do
        for _ in $(seq 600); do
            [ -n "$(inside "$k" ls -A "$work/tmp")" ] || break
            sleep 0.05
        done
        left=$(inside "$k" find "$work/tmp" -mindepth 1)
        [ -z "$left" ] || fail "$1: left in TMPDIR on host $k: $left"
    done
    [ -z "$(ls -A "$work/tmp")" ] || fail "$1: left in TMPDIR where ftrun ran: $(ls -A "$work/tmp")"
}

# shellcheck disable=SC2086
TMPDIR=$work/tmp "$ftrun" -n 4 $on "$npb_cg" S >out 2>err </dev/null
same "a good job" $?
empty "a good job"

rm err # it is the last job's
export FTRMA_LEASE_MS=600000
# shellcheck disable=SC2086
TMPDIR=$work/tmp "$ftrun" -v -n 4 --checksums 4 --spares 8 --checkpoint every:2 $on "$npb_cg" S \
    >out 2>err </dev/null &
job=$!
has_committed 4
[ -n "$(inside 2 ls -A "$work/tmp")" ] || fail "host 2 uses no TMPDIR"
inside 2 sh -c 'pkill -KILL -x ftrun -P "$(pgrep -o -x ftrun)"'
wait $job
same "a killed keeper" $?
grep -q "ftrun: 10.78.0.2 lost (its keeper was killed by SIGKILL)" err || fail "a killed keeper: $(cat err)"
empty "a killed keeper"
done_testing
