#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# other_user.sh - what works for root works for a user who is nobody in particular.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || skip "only root can become somebody else"
id nobody >/dev/null 2>&1 || skip "there is no user nobody"
su nobody -s /bin/sh -c "test -x '$ftrun' && test -r '$build/lib/libftrma.so'" || skip "nobody may not read $build"

as_nobody() { # STATUS TEXT COMMAND
    want=$1 text=$2
    ends "$want" "$text" su nobody -s /bin/sh -c "cd / && TMPDIR='$work/tmp' $3"
}
as_nobody 0 "^sum over 3 ranks: 3$" "'$ftrun' -n 3 '$ending'"
as_nobody 0 "^Verification: SUCCESSFUL$" "'$ftrun' -n 4 --inject rank=2,point=safepoint,hit=3 '$npb_ft' S"
as_nobody 3 "rank 1 ended with exit status 3" "'$ftrun' -n 3 '$ending' exit 1 3"
as_nobody 75 "job lost" "'$ftrun' -n 4 --spares 0 --inject rank=2,point=safepoint,hit=3 '$npb_ft' S"
done_testing
