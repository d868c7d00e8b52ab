#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# soak.sh - random programs, random options, random failures, until the time is over. A run must end
# with the result of the run without failures, or where a rule allows it with status 75 and its
# reason; anything else is wrong.
#
#   soak.sh DIRECTORY-OF-FTRUN
#   SOAK_MINUTES=M   how long (default 10)       SOAK_SEED=S   repeats the draws
#   SOAK_DEMAND=N    in N runs of 3 ranks take images alone all the time (default 1)
#   SOAK_SAVE=N      one run of N of those that can saves its checkpoints, and another goes on from them (default 5)
#   SOAK_NODES=K     on K virtual nodes, K at least 2
#   SOAK_PROGRAMS    names (programs.sh) instead of all
#   CHAOS_KEEP, CHAOS_LINES, CHAOS_LIMIT         as in ../chaos
BIN=$1
here=$(dirname "$0")
SOAK_SEED=${SOAK_SEED:-$(date +%s)}
CHAOS_SEED=$SOAK_SEED
. "$here/../chaos/jobs.sh"
. "$here/programs.sh"
echo "soak: ${SOAK_MINUTES:-10} minutes, SOAK_SEED=$SOAK_SEED"
end=$(($(date +%s) + 60 * ${SOAK_MINUTES:-10}))

# spin, spinsend and spinheard are missing: nobody could take them back.
names=${SOAK_PROGRAMS:-npb_ft npb_cg lulesh kvstore $PROTECTED $UNMODIFIED $EDGES $CHEATS
    manager_order waitany_order births patterns_A_create patterns_B_create patterns_C_create
    patterns_D_create patterns_E_create cas_create acc_create patterns_C_plain count_plain}
restarted=0 failures=0 single=0 stayed=0 by_rule=0 nobody=0 all_rollbacks=0 all_recoveries=0

pick() { # one of the arguments, in $picked
    draw $#
    shift "$drawn"
    picked=$1
}

# The result without failures, with as little as it takes; kept, since it depends on nothing else.
reference() { # name
    [ -f "$WORK/want.$1" ] || {
        job -n $ranks --checksums 0 --spares 0 -- $cmd
        [ "$status" -eq 0 ] && [ -n "$result" ] || complain "without failures"
        nothing_left
        echo "$result" >"$WORK/want.$1"
    }
    want=$(cat "$WORK/want.$1")
}

place() { # a victim and where: --inject ...
    draw 20
    if [ "$drawn" -eq 0 ] || { [ -n "$FTRMA_DEMAND_AT" ] && [ "$drawn" -gt 17 ]; }; then # a checksum process
        set -- ckpt.proposed ckpt.parity.piece ckpt.parity.done ckpt.commit ckpt.committed
        [ -z "$FTRMA_DEMAND_AT" ] || set -- "$@" demand.lift demand.piece demand.staged demand.tagged
        pick "$@"
        at=$picked
        draw "$checksums"
        who=checksum=$drawn
    else
        [ "$drawn" -lt 15 ] && points $classes || points $classes ckpt run finalize.enter setup init.leave
        [ -z "$FTRMA_DEMAND_AT" ] || [ "$drawn" -gt 5 ] || points demand
        pick $points
        at=$picked
        draw 4
        who=rank=$drawn
    fi
    draw 3 # often early, sometimes late
    case $drawn in 0) most=4 ;; 1) most=20 ;; *) most=100 ;; esac
    draw $most
    inject="$inject --inject $who,point=$at,hit=$((drawn + 1))"
}

again() { # behind the first failure: while that is recovered, or the replacement
    points park rejoin restore resume agree repair assign $classes ${FTRMA_DEMAND_AT:+demand}
    pick $points
    draw 4
    case $picked in
    rejoin.* | restore.rebuild) who=spare=0 ;;
    *) [ "$drawn" -eq 0 ] && who=spare=0 || who=rank=$drawn ;;
    esac
    draw 20
    case $picked in msg.* | rma.* | coll.* | safepoint) ;; *) drawn=0 ;; esac
    inject="$inject --inject $who,point=$picked,hit=$((drawn + 1))"
}

settings() {
    draw 8
    case $drawn in
    0) policy="daly --mtbf 0.05" ;;
    1) policy=every:1 ;;
    2) policy=every:100 ;;
    *) policy=every:$drawn ;;
    esac
    case $kind in unmodified | onesided) policy=off ;; esac
    draw 6
    case $drawn in 0) checksums=1 ;; 1) checksums=4 ;; *) checksums=2 ;; esac
    draw 3
    if [ "$drawn" -eq 0 ] && [ $checksums -gt 1 ]; then parity=2; else parity=1; fi
    draw 3
    spares=$((drawn + 2))
    draw 6
    if [ "$drawn" -eq 0 ]; then export FTRMA_TRANSPORT=fault; else unset FTRMA_TRANSPORT; fi
    draw 3 # images taken alone, all the time
    unset FTRMA_DEMAND_AT FTRMA_DEMAND
    [ "$drawn" -lt "${SOAK_DEMAND:-1}" ] && export FTRMA_DEMAND_AT=0
    draw 2
    [ "$drawn" -eq 0 ] || export FTRMA_DEMAND=stream
    draw 12
    if [ "$drawn" -eq 0 ]; then recovery=global; else recovery=auto; fi
    pick barrier barrier barrier barrier delay peek double partial
    export FTRMA_SNAPSHOT="${SOAK_SNAPSHOT:-$picked}"
    nodes=
    [ -n "${SOAK_NODES-}" ] || return
    # what crosses nodes; members of a group and spares on both
    unset FTRMA_DEMAND_AT FTRMA_DEMAND FTRMA_SNAPSHOT FTRMA_TRANSPORT
    nodes="--virtual-nodes $SOAK_NODES"
    [ "$SOAK_NODES" != 2 ] || checksums=4 parity=1
    draw 3 # sometimes a node has no spare
    case $SOAK_NODES.$drawn in *.0) ;; 2.1) spares=1 ;; 2.*) spares=8 ;; *) spares=9 ;; esac
}

# Status 75 is right for two failures that meet, and where there is no FTRMA_Run; the message must
# say so.
allowed() {
    [ "$status" -eq 75 ] || return 1
    [ "$planned" -gt 1 ] || case $kind in unmodified | onesided) ;; *) return 1 ;; esac
    lost 'group [0-9]+ .*lost|used outside of FTRMA_Run|died 3 times|cannot be run again|.*lost'
    by_rule=$((by_rule + 1))
}

# In some runs checkpoints are saved, and half of these lose the job by the first death: there is no spare.
saving() {
    save=
    rm -rf "$WORK/sets"
    draw "${SOAK_SAVE:-5}"
    [ "$drawn" -eq 0 ] && [ -z "$nodes" ] && [ $kind = protected ] && [ "$checksums" -gt 0 ] || return
    draw 4
    save="--save $WORK/sets,every=$((drawn + 1))"
    draw 2
    if [ "$drawn" -eq 0 ]; then
        spares=0 planned=2 inject=
        place
        draw 2
        [ "$drawn" -eq 0 ] || save="$save --restarts 3"
    fi
}

# Another job goes on from the newest set, whatever became of the first one; sometimes it loses a rank.
go_on_from_files() {
    [ -n "$save" ] && ls -d "$WORK/sets/set."*[0-9] >/dev/null 2>&1 || return
    inject=
    draw 2
    [ "$drawn" -eq 0 ] || place
    restarted=$((restarted + 1))
    job --restart "$WORK/sets" --checksums $checksums --parity $parity --spares 2 \
        --recovery $recovery --checkpoint $policy $inject -- $cmd
    survived "$want"
}

account() {
    judge
    died=$(grep -o '"who":' "$WORK/report" | wc -l)
    failures=$((failures + died))
    all_rollbacks=$((all_rollbacks + rollbacks)) all_recoveries=$((all_recoveries + recoveries))
    [ "$died" -gt 0 ] || nobody=$((nobody + 1))
    [ "$died" -eq 1 ] && [ "$deaths" -eq 1 ] || return
    [ "$kind" = unmodified ] || [ $((rollbacks + recoveries)) -gt 0 ] || return # before or behind body
    single=$((single + 1))
    [ "$status" -ne 0 ] || [ "$rollbacks" -gt 0 ] || stayed=$((stayed + 1))
}

while [ "$(date +%s)" -lt $end ]; do
    pick $names
    name=$picked
    select_program "$name"
    reference "$name"
    settings
    inject= planned=1
    place
    draw 3
    case $drawn in
    0) again; planned=2 ;;
    1) place; planned=2 ;;
    esac
    saving
    job -n $ranks $nodes --checksums $checksums --parity $parity --spares $spares \
        --recovery $recovery --checkpoint $policy $save $inject -- $cmd
    account
    [ $kind = cheat ] && [ -n "$result" ] && want=$result
    allowed || survived "$want"
    go_on_from_files
done
echo "soak: $runs runs, $failures failures injected ($nobody runs without any)," \
    "single ranks that were lost in body and stayed local: $(share $stayed $single)," \
    "local recoveries $all_recoveries, rollbacks $all_rollbacks, restarts from files $restarted," \
    "lost by a rule $by_rule, wrong results $bad"
echo "repeat with SOAK_SEED=$SOAK_SEED"
verdict
