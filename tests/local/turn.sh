#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# turn.sh - programs that make no calls while a rank is recovered, with a second failure while an
# agent acts in main's place.
#
#   turn.sh DIRECTORY-OF-FTRUN
BIN=$1
here=$(dirname "$0")
. "$here/../chaos/jobs.sh"
. "$here/programs.sh"

common="-n 4 --checksums 2 --spares 3 --checkpoint every:4"

# again CASE FIRST SECOND...: CASE with a failure at FIRST, then at one SECOND. Whether the others
# have said all by then is a matter of time: three tries.
again() {
    select_program "$1"
    first=$2
    shift 2
    job $common -- $cmd
    expect=$result
    [ "$status" -eq 0 ] && [ -n "$expect" ] || complain "without failures"
    for second in "$@"; do
        point=${second#*point=} died=0 tries=0
        while [ $died -eq 0 ] && [ $tries -lt 3 ]; do
            tries=$((tries + 1))
            job $common --inject "$first" --inject "$second" -- $cmd
            survived "$expect"
            died_at "${point%%,*}" && died=1
        done
        [ $died -eq 1 ] || complain "nobody died at ${point%%,*}"
    done
}

# The replacement is lost, as its agent goes on with the replay: another is run again.
again spinsend rank=1,point=msg.send.after,hit=30 spare=0,point=turn.replay \
    spare=0,point=turn.replay,hit=2 spare=0,point=replay.live
# Where all must go back, a loop that makes no calls cannot be left: it is said for whom all wait.
select_program spinheard
LIMIT=15 said=0 tries=0 # it never ends by itself; a loaded machine needs longer to come there
while [ $said -eq 0 ] && [ $tries -lt 4 ]; do # rank 1 may be lost before the other has come to its loop
    tries=$((tries + 1))
    job $common --recovery global --inject rank=1,point=rma.put.after,hit=4 -- $cmd
    [ "$status" -eq 124 ] && grep -q 'all other ranks wait for the next MPI call' "$WORK/err" && said=1
    nothing_left
    LIMIT=$((LIMIT * 2))
done
[ $said -eq 1 ] || complain "nobody said what all wait for"
LIMIT=${CHAOS_LIMIT:-600}
# A survivor, as its agent goes along with the new generation: all go back.
again ahead rank=0,point=rma.put.after,hit=7 rank=1,point=turn.rebind
verdict
