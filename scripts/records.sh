#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# records.sh make BUILD DIR [RUN...]  makes a record of each named run (default: all) in DIR/RUN/SLOT
# records.sh replay BUILD DIR         feeds each record to ftrma-sim --replay-agent
# records.sh compare DIR DIR          compares what each process did in both; prints the differences
# records.sh actions FILE             prints what is compared of one record
#
# Records are made by FTRMA_AGENT_LOG. When one is replayed, the machine of recover/process.h must do
# the same as the process did; replay and compare fail where something differs.
#
# Two versions of the agent must do the same, but each action may come at another event. So the
# actions of a process are compared by class, in their order within the class: what main was told,
# orders and answers as they were sent, what was published, events. Numbers that depend on time are
# masked. What the timing decides is left out: pings, milestones on their way up, announcements of
# deaths, rooms that are made ready, attention that is asked for again, demand checkpoints, the job's
# last order, and what a process answers to an order during which another dies. Votes and decisions
# are compared as a set. The rest is the same in each run under two conditions: a process that dies
# has told those below it in the tree of orders what it had heard, and nobody dies while others agree
# on a safepoint. The runs here are chosen so.
set -u

runs="plain every off lost lost_global lost_image lost_codeword refused peek double patterns domains demand"

# The arguments of ftrun and the program.
run() { # name
    demand=off
    inject=
    ckpt=every:2
    snapshot=barrier
    recovery=auto
    groups="--checksums 1 --spares 1"
    machine=
    program="$bin/npb_ft S"
    case "$1" in
    plain) ckpt=daly ;;
    every) ;;
    off) ckpt=off ;;
    lost) inject=rank=2,point=safepoint,hit=3 program=$bin/scenario_pauses ;;
    lost_global) inject=rank=2,point=safepoint,hit=3 recovery=global program=$bin/scenario_pauses ;;
    lost_image) inject=rank=3,point=ckpt.copied,hit=3 ;;
    lost_codeword) inject=checksum=0,point=ckpt.parity.done,hit=3 ;;
    refused) program=$bin/scenario_refused ;;
    peek | double) snapshot=$1 ;;
    patterns) program="$bin/local_patterns A" ;;
    domains) # a spare of another node than the others of the group
        inject=rank=2,point=safepoint,hit=3 program=$bin/scenario_pauses
        groups="--checksums 2 --spares 2"
        machine=$out/machine
        printf 'level node in rack count 4\nlevel rack count 2\nprocess per 2\n' >"$machine" ;;
    demand) # two codewords of images alone; a rank is lost
        inject="rank=2,point=safepoint,hit=30"
        groups="--checksums 2 --parity 2 --spares 2" demand=bulk ckpt=every:100000
        program="$bin/local_patterns A --rounds 200" ;;
    *)
        echo "records.sh: there is no run $1; there are: $runs" >&2
        return 2
        ;;
    esac
    # shellcheck disable=SC2086
    set -- "$bin/ftrun" -n 4 $groups --checkpoint $ckpt --demand $demand --recovery $recovery
    [ -z "$inject" ] || set -- "$@" --inject "$inject"
    [ -z "$machine" ] || set -- "$@" --domains "$machine"
    FTRMA_DEMAND_AT=0 FTRMA_SNAPSHOT=$snapshot FTRMA_AGENT_LOG=$out/%s FTRMA_PING_TIMEOUT_MS=0 "$@" \
        $program >"$out/output" 2>&1
}

# On a busy machine a checkpoint was called off, or its target given again, as some rank came late to its safepoint; or
# rank 2 came to its next safepoint and died before the second checkpoint was committed. Such a run is made again.
was_late() { # name
    case "$1" in
    refused) return 1 ;;
    lost | lost_global | domains) grep -q 'MAIL [0-9]* ORDER COMMIT 0 [0-9]* 0 2 ' "$out/0" || return 0 ;;
    esac
    awk '$1 == "A" && $5 == "ORDER" && $6 == "TARGET" && seen[$4 " " $7 " " $10]++ { again = 1 }
        END { exit !again }' "$out/0" && return 0
    grep -q 'MAIL [0-9]* ORDER CANCEL' "$out"/[0-9]*
}

actions() { # FILE
    awk '
        function say(class, line) { out[class] = out[class] class " " line "\n" }
        $1 == "A" && $3 == "COMMAND" && $4 != "RESERVE" {
            say("1.main", $3 " " $4 " " $6 " " $8 " " $9 " " $10 " " $11 " " $13) }
        $1 == "A" && $3 ~ /^(HOLD|REPAIR|BIND|JOB_DONE|LOST|KILL)$/ {
            if ($3 == "HOLD" && $4 == hold) next # said again, as when an order is called off
            if ($3 == "HOLD") hold = $4
            say("2." tolower($3), $3 " " $4) }
        # answers to the newest order wait here: whether they are given before a loss is known the timing decides
        function newest(n) { if (n + 0 > seq) { flush(); seq = n + 0 } }
        function flush(i) { for (i = 0; i < held; i++) say(hclass[i], hline[i]); held = 0 }
        function keep(class, line) { hclass[held] = class; hline[held++] = line }
        $3 == "ADOPTED" || $3 == "BIND" { held = seq = 0 }
        # the order that lets all go: the board says the same, and a process may be gone before it comes
        $3 == "MAIL" && $5 == "ORDER" && $6 == "DONE" { done = $8; next }
        $1 == "A" && $3 == "MAIL" && $5 == "ORDER" && $6 != "MILESTONE" {
            if ($8 == done) next
            newest($8)
            line = $4 " " $6 " " $7 " " $8 " " $10 " " $11 " " $12 " " $14 " " $15 % 2 " " $16 " " $17
            if ($6 == "READY") keep("4.order", line); else say("4.order", line) }
        $1 == "A" && $3 == "MAIL" && $5 == "MARKER" { say("5.marker." $4 "." $8, $6) }
        $1 == "A" && $3 == "MAIL" && $5 == "AGREE" && $6 != "ANNOUNCE" {
            line = $4 " " $6 " " $8 " " $12
            if (!(line in agreed)) say("6.agree." line, "")
            agreed[line] = 1 }
        $1 == "A" && $3 == "PUBLISH" && $4 ~ /^(LIVE|REJOINED|COMMITTED|ENTERED)$/ { say("7.publish." $4, $5) }
        $1 == "A" && $3 == "ATTENTION" && $4 <= 2 {
            if (!($4 in attention)) say("8.attention." $4, "")
            attention[$4] = 1 }
        $1 == "A" && $3 == "EVENT" { say("9.event." $4, $5) }
        END { flush(); for (class in out) printf "%s", out[class] | "LC_ALL=C sort -s -k1,1" }' "$1"
}

case "${1-}" in
make)
    [ $# -ge 3 ] || { sed -n '4,7s/^# //p' "$0" >&2; exit 2; }
    bin=$2/bin dir=$3 bad=0
    shift 3
    mkdir -p "$dir" || exit 2
    for name in ${*:-$runs}; do
        out=$(cd "$dir" && pwd)/$name
        tries=0
        while :; do
            rm -rf "$out"
            mkdir "$out" || exit 2
            run "$name" || { echo "records.sh: run $name ended with $?:"; cat "$out/output"; bad=1; break; }
            tries=$((tries + 1))
            was_late "$name" || break
            [ $tries -lt 20 ] || { echo "records.sh: run $name was late 20 times"; bad=1; break; }
        done
    done
    exit $bad
    ;;
replay)
    [ $# = 3 ] && [ -d "$3" ] || { sed -n '4,7s/^# //p' "$0" >&2; exit 2; }
    bad=0 n=0 not=0
    for a in "$3"/*/[0-9]*; do
        [ -f "$a" ] || continue
        said=$("$2/bin/ftrma-sim" --replay-agent "$a" 2>&1)
        case $? in
        0) n=$((n + 1)) ;;
        2) not=$((not + 1)); echo "$a: $said" ;;
        *) echo "$said"; bad=1 ;;
        esac
    done
    [ $((n + bad)) -gt 0 ] || { echo "records.sh: $3 has no records that can be run again"; bad=1; }
    [ $bad = 1 ] || echo "records.sh: in $n processes the machine does the same; $not cannot be run again"
    exit $bad
    ;;
compare)
    [ $# = 3 ] && [ -d "$2" ] && [ -d "$3" ] || { sed -n '4,7s/^# //p' "$0" >&2; exit 2; }
    work=$(mktemp -d) bad=0 n=0
    trap 'rm -rf "$work"' EXIT
    for a in "$2"/*/[0-9]*; do
        b=$3/${a#"$2"/}
        [ -f "$b" ] || { echo "records.sh: there is no $b"; bad=1; continue; }
        actions "$a" >"$work/a"
        actions "$b" >"$work/b"
        n=$((n + 1))
        diff "$work/a" "$work/b" >"$work/diff" || { echo "${a#"$2"/} differs:"; cat "$work/diff"; bad=1; }
    done
    [ $n -gt 0 ] || { echo "records.sh: $2 has no records"; bad=1; }
    [ $bad = 1 ] || echo "records.sh: $n processes did the same"
    exit $bad
    ;;
actions) actions "${2:?a file}" ;;
*)
    sed -n '4,7s/^# //p' "$0" >&2
    exit 2
    ;;
esac
