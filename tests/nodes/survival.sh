#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# survival.sh - before a job on several nodes starts, ftrun says in one line what it would not survive, why, and which
# options would change that (src/launch/test_survival.c has all lines). When all is survived it says nothing.
. "$(dirname "$0")/../cli/lib.sh"
npb_cg=$build/bin/npb_cg

# says TEXT OPTION...: that line comes, and no other of ftrun's
says() {
    line=$1
    shift
    ends 0 "" "$ftrun" "$@"
    [ "$(grep -c '^ftrun: ' out)" = 1 ] || fail "$*: not one line of ftrun's: $(cat out)"
    grep -qxF "ftrun: $line" out || fail "$*: not '$line', but: $(grep '^ftrun: ' out)"
}

says "the loss of any node would end this job: node0 holds 3 members of group 0, whose parity rebuilds 1; \
'--checksums 4 --spares 8' would survive it" -n 4 --virtual-nodes 2 --checksums 1 "$npb_cg" S
says "the loss of a node would end this job: the program does not call FTRMA_Run itself, and unless a library of its \
own does, there is no checkpoint to go back to" -n 4 --virtual-nodes 2 --checksums 4 "$build/tests/nodes_talk"

ends 0 "" "$ftrun" -n 4 --virtual-nodes 2 --checksums 4 "$npb_cg" S
! grep -q '^ftrun: ' out || fail "all is survived: $(grep '^ftrun: ' out)"
ends 0 "ftrun: the loss of any one node is survived" "$ftrun" -v -n 2 --virtual-nodes 3 --checksums 1 "$npb_cg" S
# a program whose calls cannot be seen may call FTRMA_Run
printf '#!/bin/sh\nexec %s S\n' "$npb_cg" >wrapper
chmod +x wrapper
ends 0 "" "$ftrun" -n 4 --virtual-nodes 2 --checksums 4 ./wrapper
! grep -q '^ftrun: ' out || fail "a script: $(grep '^ftrun: ' out)"
done_testing
