#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# paper.sh - bench/paper.sh in its smallest form: every side of every figure runs and verifies, the
# preloads change no result and leave nothing, and what they say that they did is what was asked.
: "${CLI_SHM:=1g}"
. "$(dirname "$0")/lib.sh"
root=$here/../..
export TMPDIR="$work/tmp"
[ -x "$npb_ft" ] || skip "no npb_ft"
PAPER_RUNS=1 PAPER_RANKS=2 PAPER_CLASS=S PAPER_ITERS=10 PAPER_INSERTS=300 PAPER_PFS=$work/tmp FIGURE_BUDGETS=32 \
    PAPER_LIMIT=$CLI_LIMIT sh "$root/bench/paper.sh" "$build" "$work/out" >said 2>&1 || fail "status $?: $(tail said)"
grep '^paper.sh:' said && fail "a run went wrong"

row() { grep -c "^[^,]*,$2,$3,1,[0-9.]*,[0-9.]*,$4,$5,$6,$7" "out/paper-$1.csv" | grep -qx 1 || {
    fail "figure $1 has no run of $3, or another: $4,$5,$6,$7"
    cat "out/paper-$1.csv"
}; }
any='[0-9]*'
row 10d 2 plain 0 0 0 ''
row 10d 2 f-daly "$any" 0 0 ''
row 10d 2 f-no-daly "1[0-9]" 0 0 ''
row 10d 2 scr-like-ram 10 0 0 'scr-like: 10 checkpoints of [0-9]* bytes'
row 10d 2 scr-like-pfs 10 0 0 'scr-like: 10 checkpoints of [0-9]* bytes.*MB/s'
row 11b 2 f-logged "$any" "$any" 0 ''
row 11b 2 ml 0 0 0 'ml: [1-9][0-9]* puts and 0 gets'
row 11c 2 f-puts-gets "$any" "$any" 0 ''
row 11c 2 ml 0 0 0 'ml: [1-9][0-9]* puts and [1-9][0-9]* gets'
row 11c 2 ml-async 0 0 0 'ml: .*not waited for'
row 12 16 f-12.5 0 "$any" 0 ''
row 12 16 f-6.25-lost 0 "$any" "$any" ''
row topology 16 f-6.25-nodes 2 0 0 ''
[ "$(wc -l < out/paper-10ab.txt)" -eq 10 ] || fail "10ab: $(cat out/paper-10ab.txt)"
[ -z "$(ls -A "$work/tmp")" ] || fail "left in TMPDIR: $(ls "$work/tmp")"
ls /dev/shm | grep -q paper- && fail "left in /dev/shm: $(ls /dev/shm)"

# The same bits under a preload as without.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
result() { timeout "$CLI_LIMIT" mpirun --oversubscribe "$@" "$npb_ft" S 2>&1 | grep '^result:'; }
plain=$(result -n 2)
[ -n "$plain" ] || fail "npb_ft has no result"
for preload in ml scr_like; do
    n=2
    [ $preload != ml ] || n=3
    [ "$(result -n $n -x LD_PRELOAD="$build/lib/libbench_$preload.so")" = "$plain" ] ||
        fail "$preload changes the result"
done
"$build/bin/kvstore" --think-fdb 1,2 >/dev/null 2>&1
[ $? -eq 2 ] || fail "kvstore takes two numbers for three"
done_testing
