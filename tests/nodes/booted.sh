#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# booted.sh - hosts whose machines were booted earlier or later than that of ftrun: a loss is said while the job goes
# on, and all times count from the start of the job. Such a host, or ftrun, is in a time namespace.
. "$(dirname "$0")/../cli/lib.sh"
command -v jq >/dev/null || skip "no jq"
hosts=2
ahead=100000
. "$here/lib/namespaces.sh"

# loses WHAT COMMAND...: rank 1, on host 2, is lost; the command is put before ftrun's
loses() {
    what=$1
    shift
    rm -f err report seen
    # shellcheck disable=SC2086
    "$@" "$ftrun" -v -n 2 --checksums 2 --spares 4 --checkpoint every:100 $on --report report \
        --inject rank=1,point=safepoint,hit=9 "$build/tests/nodes_until" "$work/seen" >out 2>err </dev/null &
    job=$!
    while kill -0 $job 2>/dev/null && ! grep -q '^ftrun: rank 1 lost' err 2>/dev/null; do sleep 0.1; done
    kill -0 $job 2>/dev/null || fail "$what: the loss was not said while the job went on"
    touch seen
    wait $job || fail "$what: status $?: $(cat out err)"
    grep -q '^ftrun: rank 1 lost (SIGKILL), ' err || fail "$what: $(cat err)"
    # what ftrun says of the environment has no time
    ! grep '^\[ftrma *\(0\.000000\|[0-9]\{5,\}\.\)' err | grep -v ' environment: ' >wrong ||
        fail "$what: times of another clock: $(cat wrong)"
    jq -e '.elapsed_us as $all | [.. | objects | .when_us // empty] |
        length > 0 and all(.[]; . > 0 and . < $all)' report >note ||
        fail "$what: $(jq -c '[.elapsed_us, .failures, .rollback_reasons]' report)"
}

up
loses "a host booted earlier" env
down
booted=$ahead ahead=
up
loses "hosts booted later" unshare -T --monotonic "$booted" --fork
done_testing
