# SPDX-License-Identifier: BSD-3-Clause
#
# lib.sh - read by the tests of the command line. They are called as  sh TEST.sh BUILD  and end with done_testing.
#
# If it may, a test runs in a mount namespace with a /dev/shm of its own: what is left there then is
# left by the test, unnamed memory that a process still holds included. Otherwise only the names in
# the common one are compared.
set -u
build=$(cd "$1" && pwd) || exit 1
here=$(cd "$(dirname "$0")" && pwd) || exit 1
ftrun=$build/bin/ftrun
npb_ft=$build/bin/npb_ft
ending=$build/tests/cli_ending
# seconds, for a job that hangs: most take less than one, at a load of 60 half a minute
: "${CLI_LIMIT:=600}"
: "${CLI_SHM:=256m}" # how large that /dev/shm is

if [ -z "${CLI_NAMESPACE-}" ]; then
    if unshare -m sh -c 'mount -t tmpfs tmpfs /dev/shm' 2>/dev/null; then
        CLI_NAMESPACE=own CLI_SHM=$CLI_SHM exec unshare -m sh -c \
            'mount -t tmpfs -o mode=1777,size="$CLI_SHM" tmpfs /dev/shm && exec sh "$@"' sh "$0" "$@"
    fi
    CLI_NAMESPACE=common
    echo "(no mount namespace of our own: what is left in /dev/shm is seen by its name only)"
fi

work=$(mktemp -d) || exit 1
mkdir "$work/tmp"
chmod 755 "$work"
chmod 1777 "$work/tmp"
bad=0
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

fail() {
    echo "FAILED: $*"
    bad=1
}

skip() {
    echo "skipped: $*"
    exit 77
}

done_testing() {
    share_tried
    [ "$bad" = 0 ] && echo "all as it should be"
    exit "$bad"
}

# limited COMMAND...: for CLI_LIMIT seconds at most. If it hangs, the test fails, prints what each of its processes
# does, and ends it: status 124. Standard input is empty.
limited() {
    "$@" </dev/null &
    limited=$!
    (
        sleep "$CLI_LIMIT"
        stand $limited >stood 2>&1
        kill $limited
        sleep 10
        kill -9 $limited
    ) >/dev/null 2>&1 &
    watchdog=$!
    wait $limited
    status=$?
    # shellcheck disable=SC2046
    kill $(below $watchdog) 2>/dev/null
    wait $watchdog 2>/dev/null
    [ -s stood ] || return $status
    fail "hangs: $*"
    cat stood
    rm stood
    return 124
}
below() { # PID: it, and all that it has started
    ps -e -o pid= -o ppid= | awk -v top="$1" '
        { parent[$1] = $2 }
        END { for (p in parent) { for (q = p; q != top && q in parent;) q = parent[q]; if (q == top) print p } }'
}
stand() { # PID: what its processes do, in the kernel
    for p in $(below "$1"); do
        echo "--- $p: $(tr '\0' ' ' <"/proc/$p/cmdline" | cut -c1-160)"
        for t in /proc/"$p"/task/*; do
            echo "$(cat "$t/comm"): $(sed -n 's/^State:[[:space:]]*//p' "$t/status"), $(cat "$t/wchan")"
        done
    done
}

# The pids of what runs in the test's environment: TMPDIR is given to the tested command alone.
processes() { grep -lazsx "TMPDIR=$work/tmp" /proc/[0-9]*/environ | sed 's|^/proc/||; s|/environ$||'; }

# loses_node WHO NODE FTRUN...: the job has an --inject with action=stop. When the process stands, the keeper or the
# gateway (WHO) of a virtual node is killed; then the process goes on, if it is not lost with the node. The output is in
# `out`; returns the status. Keepers are the only children of ftrun that have its name, in the order of their nodes.
child() { # PARENT K: its K-th child that is an ftrun, from 0 on
    for p in $(cat /proc/"$1"/task/*/children); do
        [ "$(cat /proc/"$p"/comm 2>/dev/null)" = ftrun ] && echo "$p"
    done | sed -n "$(($2 + 1))p"
}
loses_node() {
    who=$1 node=$2 stopped=
    shift 2
    TMPDIR=$work/tmp "$@" >out 2>&1 &
    job=$!
    while [ -z "$stopped" ] && kill -0 $job 2>/dev/null; do
        sleep 0.05
        for p in $(processes); do
            [ "$(awk '{ print $3 }' "/proc/$p/stat" 2>/dev/null)" != T ] || stopped="$stopped $p"
        done
    done
    victim=$(child $job "$node")
    [ "$who" = keeper ] || victim=$(child "$victim" 0)
    kill -9 "$victim" || fail "there is no $who"
    sleep 0.1
    # shellcheck disable=SC2086
    kill -CONT $stopped 2>/dev/null
    wait $job
}

# nothing_left WHAT: no process, no file, no shared memory
nothing_left() {
    left=$(processes)
    [ -z "$left" ] ||
        fail "$1: processes left: $(for p in $left; do tr '\0' ' ' <"/proc/$p/cmdline"; echo "($p)"; done)"
    left=$(ls -A "$work/tmp")
    [ -z "$left" ] || fail "$1: left in TMPDIR: $left"
    shm_is_clean "$1"
}

. "$here/../share.sh"
. "$here/../shm.sh"
shm_before=$(shm_files)

shm_is_clean() {
    if [ "$CLI_NAMESPACE" = own ]; then
        used=$(df --output=used -B1 /dev/shm | tail -1 | tr -d ' ')
        [ "$used" = 0 ] || fail "$1: $used bytes left in /dev/shm: $(shm_files)"
    else
        left=$(shm_left "$shm_before")
        [ -z "$left" ] || fail "$1: left in /dev/shm: $left"
    fi
}

# ends STATUS TEXT COMMAND...: COMMAND ends with STATUS, TEXT (a basic regular expression, may be
# empty) is on a line of what it printed, and nothing is left of it. Its output stays in the file
# out.
ends() {
    want=$1 text=$2
    shift 2
    TMPDIR=$work/tmp timeout -k 5 "$CLI_LIMIT" "$@" >out 2>&1 </dev/null
    got=$?
    what="'$(echo "$*" | sed "s|$build/[a-z]*/||g")'"
    [ "$got" = "$want" ] || fail "$what ended with $got instead of $want: $(tail -20 out)"
    grep -q -- "$text" out || fail "$what did not say '$text' but: $(tail -20 out)"
    nothing_left "$what"
}

# The same, and nothing of it was started.
refuses() {
    ends 2 "$@"
    ! grep -q "under way\|sum over" out || fail "'$2' was refused, but started all the same"
}

# What the program prints, once and without events.
says_once() {
    n=$(grep -c -- "$1" out)
    [ "$n" = 1 ] || fail "'$1' was printed $n times: $(cat out)"
}
