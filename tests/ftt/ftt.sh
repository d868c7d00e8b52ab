#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# ftt.sh - jobs of programs that use the transport (include/ftrma_transport.h).
#
#   ftt.sh DIRECTORY-OF-FTRUN CASE...    calls fault refused in_run deaths points figure ping again server tasks
#                                        nodes node_points with_mpi left_fetch far_fetch meanwhile closes
#   FTT_FULL=1: points tries each rank at several places; FTT_POINTS: only points that match
#   FTT_NODES=K: points on K nodes; CHAOS_SEED repeats what was drawn; TEST_SHARE, see ../share.sh
BIN=$1
shift
. "$(dirname "$0")/../chaos/jobs.sh"

prog=$BIN/ftt_conform
common="--recovery program"

# Number of agents, of 8 processes on 2 nodes, that have begun on the other one than NODE.
slots_of_other() {
    case $1 in 0) list="4 5 6 7" ;; 1) list="0 1 2 3" ;; esac
    n=0
    for slot in $list; do [ ! -s "$WORK/agents/$slot" ] || n=$((n + 1)); done
    echo $n
}

for name in "$@"; do
    case $name in
    calls)
        for n in 1 2 4; do
            job $common -n $n -- $prog calls
            survived "result: all calls "
        done ;;
    fault)
        FTRMA_TRANSPORT=fault job $common -n 3 -- $prog calls
        survived "result: all calls "
        # and between nodes: links that are late, and break again and again
        job $common -n 4 -- $prog storm
        want=$result
        for faults in delay=1,cut=100000 delay=5,cut=30000; do
            export FTRMA_WIRE_FAULTS=$faults
            for k in 2 3; do
                tried || continue
                job $common -n 4 --virtual-nodes $k -- $prog calls
                survived "result: all calls "
                draw 40
                at=point=ftt.came,hit=$((drawn + 5))
                job $common -n 4 --virtual-nodes $k --spares 4 --inject rank=$((k - 1)),$at -- $prog storm
                survived "$want"
                died_at ftt.came || complain "nobody died"
                job $common -n 4 --virtual-nodes $k --spares 8 --inject node=1,$at -- $prog storm
                survived "$want"
                grep -q '"node_losses":1' "$WORK/report" || complain "no node was lost"
            done
            unset FTRMA_WIRE_FAULTS
        done ;;
    refused) # each by name
        job -n 2 -- $prog calls
        [ $status -eq 14 ] || complain "another status than that of FTT_ERR_LEVEL" # what it prints may be lost with it
        if env -i "$prog" calls >"$WORK/out" 2>&1; then complain "opened without ftrun"; fi
        grep -q 'not started by ftrun$\|not started by ftrun (' "$WORK/out" || complain "no library is not named" ;;
    in_run) # refused in body, with logs or without; opened before, it works also after a loss in body
        for level in "" "$common"; do
            job $level -n 2 -- "$BIN/ftt_in_run" body
            survived 'result: a transport is opened before FTRMA_Run, not in its body '
        done
        # The replacement does not run body again. It would have no endpoint, and the others would wait in FTT_Close.
        job $common -n 3 --spares 2 --inject rank=1,point=run.leave -- "$BIN/ftt_in_run" body
        survived 'result: a transport is opened before FTRMA_Run, not in its body '
        grep -q '"who":"rank 1"' "$WORK/report" || complain "nobody died"
        job $common -n 3 --spares 2 --inject rank=1,point=run.leave -- "$BIN/ftt_in_run"
        survived 'result: success '
        grep -q '"who":"rank 1"' "$WORK/report" || complain "nobody died"
        job $common -n 3 -- "$BIN/ftt_in_run"
        survived 'result: success '
        job $common -n 3 --spares 2 --inject rank=1,point=ftt.came,hit=2 -- "$BIN/ftt_in_run"
        survived 'result: success '
        grep -q '"who":"rank 1"' "$WORK/report" || complain "nobody died" ;;
    figure)
        job $common -n 7 --spares 1 -- $prog figure
        survived "result: all agree "
        grep -q '"who":"rank 1"' "$WORK/report" || complain "nobody died" ;;
    closes) # with all collectives outstanding that are allowed; before messages are read that came earlier
        job $common -n 2 -- $prog full
        survived "result: to the end "
        job $common -n 3 -- $prog unread
        survived "result: to the end " ;;
    ping) # nobody can agree while a process is stopped, until it is taken for dead itself
        job $common -n 4 --spares 2 --inject rank=3,point=ftt.sent,action=stop -- $prog ping
        survived "result: told while it has incarnation 0 " ;;
    again) # one rank is lost four times, each time at an earlier place: the others go on, so it is no bug
        prog=$BIN/ftt_server
        job $common -n 4 -- $prog
        want=$result
        job $common -n 4 --spares 4 --inject rank=2,point=ftt.came,hit=24 --inject spare=0,point=ftt.came,hit=9 \
            --inject spare=1,point=ftt.came,hit=6 --inject spare=2,point=ftt.came,hit=3 -- $prog
        survived "$want"
        [ "$(grep -o '"who":"rank 2"' "$WORK/report" | wc -l)" -eq 4 ] || complain "rank 2 was not lost 4 times"
        prog=$BIN/ftt_conform ;;
    server | tasks) # a rank, its replacement, and others; the result is the same
        prog=$BIN/ftt_$name
        job $common -n 4 -- $prog
        want=$result
        [ $status -eq 0 ] && [ -n "$want" ] || complain "without failures"
        died=0
        for v in 0 1 2 3; do
            [ $died -eq 0 ] || tried || continue
            draw 10
            job $common -n 4 --spares 3 --inject rank=$v,point=ftt.came,hit=$((drawn + 5)) \
                --inject spare=0,point=ftt.came,hit=$((drawn + 3)) -- $prog
            survived "$want"
            grep -q '"who":' "$WORK/report" && died=1
            job $common -n 4 --spares 3 --inject rank=$v,point=ftt.sent,hit=$((drawn * 2 + 3)) \
                --inject rank=$(((v + 1) % 4)),point=ftt.came,hit=$((drawn * 2 + 4)) -- $prog
            survived "$want"
            grep -q '"who":' "$WORK/report" && died=1
        done
        [ $died -eq 1 ] || complain "nobody died in any of these"
        if [ $name = tasks ]; then # a replacement without tasks asks ranks that are in FTT_Close
            job $common -n 4 -- $prog 4
            want=$result
            for again in 1 2 3; do # in one of them the others may not be there yet
                job $common -n 4 --spares 3 --inject rank=0,point=finalize.enter -- $prog 4
                survived "$want"
                [ "$(grep -o '"who":"rank' "$WORK/report" | wc -l)" -eq 1 ] || complain "not one loss"
            done
        fi
        prog=$BIN/ftt_conform ;;
    nodes) # the same results on nodes: without a loss, of each rank, of processes together, of a node
        echo "CHAOS_SEED=$SEED"
        for k in 2 3; do
            job $common -n 4 --virtual-nodes $k -- $prog calls
            survived "result: all calls "
        done
        for name in server tasks; do
            prog=$BIN/ftt_$name died=0
            most=20
            [ $name = server ] || most=8 # nobody knows how many headers come to whom: 10 or more, as a rule
            job $common -n 4 -- $prog
            want=$result
            [ $status -eq 0 ] && [ -n "$want" ] || complain "without failures"
            for k in 2 3; do
                job $common -n 4 --virtual-nodes $k -- $prog
                survived "$want"
                for v in 0 1 2 3; do
                    [ $((died & 1)) -eq 0 ] || tried || continue
                    draw 4
                    case $drawn in 0) point=came ;; 1) point=sent ;; 2) point=acked ;; *) point=ack ;; esac
                    draw 20
                    job $common -n 4 --virtual-nodes $k --spares 3 \
                        --inject rank=$v,point=ftt.$point,hit=$((drawn + 2)) \
                        --inject spare=0,point=ftt.came,hit=$((drawn + 3)) -- $prog
                    survived "$want"
                    grep -q '"who":' "$WORK/report" && died=1
                done
                for v in 0 1; do
                    [ $((died & 2)) -eq 0 ] || tried || continue
                    draw $most
                    job $common -n 4 --virtual-nodes $k --spares 6 \
                        --inject node=$v,point=ftt.came,hit=$((drawn + 2)) -- $prog
                    survived "$want"
                    grep -q '"node_losses":1' "$WORK/report" && died=$((died | 2))
                done
            done
            [ $died -eq 3 ] || complain "nobody died in any of these, or no node was lost"
        done
        prog=$BIN/ftt_conform
        # MPI before the transport: the logs of what it did are on the node of each rank
        job $common -n 3 --virtual-nodes 2 --checksums 2 --spares 4 \
            --inject rank=2,point=ftt.came,hit=2 -- "$BIN/ftt_in_run"
        survived 'result: success '
        grep -q '"who":"rank 2"' "$WORK/report" || complain "nobody died"
        # what is not survived is said before the start
        job $common -n 4 --virtual-nodes 2 --spares 1 --inject node=0,point=ftt.came,hit=9 -- "$BIN/ftt_server"
        lost "carries 2 ranks, and the other nodes have .*'--spares 4' would survive it" ;;
    node_points) # a gateway and its node are lost at each of its points
        prog=$BIN/ftt_conform
        job $common -n 4 -- $prog storm
        want=$result
        "$BIN/ftrun" --inject list | awk '$1 ~ /^gate\.lane\./ { print $1 }' >"$WORK/points"
        [ "$(wc -l <"$WORK/points")" -eq 4 ] || complain "other points than four"
        while read -r point; do
            tried || continue
            reached=0
            for v in gateway=0 gateway=1 node=1; do
                draw 60
                rm -rf "$WORK/agents" && mkdir "$WORK/agents"
                FTRMA_AGENT_LOG=$WORK/agents/%s job $common -n 4 --virtual-nodes 2 --spares 4 \
                    --inject $v,point=$point,hit=$((drawn + 1)) -- $prog storm
                # [The gateway dies at the first message of a rank, before the other node has heard that all are there:
                # a loss while processes start.] Then no process of the other node has an agent.
                if [ $status -eq 75 ] && grep -q "^ftrun: job lost: node${v#*=} is .*\[node-starting\]\$" "$WORK/err" &&
                    [ "$(slots_of_other "${v#*=}")" -eq 0 ]; then
                    nothing_left
                    continue
                fi
                survived "$want"
                grep -q '"node_losses":1' "$WORK/report" && reached=$((reached + 1))
            done
            [ $reached -gt 0 ] || complain "nobody ever came to $point"
        done <"$WORK/points" ;;
    left_fetch) # also between nodes, where the data comes in pieces
        for nodes in "" "--virtual-nodes 2"; do
            for how in "" polls; do
                job $common -n 3 $nodes --checksums 2 --spares 4 --inject rank=2,point=msg.send.half -- \
                    "$BIN/ftt_left_fetch" $how
                survived "result: the buffer is the program's own "
                grep -q '"who":"rank 2"' "$WORK/report" || complain "nobody died"
            done
        done ;;
    meanwhile) # messages of MPI, while those whom they need are in calls of the transport
        for n in 2 4; do
            for nodes in "" "--virtual-nodes 2"; do
                job $common -n $n $nodes -- "$BIN/ftt_meanwhile"
                survived "result: all went on "
            done
        done ;;
    far_fetch) # also when the carrier that was asked is lost with its node, and the next one is on the asker's
        export FTRMA_ARENA_SIZE=16M
        job $common -n 2 --virtual-nodes 2 -- "$BIN/ftt_far_fetch"
        survived "result: all of it "
        job $common -n 2 --virtual-nodes 2 --spares 2 --inject node=1,point=ftt.waits -- "$BIN/ftt_far_fetch" late
        survived "result: all of it "
        grep -q '"node_losses":1' "$WORK/report" || complain "no node was lost"
        unset FTRMA_ARENA_SIZE ;;
    with_mpi) # MPI and the transport in one body: a rank is lost, its replacement, two together, a node
        echo "CHAOS_SEED=$SEED"
        prog=$BIN/ftt_with_mpi
        job $common -n 4 -- $prog
        want=$result
        [ $status -eq 0 ] && [ -n "$want" ] || complain "without failures"
        job $common -n 4 -- $prog outside # of FTRMA_Run: the replacement repeats MPI, and the transport goes on
        survived "$want"
        for nodes in "" "--virtual-nodes 2" "--virtual-nodes 3"; do
            safe="$common -n 4 $nodes --checksums 4 --spares 8 --checkpoint every:3"
            for point in ftt.came ftt.sent rma.fence msg.recv.match; do
                tried || continue
                draw 4
                victim=$drawn
                draw 9
                [ $point != msg.recv.match ] || drawn=$((drawn + 14)) # not what setup receives
                job $safe --inject rank=$victim,point=$point,hit=$((drawn + 3)) -- $prog
                survived "$want"
                grep -q '"told_recoveries":[1-9]' "$WORK/report" || complain "body was not entered again"
            done
            if tried; then
                job $safe --inject rank=3,point=ftt.came,hit=9 --inject rank=0,point=told.reset \
                    --inject spare=0,point=ftt.sent -- $prog
                survived "$want"
                [ "$(grep -o '"who":"rank' "$WORK/report" | wc -l)" -eq 3 ] || complain "not three ranks were lost"
            fi
            [ -n "$nodes" ] || continue
            for point in safepoint ftt.came ftt.sent rma.fence; do
                tried || continue
                draw 2
                victim=$drawn
                draw 8
                job $safe --inject node=$victim,point=$point,hit=$((drawn + 6)) -- $prog
                survived "$want"
                grep -q '"node_losses":1' "$WORK/report" || complain "no node was lost"
                grep -q '"told_recoveries":[1-9]' "$WORK/report" || complain "body was not entered again"
            done
        done
        # outside of FTRMA_Run what MPI did is in logs of the lost node
        job $common -n 4 --virtual-nodes 2 --checksums 4 --spares 8 --inject node=1,point=ftt.came,hit=10 -- \
            $prog outside
        lost '\[node-lost\]$'
        job $common -n 4 --spares 2 --inject rank=2,point=ftt.came,hit=10 -- $prog outside
        survived "$want"
        grep -q '"who":"rank 2"' "$WORK/report" || complain "nobody died"
        prog=$BIN/ftt_conform ;;
    deaths | points)
        [ -z "$FTT_NODES" ] || common="$common --virtual-nodes $FTT_NODES"
        job $common -n 4 -- $prog storm
        want=$result
        [ $status -eq 0 ] && [ -n "$want" ] || complain "without failures"
        nothing_left ;;
    esac
    case $name in
    deaths) # one rank again and again, and two together
        job $common -n 4 --spares 4 --inject rank=2,point=ftt.polled,hit=9,again=1 -- $prog storm
        lost 'no-spare' # each carrier of the rank comes there
        job $common -n 4 --spares 3 --inject rank=1,point=ftt.polled,hit=20 \
            --inject rank=3,point=ftt.polled,hit=22 -- $prog storm
        survived "$want"
        job $common -n 4 --spares 3 --inject rank=0,point=ftt.came,hit=40 \
            --inject rank=0,point=ftt.polled,hit=3 -- $prog storm
        survived "$want" ;;
    points) # each failpoint of the transport
        "$BIN/ftrun" --inject list |
            awk -v of="${FTT_POINTS:-.}" '$1 ~ /^ftt\./ && $1 ~ of { print $1 }' >"$WORK/points"
        [ -s "$WORK/points" ] || complain "no failpoints"
        while read -r point; do
            case $point in ftt.piece | ftt.pieces) [ -n "$FTT_NODES" ] || continue ;; esac # between nodes
            tried || continue
            reached=0
            ranks="0 2" hits="1 7"
            [ -z "$FTT_FULL" ] || ranks="0 1 2 3" hits="1 2 5 17 40"
            for r in $ranks; do
                for h in $hits; do
                    other=
                    # what only a loss leads to
                    case $point in
                    ftt.adopt | ftt.adopted | ftt.resume) other="--inject rank=1,point=ftt.polled,hit=9" ;;
                    esac
                    [ -z "$other" ] || [ $r -ne 1 ] || continue
                    job $common -n 4 --spares 3 $other --inject rank=$r,point=$point,hit=$h -- $prog storm
                    survived "$want"
                    died_at $point && reached=$((reached + 1))
                done
            done
            [ $reached -gt 0 ] || complain "nobody ever came to $point"
        done <"$WORK/points" ;;
    esac
done
verdict
