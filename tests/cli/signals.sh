#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# signals.sh - ftrun is interrupted or killed, or mpirun is: the job ends, and nothing is left of
# it.
. "$(dirname "$0")/lib.sh"

# A job that never ends by itself; returns when it is under way, with ftrun's pid in $pid.
begin() {
    rm -f say
    mkfifo say
    TMPDIR=$work/tmp "$ftrun" -n 3 "$ending" forever >say 2>err </dev/null &
    pid=$!
    exec 3<say
    read -r line <&3
    [ "$line" = "under way" ] || fail "the job did not come under way: $line $(cat err)"
}

# over STATUS TEXT WHAT: ftrun has ended so, and all is gone
over() {
    wait "$pid"
    got=$?
    exec 3<&-
    [ "$got" = "$1" ] || fail "$3: ftrun ended with $got instead of $1: $(cat err)"
    grep -q "$2" err || fail "$3: ftrun did not say '$2' but: $(cat err)"
    nothing_left "$3"
}

# every signal that ends a process by default, but those of a failed write, which ftrun ignores
for s in 1 2 3 4 5 6 7 8 10 11 12 14 15 16 24 26 27 29 30 31 34 64; do
    begin
    kill -$s "$pid"
    over $((128 + s)) "ended by signal $s " "signal $s to ftrun"
done
begin
kill -PIPE "$pid"
kill -XFSZ "$pid"
kill -TERM "$pid"
over 143 "ended by signal 15 " "SIGPIPE, SIGXFSZ and SIGTERM to ftrun"

begin
kill -KILL "$(ps -o pid= --ppid "$pid" | head -1)"
over 75 'job lost: mpirun was killed by signal 9.*\[mpirun-killed\]$' "SIGKILL to mpirun"

# Nobody is left to clean up, but the processes notice. Their end closes the pipe that we read.
begin
those=$(processes)
kill -KILL "$pid"
wait "$pid" 2>/dev/null
timeout "$CLI_LIMIT" cat <&3 >/dev/null || fail "SIGKILL to ftrun: the job lived on"
exec 3<&-
# What has closed its output may still be ending, one thread after the other, and its memory goes
# with the last.
ended() {
    { [ "$(ls "/proc/$1/task" 2>/dev/null)" = "$1" ] &&
        grep -qs '^State:.*Z' "/proc/$1/status"; } || [ ! -d "/proc/$1" ]
}
tries=0
for p in $those; do
    until ended "$p" || [ $tries -gt 200 ]; do
        tries=$((tries + 1))
        sleep 0.1
    done
done
rm -rf "$work"/tmp/ftrun-* # as the manual says
nothing_left "SIGKILL to ftrun"
done_testing
