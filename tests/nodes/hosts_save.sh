#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# hosts_save.sh - a job on several hosts is saved in a directory that they share, each host writing what is there, and
# goes on from it when all is lost. The hosts are namespaces of this machine, as for hosts.sh.
. "$(dirname "$0")/../cli/lib.sh"
. "$here/lib/jobs.sh"
hosts=2

. "$here/lib/namespaces.sh"
program="$build/bin/kvstore --inserts 100 --rounds 14 --slots 128 --think-us 1500"

"$ftrun" -n 4 --checksums 0 --spares 0 $program >alone 2>err || fail "on one node: $(cat err)"
result=$(grep '^result:' alone)
frail="-n 4 --checksums 2 --spares 4 --checkpoint every:1 $on" # a host is too much for it
share=$work/share
mkdir "$share"

a_set() { ls "$1"/set.*/manifest.json >/dev/null 2>&1; }

# processes are lost, more than the codewords survive: what their hosts hold is saved, and the job goes on
up
at="--inject rank=0,point=safepoint,hit=10 --inject rank=2,point=agree.vote"
# shellcheck disable=SC2086
"$ftrun" -v $frail --save "$share/d" $at $program >out 2>err </dev/null
[ $? = 75 ] || fail "two of a group: $(tail -n 5 err)"
a_set "$share/d" || fail "no set: $(ls -R "$share") $(cat err)"
grep -q 'is saved: ' err || fail "nobody says so: $(cat err)"
# shellcheck disable=SC2086
"$ftrun" $frail --restart "$share/d" $program >out 2>err </dev/null
same "on hosts" $?
# shellcheck disable=SC2086
"$ftrun" --checksums 2 --restart "$share/d" $program >out 2>err </dev/null
same "on one node" $?
# shellcheck disable=SC2086
"$ftrun" $frail --save "$share/itself" --restarts 1 $at $program >out 2>err </dev/null
same "by itself" $?
grep -q "restart 1 of 1: all ranks go on from checkpoint" err || fail "by itself: $(cat err)"

# a restart reaches no host: the job is lost as before, and can go on later
cat >leads <<EOM
#!/bin/sh
echo called >>"$work/calls"
[ "\$(wc -l <"$work/calls")" -le $hosts ] && exec "$work/rsh" "\$@"
EOM
chmod +x leads
# shellcheck disable=SC2086
"$ftrun" $frail --rsh "$work/leads" --save "$share/later" --restarts 3 --report report $at $program \
    >out 2>err </dev/null
status=$?
[ $status = 75 ] || fail "no host for a restart: status $status: $(cat err)"
grep -q 'node 10.78.0.1 cannot be used' err || fail "no host for a restart: $(cat err)"
tail -n 1 err | grep -q "'ftrun --restart $share/later .*' goes on from it" || fail "no host for a restart: $(cat err)"
[ "$(grep -c 'all ranks go on' err)" = 1 ] || fail "no host for a restart: $(cat err)"
[ "$(jq -r .result report)" = lost ] || fail "no host for a restart: $(jq -c '[.result,.message]' report)"
# shellcheck disable=SC2086
"$ftrun" $frail --restart "$share/later" $program >out 2>err </dev/null
same "later" $?

# standard input comes again
steps="$build/tests/save_steps 16" # of which the restarted job has less than 10 left
echo 7 | "$ftrun" -n 4 --checksums 0 --spares 0 $steps >alone 2>err || fail "steps on one node: $(cat err)"
# shellcheck disable=SC2086
echo 7 | "$ftrun" $frail --save "$share/input" --restarts 1 $at $steps >out 2>err || fail "input: $(tail -n 5 err)"
grep -q "restart 1 of 1: all ranks go on from checkpoint" err || fail "input: $(cat err)"
cmp -s out alone || fail "input: $(diff out alone)"

# a host is lost, and with it images, when it was told to save, and when it has: an earlier set counts
for point in keeper.saves keeper.saved; do
    # shellcheck disable=SC2086
    "$ftrun" -v $frail --save "$share/d" --inject "keeper=1,point=$point" $program >out 2>err </dev/null
    [ $? = 75 ] || fail "$point: $(tail -n 5 err)"
    grep -q 'was not saved: 10.78.0.2: it was lost' err || fail "$point: $(cat err)"
    ! ls -d "$share"/d/*.part >/dev/null 2>&1 || fail "$point: $(ls "$share/d")"
    down
    up
    # shellcheck disable=SC2086
    "$ftrun" $frail --restart "$share/d" $program >out 2>err </dev/null
    same "$point" $?
done

# A directory that is not shared: nothing is named, and it is said.
mkdir "$work/here"
for k in $(seq $hosts); do
    inside "$k" mkdir -p "$work/here" 2>/dev/null
    inside "$k" mount -t tmpfs tmpfs "$work/here"
done
# shellcheck disable=SC2086
"$ftrun" $frail --save "$work/here/d" $program >out 2>err </dev/null
same "not shared" $?
grep -q 'was not saved: 10.78.0.[12]: .*: No such file' err || fail "not shared: $(cat err)"
! a_set "$work/here/d" || fail "a set that is not whole: $(ls -R "$work/here")"
done_testing
