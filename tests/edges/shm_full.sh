#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# shm_full.sh BUILD - /dev/shm of every size: a job is refused at start, or ends right, or ends with
# 75 and says what it has no room for. It never waits for memory that nobody can free.
#
#   SHM_STEP=2 SHM_FROM=20 SHM_TO=300 sh shm_full.sh BUILD      all sizes in such steps, each without and with a death
#   SHM_OPTIONS="--recovery global"                             with these options of ftrun as well
#
# Without SHM_STEP it tries some sizes, and some more that FTRMA_TEST_SEED draws.
CLI_SHM=16m
. "$(dirname "$0")/lib.sh"
[ "$CLI_NAMESPACE" = own ] || skip "it takes a mount namespace"

program=$(edge shm_full)
: "${SHM_OPTIONS:=}" "${SHM_ROUNDS:=12}" "${SHM_MIB:=2}" "${SHM_FROM:=24}" "${SHM_TO:=240}"
seed=${FTRMA_TEST_SEED:-$(od -An -N2 -tu2 /dev/urandom | tr -d ' ')}
ran=0 good=0

resize() { mount -o remount,size="$1"m /dev/shm || fail "/dev/shm cannot have $1 MiB"; }

# try MIB WHAT OPTIONS...: one job in so much memory
try() {
    mib=$1 what="$1 MiB, $2"
    shift 2
    resize "$mib"
    TMPDIR=$work/tmp timeout -k 5 "$CLI_LIMIT" "$ftrun" "$@" "$program" "$SHM_ROUNDS" "$SHM_MIB" >out 2>&1 </dev/null
    got=$?
    ran=$((ran + 1))
    case $got in
    0) grep -q "^sum $sum\$" out || fail "$what: another result: $(cat out)"
       good=$((good + 1)) ;;
    2) grep -q "too little room in /dev/shm\|no arena of" out || fail "$what: refused without the reason: $(cat out)" ;;
    3) grep -q "no room" out || fail "$what: FTRMA_Run was refused without the reason: $(cat out)" ;;
    75) grep -q "/dev/shm has [0-9]* bytes left.*\[no-memory\]$" out ||
        fail "$what: 75 without what is full: $(cat out)" ;;
    *) fail "$what: ended with $got: $(tail -5 out)" ;;
    esac
    [ -n "${SHM_TELL-}" ] && echo "$what: $got $(grep -v "^sum" out | head -3 | tr '\n' ' ')"
    nothing_left "$what"
}

both() {
    try "$1" "no death" -n 4 --checkpoint every:3 $SHM_OPTIONS
    try "$1" "rank 1 dies" -n 4 --spares 2 --checkpoint every:3 --inject rank=1,point=safepoint,hit=8 $SHM_OPTIONS
}

resize 1024
"$ftrun" -n 4 --checkpoint off "$program" "$SHM_ROUNDS" "$SHM_MIB" >out 2>&1 || fail "with plenty of memory: $(cat out)"
sum=$(sed -n 's/^sum //p' out)

if [ -n "${SHM_STEP-}" ]; then
    mib=$SHM_FROM
    while [ "$mib" -le "$SHM_TO" ]; do
        both "$mib"
        mib=$((mib + SHM_STEP))
    done
else
    echo "FTRMA_TEST_SEED=$seed"
    for mib in 34 44 58 66 100 128; do
        both "$mib"
    done
    for i in 1 2; do
        seed=$(((seed * 1103515245 + 12345) % 2147483648))
        both $((SHM_FROM + seed / 8 % (SHM_TO - SHM_FROM)))
    done
fi
echo "$ran jobs, $good of them to the end"
done_testing
