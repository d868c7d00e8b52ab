#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# setup_pair.sh - the only two ranks have accessed windows in setup, and both are lost, the second one when it hears of
# the first. Nobody who lives has made such an access, and the job ends with 75 all the same. [What the first one had
# put is not put again, and the second one finds nothing.] One alone is recovered, and then the other one.
. "$(dirname "$0")/lib.sh"
program=$(edge setup_pair)
run="$ftrun -n 2 --checksums 0 --spares 3"
ends 0 "^result: 4711$" $run "$program"
ends 0 "^result: 4711$" $run --inject rank=1,point=run.enter "$program"
grep -q 'rank 1 lost' out || fail "rank 1 was not lost: $(cat out)"
ends 75 "\[outside-[a-z]*\]" $run --inject rank=0,point=run.enter --inject rank=1,point=assign "$program"
ends 0 "^result: 4711$" $run --inject rank=0,point=run.enter --inject rank=1,point=coll.enter,hit=9 "$program"
[ "$(grep -c ' lost (SIGKILL)' out)" = 2 ] || fail "not both were lost: $(cat out)"
done_testing
