#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# dump.sh - ftrma-dump on a job whose rank 0 stands still behind its first atomic; then on what
# outlives it; and what it refuses.
. "$(dirname "$0")/lib.sh"
dump=$build/bin/ftrma-dump

state() { sed 's/.*) //; s/ .*//' "/proc/$1/stat" 2>/dev/null; }

# all_are STATES PID: the states of all threads that it still has
all_are() { [ -z "$(sed 's/.*) //; s/ .*//' /proc/"$2"/task/*/stat 2>/dev/null | tr -d "$1\n")" ]; }

# has TEXT: a line of the dump matches all of the basic regular expression
has() { grep -qx -- "$1" out || fail "the dump has no line '$1': $(cat out)"; }
hasnt() { ! grep -q -- "$1" out || fail "the dump has a line '$1': $(cat out)"; }
dumped() { timeout "$CLI_LIMIT" "$dump" "$@" >out 2>&1 || fail "'ftrma-dump $*' ended with $?: $(cat out)"; }

# stands FILE: the process whose number is in FILE has stopped; FILE is written soon
stands() {
    until [ -s "$1" ] && [ "$(state "$(cat "$1")")" = T ]; do
        kill -0 "$job" 2>/dev/null || { fail "the job ended before rank 0 had stopped"; cat job; done_testing; }
        sleep 0.05
    done
}

# --- a job that stands ---
TMPDIR=$work/tmp FTRMA_PING_TIMEOUT_MS=0 timeout -k 5 "$CLI_LIMIT" "$ftrun" -n 3 \
    --inject rank=0,point=rma.atomic.done,action=stop \
    "$build/tests/cli_dumped" "$work/pid" >job 2>&1 </dev/null &
job=$!
stands pid
rank0=$(cat pid)

dumped "$rank0"
has "put log of rank 0 for rank 1, setup: 5 records"
has " *0 put     lo=[0-9]* stamp=1 win=[0-9]* target=1 disp=16 bytes=8 interval=0"
has " *1 put     lo=[0-9]* stamp=1 win=[0-9]* target=1 disp=24 bytes=8 interval=0"
has " *2 put     lo=[0-9]* stamp=1 win=[0-9]* target=1 disp=32 bytes=8 interval=0"
has " *3 put     lo=[0-9]* stamp=0 win=[0-9]* target=1 disp=40 bytes=8 interval=0"
has " *4 put     lo=[0-9]* stamp=2 win=[0-9]* target=1 disp=48 bytes=8 interval=0"
has "home log of rank 0, setup: 4 actions"
has " *0 lock    call=[0-9]* stamp=0 win=[0-9]* target=1 disp=0 bytes=0 count=0"
has " *1 close   call=[0-9]* stamp=0 win=[0-9]* target=1 disp=0 bytes=[0-9]* count=0"
has " *2 get     call=[0-9]* stamp=0 win=[0-9]* target=1 disp=24 bytes=8 count=0"
has " *3 atomic  call=[0-9]* stamp=2 win=[0-9]* target=1 disp=48 bytes=24 count=1"
[ "$(wc -l <out)" = 11 ] || fail "the dump has other lines than these: $(cat out)"
dumped --home-log "$rank0"
hasnt "^put log"
dumped --put-log --limit 2 "$rank0"
has "put log of rank 0 for rank 1, setup: 5 records"
hasnt "^ *2 put\|^home log"
has " *3 put .*"
[ "$(wc -l <out)" = 3 ] || fail "--limit 2 shows $(cat out)"
dumped --data --home-log "$rank0"
has " *2 get .* data=8877665544332211"
dumped --rank 1 "$rank0"
hasnt "rank 0" # it has logged nothing
dumped --messages --data --rank 0 "$rank0"
grep -q "tag=42 bytes=8 of=8 data=8877665544332211$" out || fail "the message is not shown: $(cat out)"
has "messages of rank 0 to rank 2, setup: [0-9]* records"
ftrun_pid=$(processes | while read -r p; do [ "$(cat "/proc/$p/comm")" = ftrun ] && echo "$p"; done | head -1)
dumped "$ftrun_pid" # all ranks
has "put log of rank 0 for rank 1, setup: 5 records"
ends_with() { # STATUS TEXT COMMAND...
    want=$1 text=$2
    shift 2
    timeout "$CLI_LIMIT" "$@" >out 2>&1
    got=$?
    [ "$got" = "$want" ] && grep -q -- "$text" out || fail "'$*' ended with $got: $(cat out)"
}
ends_with 2 "there is no rank 3: the job has 3" "$dump" --rank 3 "$rank0"

# --- rank 0 is dead, and nobody does anything about it yet ---
ranks=$(processes | while read -r p; do [ "$(cat "/proc/$p/comm")" = cli_dumped ] && echo "$p"; done)
for p in $ranks; do kill -STOP "$p"; done
for p in $ranks; do # each thread stops when it is next scheduled, and until then a helper thread may see the death
    until all_are T "$p"; do sleep 0.01; done
done
kill -KILL "$rank0"
until all_are ZX "$rank0"; do sleep 0.01; done
other=$(echo "$ranks" | grep -vx "$rank0" | head -1)
dumped --rank 0 "$other"
has "rank 0 is dead"
has "home log of rank 0, setup: 4 actions"
has " *3 atomic  call=[0-9]* stamp=2 win=[0-9]* target=1 disp=48 bytes=24 count=1"
hasnt "^put log"
dumped --rank 2 "$other" # its home log does not depend on the next rank, which is the dead one
hasnt "dead"
hasnt "not there"
for p in $ranks; do kill -CONT "$p" 2>/dev/null; done
wait "$job"
got=$?
[ "$got" = 0 ] && [ "$(grep -c right job)" = 3 ] || fail "the job ended with $got: $(cat job)"
nothing_left "the job"

# --- what is refused ---
ends_with 0 "^usage: ftrma-dump" "$dump" --help
for option in --rank --put-log --home-log --messages --limit --data --help; do
    grep -q -- " $option\b" out || fail "--help does not mention $option"
done
ends_with 2 "one process id is needed" "$dump"
ends_with 2 "PID must be a number" "$dump" x12
ends_with 2 "--limit must be a number" "$dump" --limit -1 $$
ends_with 2 "there is no process $rank0" "$dump" "$rank0"
ends_with 2 "process $$ belongs to no running job" "$dump" $$
if [ "$(id -u)" = 0 ] && setpriv --reuid 65534 --clear-groups true 2>/dev/null; then
    ends_with 2 "no permission to look into process" setpriv --reuid 65534 --regid 65534 --clear-groups "$dump" $$
fi
done_testing
