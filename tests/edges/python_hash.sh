#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# python_hash.sh - a Python program does the same in a replacement: its interpreters hash strings
# alike, unless the user says otherwise.
. "$(dirname "$0")/lib.sh"
for python in /usr/bin/python3 "$(command -v python3)" ''; do # the system's first: Debian's mpi4py is its
    [ -n "$python" ] || skip "python3-mpi4py is not installed"
    ! "$python" -c 'import mpi4py' 2>/dev/null || break
done
unset PYTHONHASHSEED

ends 0 "^rank 1 has [0-9]*$" "$ftrun" -n 3 "$python" "$here/python_hash.py"
grep "^rank" out | sort >clean
[ "$(wc -l <clean)" = 3 ] || fail "not every rank has a result: $(cat out)"
for hit in 50 90 150; do
    ends 0 "PYTHONHASHSEED=0" "$ftrun" -v -n 3 --inject rank=1,point=msg.send.after,hit=$hit \
        "$python" "$here/python_hash.py"
    grep -q "rank 1 is live again" out || fail "rank 1 did not become live again: $(cat out)"
    grep "^rank" out | sort | cmp - clean || fail "another result after a death: $(cat out)"
done

# The user's own word counts. One write: without MPI_Init three processes say it at the same time.
ends 0 "^seed 7$" env PYTHONHASHSEED=7 "$ftrun" -v -n 1 "$python" -c \
    'import os; os.write(1, ("seed %s\n" % os.environ["PYTHONHASHSEED"]).encode())'
! grep -q "PYTHONHASHSEED=0" out || fail "ftrun said that it set what the user had set: $(cat out)"
done_testing
