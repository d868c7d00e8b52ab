#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# section.sh - a node is lost while two ranks of another put to it, and count at a third: neither stays in the critical
# section there, for which the other waits, and all go back.
. "$(dirname "$0")/../cli/lib.sh"
. "$here/lib/jobs.sh"
section=$build/tests/nodes_section
alone "$section"
# rank 0 is on node 0, rank 1 on node 1, and 2 and 3 on node 2, which put a thousand times in a step
for hit in 1300 2500 3700; do
    at=gateway=1,point=gate.access.applied,hit=$hit
    ends 0 "^$result\$" "$ftrun" -n 4 --virtual-nodes 3 --checksums 2 --spares 9 --checkpoint every:2 \
        --inject "$at" "$section"
    ! grep -q "never fired" out || fail "$at: $(grep 'never fired' out)"
    grep -q "ftrun: node1 lost, and with it" out || fail "$at: nobody says that node 1 was lost: $(cat out)"
done
done_testing
