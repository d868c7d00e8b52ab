# SPDX-License-Identifier: BSD-3-Clause
#
# namespaces.sh - read by tests after ../cli/lib.sh: hosts that are namespaces of this machine, each with a network,
# processes, a host name and /dev/shm of its own: 10.78.0.K, joined by a bridge that is in a namespace too, so nothing
# leaves this machine. They need root, and a kernel that gives namespaces to root; else the test is skipped.
#   hosts=N               how many there are
#   ahead=SECONDS         if it is set: the machine of the last host was booted so long before this one
#   up, down              makes them, and takes them away
#   on                    the options of a job on them
#   inside K COMMAND...   runs a command on host K
#   lose K                all that is on host K ends at once
tag=fth$$
names=$work/names # as /etc/hosts of each

command -v nsenter >/dev/null && command -v ip >/dev/null || skip "no nsenter or no ip"
[ "$(id -u)" = 0 ] || skip "namespaces are made by root"
unshare -n -m -u -i -p --fork true 2>/dev/null || skip "the kernel gives no namespaces here"
[ -x "$build/lib/ftrma-process" ] || skip "built without PMIx"
: "${ahead:=}"
enters="-r -n -m -u -i -p${ahead:+ -T}"
[ -z "$ahead" ] || { unshare -T --monotonic "$ahead" --fork true && nsenter -T -t $$ true; } 2>/dev/null ||
    skip "the kernel gives no time namespaces here"

down() {
    for k in $(seq $hosts); do
        [ ! -s "$work/$k.pid" ] || kill -9 "$(cat "$work/$k.pid")" 2>/dev/null
        rm -f "$work/$k.pid" "$work/ready$k"
        ip netns del "$tag$k" 2>/dev/null
    done
    ip netns del "${tag}sw" 2>/dev/null
}
trap 'down; rm -rf "$work"' EXIT

{
    echo "127.0.0.1 localhost"
    for k in $(seq $hosts); do echo "10.78.0.$k host$k"; done
} >"$names"

# What a host's first process does: $1 its number, $2 the names. It waits, so orphaned processes are reaped.
cat >init <<'EOM'
hostname "host$1"
mount --make-rprivate /
mount -t proc proc /proc
mount --bind "$2" /etc/hosts
mount -t tmpfs -o mode=1777 tmpfs /dev/shm
ip link set lo up
sleep 1000 &
: >"ready$1"
wait
EOM
# what ftrun --rsh calls: rsh HOST COMMAND...
cat >rsh <<EOM
#!/bin/sh
k=\${1##*.}
shift
exec nsenter -t "\$(cat "$work/\$k.pid")" $enters "\$@"
EOM
chmod +x rsh
on="--rsh $work/rsh --host $(seq -s, -f 10.78.0.%g $hosts)"
up() {
    ip netns add "${tag}sw" || skip "no network namespaces"
    ip -n "${tag}sw" link add br0 type bridge || { down; skip "no bridge"; }
    ip -n "${tag}sw" link set br0 up
    for k in $(seq $hosts); do
        ip netns add "$tag$k" &&
            ip link add "v$k" netns "${tag}sw" type veth peer name eth0 netns "$tag$k" || { down; skip "no veth"; }
        ip -n "${tag}sw" link set "v$k" master br0 up
        ip -n "$tag$k" addr add "10.78.0.$k/24" dev eth0
        ip -n "$tag$k" link set eth0 up
        clock=
        [ "$k" != "$hosts" ] || clock=${ahead:+-T --monotonic $ahead}
        # shellcheck disable=SC2086
        nsenter --net="/run/netns/$tag$k" unshare $clock -m -u -i -p --fork --kill-child sh init "$k" "$names" \
            </dev/null >/dev/null 2>&1 &
        agent=$!
        for _ in $(seq 500); do
            [ -e "ready$k" ] && break
            sleep 0.02
        done
        first=$(cat "/proc/$agent/task/$agent/children")
        echo "${first% }" >"$k.pid"
    done
}
lose() { # all that is on that host ends at once; its pid may be another process's soon
    kill -9 "$(cat "$work/$1.pid")"
    rm "$work/$1.pid"
}
inside() {
    first=$(cat "$work/$1.pid")
    shift
    # shellcheck disable=SC2086
    nsenter -t "$first" $enters "$@"
}
