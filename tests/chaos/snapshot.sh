#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# snapshot.sh - checkpoints that do not stop everybody: each algorithm, with a rank killed at each
# step, must come to the result of a run that stops everybody and in which nothing fails.
#
#   snapshot.sh DIRECTORY-OF-FTRUN ALGORITHM [all]
#   CHAOS_SEED=S repeats a run. all: every point with every program and both ways to recover, else each point once.
BIN=$1
alg=$2
here=$(dirname "$0")
. "$here/jobs.sh"

common="-n 4 --checksums 2 --spares 3 --checkpoint every:1"
programs="npb_ft kvstore medley crossing"

learn $programs
for p in $programs; do
    job $common --snapshot $alg -- $(program $p)
    eval "survived \"\$expect_$p\""
done
[ $bad -eq 0 ] || { verdict; exit 1; }

# point, how often a rank comes to it in a checkpoint; double and partial have no gates to wait at
# for long
points="snapshot.entered snapshot.looked snapshot.taken snapshot.marked"
points="$points ckpt.proposed ckpt.arrived ckpt.copy ckpt.copied ckpt.leave ckpt.commit ckpt.said ckpt.committed"
case $alg in delay | peek) points="$points snapshot.gate snapshot.shadow" ;; esac

try() { # point program recovery
    draw 4
    r=$drawn
    draw 4
    job $common --snapshot $alg --recovery $3 --inject rank=$r,point=$1,hit=$((drawn + 2)) -- $(program $2)
    eval "survived \"\$expect_$2\""
    died_at $1 && died=$((died + 1))
}

for point in $points; do
    died=0
    if [ "$3" = all ]; then
        for p in $programs; do for recovery in auto global; do try $point $p $recovery; done; done
    else
        draw 4
        set -- "$1" "$2" $programs
        case $point in snapshot.gate | snapshot.shadow) p=crossing ;; *) shift $((2 + drawn)) && p=$1 ;; esac
        draw 2
        [ $drawn -eq 0 ] && recovery=auto || recovery=global
        set --
        try $point $p $recovery
        try $point crossing global
    fi
    case $point in snapshot.gate | snapshot.shadow) continue ;; esac # who comes there depends on timing
    if [ $died -eq 0 ]; then
        bad=$((bad + 1))
        echo "FAILED: no rank ever came to $point"
    fi
done
verdict
