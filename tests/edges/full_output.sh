#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# full_output.sh - what cannot be written is said, and the status is not 0.
. "$(dirname "$0")/lib.sh"

# to FILE COMMAND...: stdout goes there, stderr to err; the status is in $got
to() {
    into=$1
    shift
    TMPDIR=$work/tmp timeout -k 5 "$CLI_LIMIT" "$@" >"$into" 2>err </dev/null
    got=$?
    nothing_left "$*"
}

full() {
    to /dev/full "$@"
    [ $got = 1 ] || fail "'$*' with a full standard output ended with $got: $(cat err)"
    grep -q "standard output cannot be written: No space left on device" err ||
        fail "'$*' did not say that standard output is full: $(cat err)"
}

for what in --help --version --help-settings; do
    full "$ftrun" $what
done
full "$ftrun" --inject list
full "$ftrun" -n 2 "$ending"
[ "$(grep -c "standard output" err)" = 1 ] || fail "it was said more than once: $(cat err)"

# the report has the status with which ftrun ends
reports() { # STATUS
    grep -q "\"status\":$1," r.json || fail "the report has another status than $1: $(grep '"status"' r.json)"
}
full "$ftrun" -n 2 --report r.json "$ending"
reports 1
to /dev/null "$ftrun" -n 2 --report r.json --trace /dev/full "$ending"
[ $got = 1 ] || fail "a full trace made the status $got: $(cat err)"
reports 1

# the program's own status counts more
to /dev/full "$ftrun" -n 2 --report r.json "$ending" exit-after 1 5
reports 5
[ $got = 5 ] || fail "a program's status of 5 became $got: $(cat err)"
grep -q "standard output cannot be written" err ||
    fail "a program's failure hid that standard output is full: $(cat err)"

# a reader that has gone is no error, as before
{ to /dev/stdout "$ftrun" -n 2 "$ending"; echo "$got" >status; } | :
[ "$(cat status)" = 0 ] || fail "a reader that went away made the status $(cat status): $(cat err)"

# standard error cannot be told of, but its status can
TMPDIR=$work/tmp timeout -k 5 "$CLI_LIMIT" "$ftrun" -n 2 \
    sh -c 'echo words >&2; exec "$0"' "$ending" >out 2>/dev/full </dev/null
nothing_left "a full standard error"

# reports on a full file system
for option in --report --trace; do
    ends 1 "$option /dev/full: could not be written completely: No space left on device" \
        "$ftrun" -n 2 $option /dev/full "$ending"
done
done_testing
