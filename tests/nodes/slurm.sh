#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# slurm.sh - a batch job of a real Slurm on three hosts, which are namespaces of this machine (lib/namespaces.sh): ftrun
# takes the hosts from the allocation, and one of them is lost in the middle. Without Slurm (scripts/deps.sh cluster)
# this test is skipped.
. "$(dirname "$0")/../cli/lib.sh"
. "$here/lib/jobs.sh"
npb_cg=$build/bin/npb_cg
hosts=3
for tool in slurmctld slurmd sbatch munged; do
    PATH=$PATH:/usr/sbin command -v $tool >/dev/null || skip "no $tool"
done
. "$here/lib/namespaces.sh"

export SLURM_CONF="$work/slurm.conf" PATH="$PATH:/usr/sbin"
mkdir -m 700 munge
mkdir state spool.host1 spool.host2 spool.host3
chmod 755 "$work"
cat >slurm.conf <<EOM
ClusterName=test
SlurmctldHost=host1(10.78.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge.sock
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool.%n
SlurmctldPidFile=$work/ctld.pid
SlurmdPidFile=$work/slurmd.%n.pid
SlurmctldLogFile=$work/ctld.log
SlurmdLogFile=$work/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
SlurmdParameters=config_overrides
MpiDefault=none
ReturnToService=2
SlurmdTimeout=30
NodeName=host1 NodeAddr=10.78.0.1 CPUs=8 State=UNKNOWN
NodeName=host2 NodeAddr=10.78.0.2 CPUs=8 State=UNKNOWN
NodeName=host3 NodeAddr=10.78.0.3 CPUs=8 State=UNKNOWN
PartitionName=all Nodes=host1,host2,host3 Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES
EOM
case $(slurmd -V) in
"slurm-wlm 2"[01].* | "slurm-wlm 22"*) ;;
*) echo CgroupPlugin=disabled >cgroup.conf ;; # the plugin is not used
esac
dd if=/dev/urandom of=munge/key bs=1024 count=1 2>/dev/null
chmod 600 munge/key

cluster() {
    up
    inside 1 munged --force --socket="$work/munge.sock" --key-file="$work/munge/key" --log-file="$work/munge/log" \
        --pid-file="$work/munge/pid" --seed-file="$work/munge/seed" 2>munged.err || skip "munged: $(cat munged.err)"
    inside 1 slurmctld -c 2>ctld.err || skip "slurmctld: $(cat ctld.err)"
    for k in 1 2 3; do
        inside $k slurmd -N "host$k" 2>slurmd.err || skip "slurmd: $(cat slurmd.err "slurmd.host$k.log")"
    done
    for _ in $(seq 150); do
        [ "$(inside 1 sinfo -h -t idle -o %D 2>/dev/null)" = 3 ] && return
        sleep 0.2
    done
    skip "Slurm has not started: $(inside 1 sinfo)"
}

"$ftrun" -n 4 --checksums 0 --spares 0 "$npb_cg" S >alone 2>err || fail "on one node: $(cat err)"
result=$(grep '^result:' alone)
cat >batch <<EOM
#!/bin/sh
cd "$work"
"$ftrun" -v -n 4 --checksums 4 --spares 8 --checkpoint every:2 --report report "$npb_cg" S >out 2>err </dev/null
echo \$? >status
EOM
cluster
# nsenter comes without a working directory, which Slurm 24 does not take
inside 1 sh -c "cd '$work' && exec sbatch -N3 -n3 --no-kill -o batch.out batch" >sbatch.out 2>&1 || {
    fail "sbatch: $(cat sbatch.out)"
    done_testing
}
has_committed 4
lose 3 # the batch script runs on the first host
for _ in $(seq 3000); do
    [ -s status ] && break
    sleep 0.02
done
[ "$(cat status)" = 0 ] || fail "status $(cat status): $(cat err batch.out)"
[ "$(grep '^result:' out)" = "$result" ] || fail "$(grep '^result:' out), not $result"
grep -q 'ftrun: host3 lost.*, and with it' err || fail "no loss: $(cat err)"
[ "$(jq -c '[.nodes[].name]' report)" = '["host1","host2","host3"]' ] || fail "nodes: $(jq -c .nodes report)"
inside 1 scancel -u root 2>/dev/null
done_testing
