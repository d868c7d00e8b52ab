#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# mail.sh - agents have more to mail to than they have mailboxes, and to a stopped process: the
# others are not held up.
. "$(dirname "$0")/lib.sh"
medley=$build/bin/chaos_medley

result() { sed -n 's/^result: //p' out; }
# same FAILPOINT ARGUMENTS...: somebody dies there, and the result is `right`
same() {
    point=$1
    shift
    ends 0 "^Verification: SUCCESSFUL" "$ftrun" --report report "$@" "$medley"
    [ "$(result)" = "$right" ] || fail "$*: result $(result) instead of $right"
    grep -q "\"failpoint\":\"$point\"" report || fail "$*: nobody came to $point: $(cat report)"
}

# in a snapshot each rank mails to all others
many="-n 20 --checksums 2 --spares 2 --snapshot delay --checkpoint every:2"
ends 0 "^Verification: SUCCESSFUL" "$ftrun" $many "$medley"
right=$(result)
same mail.box $many --inject rank=3,point=mail.box,hit=20

# one that answers nobody, and is mailed to until it is killed
export FTRMA_PING_TIMEOUT_MS=1500
same coll.round $many --inject rank=2,point=coll.round,hit=30,action=stop
done_testing
