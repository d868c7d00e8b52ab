# SPDX-License-Identifier: BSD-3-Clause
#
# onward.sh - a rank that dies three times, each time further on, is replaced each time, also in a
# program without any safepoint. One that dies three times without coming further is called a bug of
# the program.
. "$(dirname "$0")/lib.sh"

prog=$(edge clocked)
# deaths RANK HIT HIT HIT: of the rank, of its replacement, and of that one's, each at its own HITth
# collective
deaths() {
    echo "--spares 5 --inject rank=$1,point=coll.enter,hit=$2" \
        "--inject spare=0,point=coll.enter,hit=$3 --inject spare=1,point=coll.enter,hit=$4"
}

ends 0 'result: ' "$ftrun" -n 3 "$prog"
want=$(grep '^result' out)
for rank in 0 1 2; do
    ends 0 "$want" "$ftrun" -v -n 3 $(deaths $rank 20 50 80) "$prog"
    n=$(grep -c 'live again' out)
    [ "$n" = 3 ] || fail "rank $rank was lost three times and went live $n times: $(cat out)"
    # a death in a replay is no progress, but the next one behind it is
    ends 0 "$want" "$ftrun" -v -n 3 $(deaths $rank 50 20 80) "$prog"
done
ends 75 'rank 1 died 3 times at the same place (in setup, safepoint 0, call [0-9]*): probably a bug' \
    "$ftrun" -n 3 $(deaths 1 50 50 50) "$prog"
ends 75 'rank 2 died 3 times at the same place' "$ftrun" -n 3 $(deaths 2 50 20 20) "$prog"
done_testing
