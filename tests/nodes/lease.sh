#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# lease.sh - deaths at each step of a host's lease, and of a host's being out: in the keeper, and in ftrun. A keeper's
# death is its host's loss, and the result is that of a job without a loss; ftrun's is the job's end. In either case all
# processes of that host end by themselves, and nothing is left in its /dev/shm. ftrun that stands still for longer than
# a lease loses nobody.
. "$(dirname "$0")/../cli/lib.sh"
. "$here/lib/jobs.sh"
npb_cg=$build/bin/npb_cg
hosts=4
. "$here/lib/namespaces.sh"
alone "$npb_cg" S
lease 4000 # at a load of 60 on two cores a host with 2000 was lost now and then: it got no turn
safe="-n 4 --checksums 4 --parity 2 --spares 12 --checkpoint every:2"
program="$npb_cg S"

# left K: what runs on host K, and bytes in its /dev/shm
left() {
    echo "$(inside "$1" ps -e -o comm= | grep -E 'ftrun|ftrma|npb_cg')" \
        "$(inside "$1" df --output=used -B1 /dev/shm | tail -1)"
}
nothing_on() { # WHAT K
    for _ in $(seq 300); do
        what=$(left "$2" | tr -d ' \n')
        [ "$what" = 0 ] && return
        sleep 0.05
    done
    fail "$1: left on host $2: $(left "$2")"
}
begin() { # INJECTION
    rm -f err
    # shellcheck disable=SC2086
    "$ftrun" -v $safe $on --inject "$1" $program >out 2>err </dev/null &
    job=$!
}
# No job ends before what is to happen in it: rank 0, on host 1, stands at its ninth safepoint until the host is let go.
hold="rank=0,point=safepoint,hit=9,action=stop"
export FTRMA_PING_TIMEOUT_MS=0
let_go() {
    while kill -0 $job 2>/dev/null; do # it may come there later
        inside 1 pkill -CONT -x npb_cg 2>/dev/null
        sleep 0.2
    done
    wait $job
}
# lost_to INJECTION SAID PROGRAM...: the job goes on without host 2. The injection's last hit counts asks for the
# lease, in time: it is doubled while it comes before the first checkpoint.
lost_to() {
    what=$1 said=$2
    shift 2
    for hit in 4 8 16 32 64; do
        rm -f err
        # shellcheck disable=SC2086
        "$ftrun" -v $safe $on --inject "$hold;$what,hit=$hit" "$@" >out 2>err </dev/null &
        job=$!
        until grep -q '^ftrun: 10.78.0.2 lost' err 2>/dev/null || ! kill -0 $job 2>/dev/null; do sleep 0.05; done
        let_go
        status=$?
        [ $status = 75 ] && ! grep -q 'checkpoint 1 committed' err || break
    done
    same "$what,hit=$hit" $status
    grep -q "^ftrun: 10.78.0.2 lost$said, and with it" err || fail "$what,hit=$hit: $(grep -v '^\[ftrma' err)"
    nothing_on "$what" 2
}

up
# A host may take longer than its lease to start. If its keeper is killed meanwhile, that is known at once, though a
# host may take for ever (FTRMA_START_TIMEOUT_MS is 0).
is_stopped() { inside 2 ps -C ftrun -o stat= | grep -q T; }
begin "keeper=1,point=keeper.begins,action=stop"
for _ in $(seq 3000); do is_stopped 2>/dev/null && break; sleep 0.02; done
is_stopped || fail "a late start: nobody has stopped: $(cat err)"
sleep $((FTRMA_LEASE_MS / 1000 + 2))
inside 2 pkill -CONT ftrun
wait $job
same "a late start" $?
! grep -q '^ftrun: 10.78.* lost' err || fail "a late start: $(grep -v '^\[ftrma' err)"
FTRMA_START_TIMEOUT_MS=0 begin "keeper=1,point=keeper.begins"
wait $job
status=$?
[ $status = 75 ] && grep -q '^ftrun: job lost: 10.78.0.2 is lost (its keeper was killed by SIGKILL)' err ||
    fail "keeper.begins: status $status: $(grep -v '^\[ftrma' err)"
nothing_on keeper.begins 2

stalls="gateway=1,point=gate.words.taken,hit=60,action=stop"
lost_to "keeper=1,point=keeper.asked" ".*" "$npb_cg" S
# a shell is between its server and the program
lost_to "keeper=1,point=keeper.granted" ".*" sh -c '"$0" S; exit $?' "$npb_cg"

stalls() { # POINT SAID: the gateway of host 2 stops, so its keeper does not ask for the lease
    begin "$stalls;keeper=1,point=$1"
    wait $job
    same "$1" $?
    grep -q "^ftrun: 10.78.0.2 lost$2, and with it" err || fail "$1: $(grep -v '^\[ftrma' err)"
    nothing_on "$1" 2
}
stalls keeper.stops ".*"
stalls keeper.ends " (nothing has been heard of it)"

# two hosts, one after the other, in the middle of what is done about the first
begin "node=3,point=safepoint,hit=9;keeper=1,point=keeper.hears.out"
wait $job
status=$?
case $(sed -n 's/^ftrun: job lost: .*\[\([a-z-]*\)\]$/\1/p' err) in
group-lost) [ $status = 75 ] || fail "keeper.hears.out: status $status: $(tail -n 3 err)" ;; # both, of one group
*) same "keeper.hears.out" $status ;;
esac
grep -q "^ftrun: 10.78.0.2 lost" err || fail "keeper.hears.out: $(grep -v '^\[ftrma' err)"
nothing_on "keeper.hears.out" 2

# ftrun stands still
stands() { # HIT INJECTION: for two leases, until all that was asked for is too old; then it goes on
    begin "$hold;launcher=0,point=launcher.grant,hit=$1,action=stop$2"
    for _ in $(seq 3000); do
        [ "$(awk '{ print $3 }' /proc/$job/stat 2>/dev/null)" = T ] && break
        kill -0 $job 2>/dev/null || break
        sleep 0.02
    done
    [ "$(awk '{ print $3 }' /proc/$job/stat 2>/dev/null)" = T ] || fail "ftrun has not stopped: $(cat err)"
    for k in 1 2 3 4; do
        for _ in $(seq 3000); do
            inside $k ps -C npb_cg -o stat= | grep -q T && break
            sleep 0.02
        done
    done
    sleep $((2 * FTRMA_LEASE_MS / 1000))
    kill -CONT $job
    let_go
}
stands 9 ''
same "ftrun stands still" $?
! grep -q '^ftrun: 10.78.* lost' err || fail "ftrun stands still: $(grep -v '^\[ftrma' err)"
for hit in 9 18 36 72; do # not before the first checkpoint
    stands $hit ';keeper=1,point=keeper.goes_on'
    status=$?
    [ $status = 75 ] && ! grep -q 'checkpoint 1 committed' err || break
done
same "keeper.goes_on" $status
grep -q "^ftrun: 10.78.0.2 lost" err || fail "keeper.goes_on: $(grep -v '^\[ftrma' err)"

# ftrun ends: so does all
for what in "$hold;launcher=0,point=launcher.grant,hit=9" "node=1,point=safepoint,hit=9;launcher=0,point=launcher.out" \
    "node=1,point=safepoint,hit=9;launcher=0,point=launcher.out.told"; do
    begin "$what"
    wait $job 2>/dev/null
    status=$?
    [ $status = 137 ] || fail "$what: status $status: $(tail -n 3 err)"
    for k in 1 2 3 4; do nothing_on "$what" $k; done
done
done_testing
