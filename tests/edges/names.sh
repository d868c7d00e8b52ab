#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# names.sh - another local user takes every name that a job shows, as soon as it shows it: there is
# none, and jobs run.
if [ -z "${EDGES_NET-}" ]; then # socket names are a network namespace's: other jobs of the machine have theirs
    EDGES_NET=common
    unshare -n true 2>/dev/null && EDGES_NET=own && export EDGES_NET &&
        exec unshare -n sh -c 'ip link set lo up; exec sh "$@"' sh "$0" "$@"
fi
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || skip "only root can become somebody else"
id nobody >/dev/null 2>&1 || skip "there is no user nobody"
su nobody -s /bin/sh -c "test -x '$(edge squatter)'" || skip "nobody may not read $build"

su nobody -s /bin/sh -c "exec '$(edge squatter)' '$work/stop'" >seen 2>&1 &
until grep -q "^looking$" seen; do :; done
ends 0 "^sum over 3 ranks: 3$" "$ftrun" -n 3 "$ending"
ends 0 "^Verification: SUCCESSFUL$" "$ftrun" -n 4 --spares 1 --inject rank=2,point=safepoint,hit=3 "$npb_ft" S
[ "$EDGES_NET" = common ] || ! grep "^seen:" seen || fail "names of jobs were seen by another user"
touch "$work/stop"
wait
done_testing
