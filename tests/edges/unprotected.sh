#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# unprotected.sh - a program that protects one array of several is told of the others by name, once
# for all ranks, in notes beside its output; one that has said everything is told nothing.
. "$(dirname "$0")/lib.sh"

program=$(edge unprotected)
run="$ftrun -n 3 --checkpoint every:4"

# notes N: so many notes in all
notes() {
    n=$(grep -c "changes in body" out)
    [ "$n" = "$1" ] || fail "$what: $n notes instead of $1: $(grep "changes in body" out)"
}

# named TEXT: one of the notes is of this (a basic regular expression). It names all ranks, but for
# one that was held up for longer than a note waits for others.
named() {
    n=$(grep -c -- "^ftrun: note: ranks* [0-2][0-2 -]*: $1" out)
    [ "$n" = 1 ] || fail "$what: '$1' is said $n times: $(grep "note:" out)"
}

changes="changes in body and is not protected"
all_are_named() {
    notes 4
    cure="FTRMA_Protect(common_u, sizeof common_u), or FTRMA_Unprotect if it is scratch"
    named "'common_u' (80 KB, edges_unprotected) $changes: call $cure$"
    named "'u' (80 KB, unprotected.c) $changes: call FTRMA_Protect(u, sizeof u), or"
    named "a heap block of 80 KB, to which 'grid' points,${1-} at 0x[0-9a-f]* $changes: call FTRMA_Protect, or"
    named "a mapping of 8[0-9] KB${1:+,}${1-} at 0x[0-9a-f]* changes in body"
}

ends 0 "^sum: " $run "$program" forget
all_are_named
ends 0 "^sum: " $run "$program" sparse
all_are_named
ends 0 "^sum: " $run "$program" protect
notes 0
ends 0 "^sum: " $run "$program" scratch
notes 0
ends 0 "^sum: " $run --check-memory off "$program" forget
notes 0
ends 0 "^sum: " $run "$program" threads 40 # what the thread does with its memory is the program's, and named as well
named "'u' (80 KB, unprotected.c) changes"

# What a death repeats is not said again.
ends 0 "^sum: " $run --check-memory always --inject rank=1,point=safepoint,hit=9 "$program" forget
all_are_named " allocated by edges_unprotected+0x[0-9a-f]*,"
if command -v addr2line >/dev/null; then # that is where the program has taken them
    for at in $(sed -n 's/.*allocated by edges_unprotected+\(0x[0-9a-f]*\),.*/\1/p' out); do
        addr2line -f -e "$program" "$at" | grep -qx place ||
            fail "$at is not in place(): $(addr2line -f -e "$program" "$at")"
    done
fi
ends 0 "^sum: " $run --recovery global --inject rank=1,point=safepoint,hit=9 "$program" forget
all_are_named
refuses "must be off, first or always" "$ftrun" -n 2 --check-memory sometimes "$program"
refuses "must be off, first or always" env FTRMA_CHECK_MEMORY=2 "$ftrun" -n 2 "$program"

# a program without its symbols; with -v it is an event, too; the report has it, and what the look
# cost
if command -v strip >/dev/null; then
    cp "$program" bare && strip bare
    bare="static data of bare (1[0-9]* KB, without a symbol) at 0x"
    ends 0 "unprotected: rank 1: $bare" $run -v --report r.json ./bare forget
    notes 12 # three notes, each of three ranks and once more
    named "$bare"
    ends 0 "^sum: " $run ./bare scratch
    notes 0
    if command -v jq >/dev/null; then
        costs='.memory | all(.check_us > 0 and .check_bytes > 300000)'
        jq -e "$costs" r.json >/dev/null || fail "the report has no costs: $(cat r.json)"
        names='.unprotected | length == 9 and all(.what != "" and .address > 0)'
        jq -e "$names" r.json >/dev/null || fail "the report names nothing: $(cat r.json)"
    fi
fi
done_testing
