#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# wtime.sh - MPI_Wtime has one zero on all hosts, however long it takes to log in to one of them, and does not go back
# in a rank that is replaced on another host. It says that it is not exactly one clock.
. "$(dirname "$0")/../cli/lib.sh"
hosts=2
. "$here/lib/namespaces.sh"
cat >slow <<EOM
#!/bin/sh
case \$1 in *.2) sleep 2 ;; esac
exec "$work/rsh" "\$@"
EOM
chmod +x slow

# wtime ARGUMENTS...: 2 ranks, each on a host
wtime() {
    timeout "$CLI_LIMIT" "$ftrun" -n 2 --checksums 2 --spares 4 --rsh "$work/slow" --host 10.78.0.1,10.78.0.2 "$@" \
        >out 2>&1 </dev/null
    status=$?
    [ $status = 0 ] && grep -qx 'sum 5676' out || fail "$*: status $status: $(cat out)"
}

up
wtime "$build/tests/edges_wtime" plain hosts
wtime --checkpoint every:8 --inject node=0,point=safepoint,hit=30 "$build/tests/edges_wtime" run hosts
grep -q '10.78.0.1 lost' out || fail "no host was lost: $(cat out)"
done_testing
