#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# elsewhere.sh - mpirun starts a process on another node: ftrun says so at once and names the nodes.
# The other node is a namespace with a host name and processes of its own.
. "$(dirname "$0")/lib.sh"
unshare --uts --pid --fork --mount-proc true 2>/dev/null || skip "no namespaces, so no other node"

cat >agent <<'EOF'
#!/bin/sh
shift # the node's name
exec unshare --uts --pid --fork --kill-child --mount-proc sh -c "hostname elsewhere; $*"
EOF
chmod +x agent
here=$(uname -n)

printf 'localhost slots=1\nelsewhere slots=1\n' >hosts # mpirun's; of several that --hostfile names ftrun makes nodes
case $(mpirun.openmpi --version 2>/dev/null || mpirun --version) in
*OpenRTE* | *"(Open MPI) 4."*) nodes="--mca plm rsh --mca plm_rsh_agent $work/agent --mca oob_tcp_if_include lo" ;;
*) nodes="--prtemca plm ssh --prtemca plm_ssh_agent $work/agent --prtemca plm_ssh_no_tree_spawn 1" ;;
esac
# A long patience of the job's own, so that an early end comes from what the process says.
for level in 0 2; do
    ends 75 "started a process on node elsewhere, and ftrun runs on node $here.*\[elsewhere\]$" env \
        FTRMA_VERBOSE=$level FTRMA_START_TIMEOUT_MS=0 "$ftrun" -n 2 --checksums 0 --spares 0 \
        --host-args "--hostfile hosts $nodes" "$ending"
done
done_testing
