#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# hosts.sh - a job on several hosts (ftrun --host A,B,C): namespaces of this machine, each with a network, processes, a
# host name and /dev/shm of its own. It needs root, and a kernel that gives namespaces to root. Hosts are lost in the
# middle of a job, which ends with the result that it has on one.
. "$(dirname "$0")/../cli/lib.sh"
. "$here/lib/jobs.sh"
npb_cg=$build/bin/npb_cg
hosts=3

. "$here/lib/namespaces.sh"

alone "$npb_cg" S
cp out alone
# without a loss, and with one of a process
up
# shellcheck disable=SC2086
"$ftrun" -n 4 $on "$npb_cg" S >out 2>err </dev/null
same "no checkpoints" $?
cmp -s out alone || [ "$(grep -c . out)" = "$(grep -c . alone)" ] || fail "another output: $(cat out)"
# shellcheck disable=SC2086
"$ftrun" -n 4 $on --checksums 0 --spares 0 "$build/tests/nodes_talk" errors >out 2>err </dev/null ||
    fail "standard error: status $?"
[ "$(wc -l <out)" = 4 ] && grep -qx 'an error' err || fail "standard error went elsewhere: $(cat out)"
# What a wrapper prints, or a program before MPI_Init and without MPI, goes to the same streams, in any case.
# shellcheck disable=SC2086
"$ftrun" -n 4 $on --checksums 0 --spares 0 sh -c "echo early; echo first >&2; exec '$npb_cg' S" >out 2>err </dev/null
same "early output" $?
[ "$(grep -cx early out)" = 4 ] && [ "$(grep -cx first err)" = 4 ] && ! grep -qx early err ||
    fail "early output: $(cat out err)"
# shellcheck disable=SC2086
"$ftrun" -n 3 $on --checksums 0 --spares 0 sh -c 'yes | head -n 100000' >out 2>err </dev/null
[ "$(wc -l <out)" = 300000 ] || fail "without MPI: $(wc -l <out) lines, $(tail err)"
# What is preloaded is as on one node: the user's own library comes after ours, and between them what knows who has
# allocated memory, if memory is looked at closely.
mine=$(ldd "$npb_cg" | awk '$1 ~ /^libm\.so/ { print $3 }')
preloads() { # HOW MIDDLE: of each rank with --check-memory HOW
    # shellcheck disable=SC2086
    "$ftrun" -n 4 $on --checksums 0 --spares 0 --check-memory "$1" -x LD_PRELOAD="$mine" \
        sh -c "echo with \$LD_PRELOAD; exec '$npb_cg' S" >out 2>err </dev/null
    same "LD_PRELOAD, --check-memory $1" $?
    [ -n "$mine" ] && [ "$(grep -cx "with [^:]*/libftrma.so$2:$mine" out)" = 4 ] ||
        fail "LD_PRELOAD, --check-memory $1: $(grep '^with' out), and the user's is $mine"
}
preloads off ''
preloads always ':[^:]*/libftrma_sites.so'
# What was shown is not kept. The ranks of host 2 wait until all of it was.
# shellcheck disable=SC2086
"$ftrun" -n 3 $on --checksums 0 --spares 0 sh -c "yes | head -c 12000000
    until [ -e '$work/shown' ]; do sleep 0.1; done" >out 2>err </dev/null &
job=$!
while kill -0 $job 2>/dev/null && [ "$(wc -c <out)" -lt 36000000 ]; do sleep 0.1; done
kept=$(inside 2 sh -c 'for f in /proc/[0-9]*/fd/*; do
    case $(readlink "$f") in *ftrma-stdout*) stat -L -c %b "$f" ;; esac
done' 2>/dev/null | sort -n | tail -n 1)
[ -n "$kept" ] && [ "$kept" -lt 8192 ] || fail "a host keeps $kept blocks of 512 bytes of what was shown"
touch "$work/shown"
wait $job || fail "much output: $(tail err)"
rm "$work/shown"
safe="-n 4 --checksums 4 --spares 8 --checkpoint every:2 $on"
# shellcheck disable=SC2086
"$ftrun" $safe --inject rank=1,point=safepoint,hit=9 "$npb_cg" S >out 2>err </dev/null
same "a rank" $?
grep -q 'ftrun: rank 1 lost (SIGKILL)' err || fail "a rank: $(cat err)"

begin() { # a job, which has taken some checkpoints
    rm -f err # or the loop below would read the last job's
    # shellcheck disable=SC2086
    "$ftrun" -v $safe --report report "$npb_cg" S >out 2>err </dev/null &
    job=$!
    has_committed 4
}

# host K
host() {
    k=$1
    begin
    [ $k = 1 ] || inside $k sh -c '
        adj() { cat "/proc/$(pgrep "$@" | head -n 1)/oom_score_adj"; }
        [ "$(adj -x npb_cg)" -gt "$(adj -o -x ftrun)" ]' || fail "host $k: its keeper is not spared when memory ends"
    lose $k
    wait $job
    same "host $k" $?
    grep -q "ftrun: 10.78.0.$k lost (the command that led to it was killed by SIGKILL), and with it" err ||
        fail "host $k: $(cat err)"
    grep -q "^ftrun: the job lost 1 node; [0-9]* spares left" err || fail "host $k: no sum: $(grep ^ftrun err)"
    [ "$(jq -c '[.nodes[].lost]' report)" = "$(jq -cn "[range(1;4)|.==$k]")" ] || fail "host $k: $(jq -c .nodes report)"
    down
    up
}

# All of the first of two hosts. Before its lease is over, the other one has said that it cannot reach the first one.
first_of_two() {
    rm -f err
    lease 3000
    "$ftrun" -v -n 2 --checksums 2 --spares 4 --checkpoint every:2 --report report \
        --rsh "$work/rsh" --host 10.78.0.1,10.78.0.2 "$build/bin/npb_ft" W --iters 40 >out 2>err </dev/null &
    job=$!
    has_committed 2
    lose 1
    wait $job || fail "the first of two: $(grep -v '^\[ftrma' err)"
    grep -q '^result:' out && grep -q '^ftrun: 10.78.0.1 lost' err && ! grep -q '^ftrun: 10.78.0.2 lost' err ||
        fail "the first of two: $(grep -v '^\[ftrma' err)"
    down
    up
}

# The keeper alone: its guardian says so at once, long before the lease is over.
keeper() {
    export FTRMA_LEASE_MS=600000
    begin
    inside 2 sh -c 'pkill -KILL -x ftrun -P "$(pgrep -o -x ftrun)"'
    wait $job
    same "a keeper" $?
    grep -q "ftrun: 10.78.0.2 lost (its keeper was killed by SIGKILL), and with it" err || fail "a keeper: $(cat err)"
    ! inside 2 pgrep -x npb_cg >/dev/null || fail "a keeper: its processes are there: $(inside 2 pgrep -a npb_cg)"
}

# The guardian alone: the keeper dies with it, and nobody says so before the lease is over.
guardian() {
    lease 3000
    begin
    inside 2 pkill -KILL -o -x ftrun
    wait $job
    same "a guardian" $?
    grep -q "ftrun: 10.78.0.2 lost (the command that led to it was killed by SIGKILL), and with it" err ||
        fail "a guardian: $(cat err)"
    ! inside 2 pgrep -x npb_cg >/dev/null || fail "a guardian: its processes are there: $(inside 2 pgrep -a npb_cg)"
}

hurt() { # HOW
    case $1 in
    cut) ip -n "${tag}sw" link set v2 down ;;
    stop) inside 2 sh -c 'kill -STOP $(pgrep "ftr|npb_cg")' ;;
    apart) inside 2 ip route add blackhole 10.78.0.3 ;;
    esac
}
heal() {
    case $1 in
    cut) ip -n "${tag}sw" link set v2 up ;;
    stop) inside 2 sh -c 'kill -CONT $(pgrep "ftr|npb_cg")' ;;
    apart) inside 2 ip route del blackhole 10.78.0.3 ;;
    esac
}
# A host that nobody reaches (cut), all of a host stopped for longer than its lease, or two that do not reach each other
# (apart): one goes out, ends by itself, and changes nothing.
unheard() {
    how=$1
    lease 2000
    case $how in
    cut) said='10.78.0.2 lost (other nodes cannot reach it), and with it' ;;
    stop) said='10.78.0.2 lost (nothing has been heard of it), and with it' ;;
    apart) said='10.78.0.[23] lost (other nodes cannot reach it), and with it' ;;
    esac
    begin
    hurt $how
    while kill -0 $job 2>/dev/null && ! grep -q "ftrun: $said" err; do sleep 0.02; done
    grep -q "ftrun: $said" err || fail "$how: $(cat err)"
    heal $how
    wait $job
    same "$how" $?
    for _ in $(seq 200); do
        inside 2 pgrep ftrun >/dev/null || break
        sleep 0.05
    done
    ! inside 2 pgrep ftrun >/dev/null || fail "$how: what was out lives on: $(inside 2 pgrep -a ftrun)"
}

# For a debugger: a host may stand still for longer than its lease.
debugged() {
    export FTRMA_LEASE_MS=1000
    safe_before=$safe safe="$safe --debug"
    begin
    hurt stop
    sleep 3
    for p in $(inside 2 ps -C npb_cg -o pid=); do # of its ranks, one at least has sent something
        inside 2 "$build/bin/ftrma-dump" --messages --limit 1 "$p" >>dumped 2>&1
    done
    grep -q '^messages of rank [0-3] to rank [0-3], ' dumped || fail "ftrma-dump on a host: $(cat dumped)"
    heal stop
    wait $job
    same "--debug" $?
    ! grep -q '^ftrun: 10.78.* lost' err || fail "--debug: $(cat err)"
    safe=$safe_before
}

for case in "host 1" "host 2" "host 3" first_of_two keeper guardian "unheard cut" "unheard stop" "unheard apart" \
    debugged; do
    tried || continue
    $case
    unset FTRMA_LEASE_MS
done

# a host that is lost while processes start
# shellcheck disable=SC2086
"$ftrun" $safe --inject node=1,point=init.enter "$npb_cg" S >out 2>err </dev/null
[ $? = 75 ] || fail "while processes start: $(cat out err)"
grep -q '10.78.0.2 is lost (its keeper was killed by SIGKILL), and not all .* MPI_Init.*\[node-starting\]' err ||
    fail "while processes start: $(cat err)"
down
up

# what cannot begin is said
for list in 10.78.0.1,nowhere.invalid nowhere.invalid,10.78.0.1; do
    TMPDIR=$work/tmp "$ftrun" -n 2 --rsh "$work/rsh" --host $list --report report "$npb_cg" S >out 2>err </dev/null
    status=$?
    [ $status = 2 ] || fail "$list: status $status"
    grep -q 'host nowhere.invalid is not known here' err || fail "$list: $(cat err)"
    [ "$(jq -r .message report)" = 'host nowhere.invalid is not known here' ] || fail "$list: $(jq .message report)"
    [ -z "$(ls -A "$work/tmp")" ] || fail "$list: left in TMPDIR: $(ls -A "$work/tmp")"
done
# A loopback address is each host's own: not to be named with other hosts, before any of them is started.
for list in localhost,10.78.0.1 10.78.0.2,127.0.1.1; do
    TMPDIR=$work/tmp FTRMA_START_TIMEOUT_MS=10000 "$ftrun" -n 2 --rsh "$work/rsh" --host $list "$npb_cg" S \
        >out 2>err </dev/null
    status=$?
    [ $status = 2 ] || fail "$list: status $status"
    grep -q 'host .* is 127.0.[01].1 here, which other hosts cannot reach: name it by its address' err ||
        fail "$list: $(cat err)"
    [ -z "$(ls -A "$work/tmp")" ] || fail "$list: left in TMPDIR: $(ls -A "$work/tmp")"
done
# If all hosts are this machine, it goes on.
printf '#!/bin/sh\nshift\nexec "$@"\n' >"$work/here"
chmod 755 "$work/here"
"$ftrun" -n 4 --rsh "$work/here" --host localhost,127.0.0.2 --checksums 0 --spares 0 "$npb_cg" S >out 2>err </dev/null
same "all hosts are this machine" $?
# A name may have another address, too, where the system takes more than one from /etc/hosts.
printf '127.0.1.1 both.2\n10.78.0.2 both.2\n' >"$work/both"
with_both() { unshare -m sh -c 'mount --bind "$0" /etc/hosts && exec "$@"' "$work/both" "$@"; }
if with_both getent ahostsv4 both.2 | grep -q '^10.78.0.2 '; then
    with_both "$ftrun" -n 4 --rsh "$work/rsh" --host 10.78.0.1,both.2 --checksums 0 --spares 0 "$npb_cg" S \
        >out 2>err </dev/null
    same "a name with two addresses" $?
fi
# Room for arenas counts where they are: on each host, for its own processes.
inside 2 mount -t tmpfs -o mode=1777,size=2m tmpfs /dev/shm
# shellcheck disable=SC2086
TMPDIR=$work/tmp "$ftrun" -n 3 $on --checksums 0 --spares 0 "$npb_cg" S >out 2>err </dev/null
status=$?
[ $status = 2 ] || fail "no room on host 2: status $status: $(cat err)"
grep -q 'node 10.78.0.2 cannot be used: too little room in /dev/shm: 1 process needs at least' err ||
    fail "no room on host 2: $(cat err)"
inside 2 umount /dev/shm
# shellcheck disable=SC2086
unshare -m sh -c 'mount -t tmpfs -o mode=1777,size=6m tmpfs /dev/shm && exec "$@"' sh \
    "$ftrun" -n 4 $on --checksums 0 --spares 0 "$npb_cg" S >out 2>err </dev/null
same "little room where ftrun runs" $?
# a host that does not answer, and a user who waits no longer
printf '#!/bin/sh\nexec sleep 1000\n' >"$work/silent"
chmod 755 "$work/silent"
for sig in TERM INT; do
    TMPDIR=$work/tmp "$ftrun" -n 2 --rsh "$work/silent" --host 10.78.0.1,10.78.0.2 "$npb_cg" S >out 2>err </dev/null &
    job=$!
    until pgrep -P $job >/dev/null; do sleep 0.05; done
    sleep 0.3
    kill -$sig $job
    for _ in $(seq 600); do
        kill -0 $job 2>/dev/null || break
        sleep 0.05
    done
    ! kill -0 $job 2>/dev/null || fail "SIG$sig while hosts start: it goes on"
    wait $job
    status=$?
    [ $status -gt 128 ] || fail "SIG$sig while hosts start: status $status: $(cat err)"
    [ -z "$(ls -A "$work/tmp")" ] || fail "SIG$sig: left in TMPDIR: $(ls -A "$work/tmp")"
done
mkdir -p "$work/other"
cp "$npb_cg" "$work/other/prog"
cp "$npb_cg" "$work/prog"
strip "$work/other/prog" && objcopy --remove-section .note.gnu.build-id "$work/other/prog"
inside 2 mount --bind "$work/other/prog" "$work/prog"
# shellcheck disable=SC2086
"$ftrun" -n 3 $on "$work/prog" S >out 2>err </dev/null && fail "another build"
grep -q 'node 10.78.0.2 cannot be used: its program is another one than where ftrun runs' err ||
    fail "another build: $(cat err)"
# shellcheck disable=SC2086
"$ftrun" -n 4 --mixed $on "$work/prog" S >out 2>err </dev/null
same "--mixed" $?
"$ftrun" -n 2 --rsh "$work/no-such" --host 10.78.0.1,10.78.0.2 "$npb_cg" S >out 2>err </dev/null && fail "no command"
grep -q 'node 10.78.0.1 cannot be used' err || fail "no command: $(cat err)"
# shellcheck disable=SC2086
"$ftrun" -n 3 $on "$build/no-such-program" >out 2>err </dev/null && fail "no program"
# shellcheck disable=SC2086
"$ftrun" -n 3 --tag-output $on "$npb_cg" S >out 2>err && fail "an option of mpirun"
grep -q 'is an option of mpirun' err || fail "an option of mpirun: $(cat err)"
keepers() { # on our hosts: other tests have some, too
    for k in $(seq $hosts); do
        for p in $(ip netns pids "$tag$k"); do tr '\0' ' ' <"/proc/$p/cmdline" && echo; done
    done 2>/dev/null | grep 'ftrun --keeper'
}
for _ in $(seq 100); do keepers >left || break; sleep 0.1; done
! keepers >left || fail "keepers are left: $(cat left)"
done_testing
