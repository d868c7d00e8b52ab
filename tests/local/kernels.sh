#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# kernels.sh - npb_cg and lulesh: right by themselves, and the same bits on the host alone, under
# the library, after the recovery of a lost rank alone and after a rollback of all.
#
#   kernels.sh DIRECTORY-OF-FTRUN cg|lulesh|large
#   LOCAL_SEED=S repeats the draws
#
# cg: classes S and W. lulesh: 1 and 8 ranks. large (make kernels): classes A and B, and 8 ranks of
# 20^3 elements.
BIN=$1
here=$(dirname "$0")
CHAOS_SEED=${LOCAL_SEED:-$(date +%s)}
. "$here/../chaos/jobs.sh"
. "$here/programs.sh"

host() { # RANKS PROGRAM...: sets result
    alone "$@"
    grep -q '^Verification: SUCCESSFUL' "$WORK/out" && grep -q "$said" "$WORK/out" || complain "the host alone"
}

# killed RANKS RECOVERY SAFEPOINTS PROGRAM...: a rank dies at a drawn safepoint, or at a message,
# where there are more than three between two safepoints
killed() {
    n=$1 how=$2
    draw "$n"
    victim=$drawn
    draw $(($3 - 8))
    hit=$((drawn + 7))
    draw 4
    case $drawn in
    0) point=msg.send.before ;;
    1) point=msg.send.after ;;
    2) point=msg.recv.done ;;
    *) point=safepoint ;;
    esac
    [ $point = safepoint ] || hit=$((3 * hit))
    shift 3
    job -n "$n" --checkpoint every:5 --recovery "$how" --inject "rank=$victim,point=$point,hit=$hit" -- "$@"
    survived "$want"
    judge
    [ "$deaths" -eq 1 ] || complain "$deaths ranks died, not one"
    [ "$how" = auto ] || [ "$rollbacks" -ge 1 ] || complain "nobody went back"
    [ $((rollbacks + recoveries)) -ge 1 ] || complain "no recovery"
    local_ones=$((local_ones + recoveries))
}

# same_bits RANKS SAFEPOINTS SAID PROGRAM...: SAID is a pattern of a line that the host's output
# must have
same_bits() {
    n=$1 points=$2 said=$3
    shift 3
    host "$n" "$@"
    want=$result
    job -n "$n" --checkpoint every:5 -- "$@"
    survived "$want"
    for how in auto auto global global; do killed "$n" $how "$points" "$@"; done
}

# The bytes that NPB's scheme sends: for a square number of ranks na / nprows is na / npcols.
exactly="^sent: .* a step and process, exactly (log2 npcols + 1)"
local_ones=0
case $2 in
cg)
    said="^sent: rank 0 0 bytes"
    host 1 "$BIN/npb_cg" S
    said="^sent: rank 0 11200 bytes of vectors a step and process, exactly" # (1 + 1) * 1400 / 2 * 8
    host 2 "$BIN/npb_cg" S
    said="^sent: rank 0 8400 bytes of vectors a step and process, exactly" # (2 + 1) * 1400 / 4 * 8
    host 8 "$BIN/npb_cg" S
    host 16 "$BIN/npb_cg" S --iters 2
    same_bits 4 375 "^sent: rank 0 11200 bytes of vectors a step and process, exactly" "$BIN/npb_cg" S
    same_bits 4 375 "$exactly" "$BIN/npb_cg" W ;;
lulesh)
    said="^final origin energy:"
    host 1 "$BIN/lulesh" -s 8 -i 50
    alone=$(sed -n 's/^final origin energy: *\([^ ]*\) .*/\1/p' "$WORK/out")
    same_bits 8 50 "^final origin energy: *$alone " "$BIN/lulesh" -s 4 -i 50 ;; # the same mesh
large)
    LIMIT=1800
    same_bits 4 375 "$exactly" "$BIN/npb_cg" A
    same_bits 4 1875 "$exactly" "$BIN/npb_cg" B
    same_bits 8 100 "^final origin energy:" "$BIN/lulesh" -s 20 -i 100 ;;
*)
    echo "unknown case: $2"
    exit 2 ;;
esac
echo "$local_ones ranks recovered alone"
verdict
