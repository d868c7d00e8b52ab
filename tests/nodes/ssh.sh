#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# ssh.sh - a job on several hosts whose keepers are started by ssh itself, as `ftrun --host A,B,C` does when nothing
# else is said. Each host is a namespace (lib/namespaces.sh) with an sshd of its own, and ftrun runs on the first one.
# ssh gives a keeper another environment and another working directory than ftrun has, and its remote end lives on when
# the client is killed. A host that refuses the key, and one without sshd, are named before the start.
. "$(dirname "$0")/../cli/lib.sh"
. "$here/lib/jobs.sh"
hosts=3
[ -x /usr/sbin/sshd ] && command -v ssh >/dev/null || skip "no sshd: 'sh scripts/deps.sh cluster' installs it"
. "$here/lib/namespaces.sh"
npb_cg=$build/bin/npb_cg

ssh-keygen -q -t ed25519 -N '' -f key && ssh-keygen -q -t ed25519 -N '' -f host_key || fail "ssh-keygen"
cp key.pub authorized
cat >sshd_config <<EOM
Port 22
HostKey $work/host_key
AuthorizedKeysFile $work/authorized
PidFile none
PasswordAuthentication no
PermitRootLogin yes
StrictModes no
UsePAM no
EOM
printf '10.78.0.* %s\n' "$(cat host_key.pub)" >known
cat >ssh_config <<EOM
IdentityFile $work/key
IdentitiesOnly yes
BatchMode yes
UserKnownHostsFile $work/known
ConnectTimeout 10
EOM
mkdir -p path tmp # what a lost host leaves is there
printf '#!/bin/sh\nexec /usr/bin/ssh -F "%s/ssh_config" "$@"\n' "$work" >path/ssh
chmod +x path/ssh
on="--host 10.78.0.1,10.78.0.2,10.78.0.3"
safe="-n 4 --checksums 4 --spares 8 --checkpoint every:2"

serve() { # HOST
    inside "$1" mount -t tmpfs tmpfs /run # of this host alone
    inside "$1" mkdir /run/sshd
    inside "$1" /usr/sbin/sshd -f "$work/sshd_config" || fail "no sshd on host $1"
}
# job ARGUMENTS: ftrun on the first host; its standard output and error in out and err
job() {
    inside 1 env TMPDIR="$work/tmp" PATH="$work/path:$PATH" HERE=1 timeout "$CLI_LIMIT" "$ftrun" "$@" \
        >out 2>err </dev/null
}

await_checkpoint() { # NUMBER: of the job whose lines are in err
    for _ in $(seq 3000); do
        grep -q "checkpoint $1 committed" err 2>/dev/null && return
        sleep 0.02
    done
    fail "no checkpoint $1: $(cat err)"
}

alone "$npb_cg" A
result_a=$result
alone "$npb_cg" S
up
for k in 1 2 3; do serve $k; done
# shellcheck disable=SC2086
job -n 4 $on "$npb_cg" S
same "by ssh" $?

# The program has ftrun's environment and working directory, not those of the login.
mkdir -p "deep er"
printf '#!/bin/sh\necho "at $PWD with $HERE"\nexec "%s" S\n' "$npb_cg" >"deep er/run it"
chmod +x "deep er/run it"
# shellcheck disable=SC2086
inside 1 env -C "$work/deep er" TMPDIR="$work/tmp" PATH="$work/path:$PATH" HERE='a "b" $c' \
    "$ftrun" -n 4 $on "./run it" >out 2>err </dev/null
same "another directory" $?
[ "$(grep -cF "at $work/deep er with a \"b\" \$c" out)" -ge 4 ] || fail "another directory or environment: $(cat out)"

# ssh itself is killed: that says nothing of the host, which may run on until its lease is over.
rm -f err
lease 4000
# shellcheck disable=SC2086
job -v $safe $on "$npb_cg" A &
running=$!
await_checkpoint 2
killed=$(date +%s%N)
pkill -KILL -f "^/usr/bin/ssh -F $work/ssh_config .* 10.78.0.3 " || fail "no ssh to host 3"
while kill -0 $running 2>/dev/null && ! grep -q '^ftrun: 10.78.0.3 lost' err; do sleep 0.01; done
grep -q '^ftrun: 10.78.0.3 lost (the command that led to it was killed by SIGKILL)' err || fail "ssh: $(cat err)"
[ $(($(date +%s%N) - killed)) -gt 1000000000 ] || fail "ssh: host 3 was out at once, without a word of its guardian"
wait $running || fail "ssh: status $?, $(tail err)"
unset FTRMA_LEASE_MS
[ "$(grep '^result:' out)" = "$result_a" ] || fail "ssh: $(grep '^result:' out), not $result_a"

# A process, then a host, then ftrun, which leaves nothing on any host.
# shellcheck disable=SC2086
job $safe $on --inject rank=1,point=safepoint,hit=9 "$npb_cg" S
same "a rank" $?
grep -q 'ftrun: rank 1 lost (SIGKILL)' err || fail "a rank: $(cat err)"
rm -f err
# shellcheck disable=SC2086
job -v $safe $on "$npb_cg" S &
running=$!
await_checkpoint 4
lose 3
wait $running
same "host 3" $?
grep -q 'ftrun: 10.78.0.3 lost' err || fail "host 3 was not lost: $(cat err)"
down
up
for k in 1 2; do serve $k; done
# shellcheck disable=SC2086
job -n 4 $on "$npb_cg" S && fail "a host without sshd"
grep -q "node 10.78.0.3 cannot be used: 'ftrun --keeper' has ended there at once" err || fail "no sshd: $(cat err)"
serve 3
inside 3 mount --bind /dev/null "$work/authorized"
# shellcheck disable=SC2086
job -n 4 $on "$npb_cg" S && fail "a host that refuses the key"
grep -q "node 10.78.0.3 cannot be used: 'ftrun --keeper' has ended there at once" err || fail "refused: $(cat err)"
inside 3 umount "$work/authorized"
rm -f err
# shellcheck disable=SC2086
job -v $safe $on "$npb_cg" B &
running=$!
await_checkpoint 2
inside 1 pkill -KILL -x -o ftrun # the oldest: the one that was typed
wait $running
living() { inside "$1" pgrep -r D,R,S,T -l 'ftr|npb_cg'; } # nobody reaps zombies there
for k in 1 2 3; do
    for _ in $(seq 500); do
        living $k >/dev/null || break
        sleep 0.02
    done
    ! living $k || fail "host $k: something is left"
done
done_testing
