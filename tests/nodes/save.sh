#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# save.sh - a job on several nodes of this machine is saved in files, loses more than its codewords survive, and goes on
# from them: on as many nodes, on more, and on one. SAVE_SEED repeats what was drawn.
. "$(dirname "$0")/../cli/lib.sh"
. "$here/lib/jobs.sh"
program="$build/bin/kvstore --inserts 100 --rounds 14 --slots 128 --think-us 500"
seed=${SAVE_SEED:-$(date +%s)}
echo "SAVE_SEED=$seed"
nodes="-n 4 --virtual-nodes 2 --checksums 4 --spares 8 --checkpoint every:1"
frail="-n 4 --virtual-nodes 2 --checksums 2 --spares 4 --checkpoint every:1" # a node is too much for it

alone $program

# goes_on WHAT ARGUMENTS...: to the same result
goes_on() {
    what=$1
    shift
    "$ftrun" "$@" $program >out 2>err || fail "$what: $(tail -5 err)"
    [ "$(grep '^result:' out)" = "$result" ] || fail "$what: $(grep '^result:' out), not $result"
    nothing_left "$what"
}

goes_on "saved without a loss" $nodes --save whole
ls whole/set.*/manifest.json >/dev/null 2>&1 || fail "no set: $(ls whole)"

# a node is lost, and with it the job
draw 2
node=$drawn
draw 8
at="node=$node,point=safepoint,hit=$((3 + drawn))"
ends 75 "save: checkpoint\|is saved" "$ftrun" -v $frail --save lost --inject "$at" $program
ls lost/set.*/manifest.json >/dev/null 2>&1 || fail "$at: no set: $(ls lost)"
! tried || goes_on "$at: on two nodes" $frail --restart lost
! tried || goes_on "$at: on three nodes" --virtual-nodes 3 --checksums 2 --spares 9 --restart lost
! tried || goes_on "$at: on one node" --checksums 2 --restart lost
! tried || goes_on "$at: saved again" $nodes --restart lost --save again
# ... so late that nobody comes to this place once more after the restart
at="node=$((1 - node)),point=safepoint,hit=10"
goes_on "$at: by itself" $frail --save itself --restarts 1 --inject "$at"
grep -q "restart 1 of 1: all ranks go on from checkpoint" err || fail "$at: $(cat err)"

# a node is lost, and the job goes on: also the one whose process asks for what is saved
for k in 0 1; do
    tried || continue
    draw 8
    at="node=$k,point=safepoint,hit=$((3 + drawn))"
    goes_on "$at" $nodes --save "kept$k" --inject "$at" # it may be over before a set is
    ! ls "kept$k"/set.*/manifest.json >/dev/null 2>&1 || goes_on "$at: from files" $nodes --restart "kept$k"
done

# the writer of the first set dies at each of its steps: what was there before can be used
for point in save.opened save.file save.manifest save.named; do
    tried || continue
    rm -rf d
    cp -R whole d
    ends 75 "was not saved: its writer was killed" "$ftrun" -v $frail --save d --inject "writer=0,point=$point" \
        --inject "node=1,point=safepoint,hit=12" $program
    goes_on "writer=0,point=$point" $frail --restart d
done
done_testing
