#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# whoami.sh - the environment names the rank and the number of ranks, not the slot: before main,
# after MPI_Init, in a replacement, in what children inherit, in C and in Fortran, and where the
# program is started by a shell.
. "$(dirname "$0")/lib.sh"
p=$(edge whoami)
f=$(edge whoami_f)
export p

# quiet SUM ARGUMENTS...: ftrun ends well, without a note.
quiet() {
    sum=$1
    shift
    ends 0 "^sum $sum$" "$ftrun" "$@"
    ! grep -q "note: " out || fail "a note about what was not asked: $(cat out)"
}
kill="--inject rank=1,point=coll.leave,hit=10"
quiet 76 -n 4 "$p"
quiet 76 -n 4 $kill "$p"
quiet 76 -n 4 --inject rank=0,point=coll.enter,hit=12 "$p"
quiet 76 -n 4 $kill "$p" own
quiet 76 -n 4 $kill -- sh -c '/bin/true; "$p"; exit $?'
quiet 76 -n 4 $kill -- sh -c 'exec "$p"'
[ ! -x "$f" ] || quiet 80 -n 4 $kill "$f"
# A wrapper sees the rank, too, and the number of ranks.
ends 0 "^shell 1 of 2$" "$ftrun" -n 2 -- sh -c 'echo "shell $OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE"; exec "$p"'
# Whoever asks before it can be known is told so, and only then.
ends 0 "note: a replacement has read PMIX_RANK before MPI_Init, when it was not yet rank 2" \
    "$ftrun" -n 4 --inject rank=2,point=coll.leave,hit=10 "$p" early
ends 0 "^sum 76$" "$ftrun" -n 4 "$p" early
! grep -q "note: " out || fail "nobody was replaced, and a note says: $(cat out)"

# Groups that are kept apart: the process of rank r is not slot r.
cat >machine <<EOD
level node count 4
process 0-1 in node3
process 2-3 in node2
process 4-5 in node1
process 6-7 in node0
EOD
quiet 76 -n 4 --checksums 2 --spares 2 --domains machine $kill "$p"
ends 0 "^slot 4 is rank 0$" "$ftrun" -n 4 --checksums 2 --spares 2 --domains machine -- \
    sh -c 'echo "slot $(echo "${FTRMA_HOST_NAMES%%;*}" | cut -d= -f2) is rank $OMPI_COMM_WORLD_RANK"; exec "$p"'
[ "$(grep -c " is rank 0$" out)" = 1 ] || fail "several processes are called rank 0: $(cat out)"

# The C library is asked for huge pages, on all nodes, unless the user has something else for it.
for nodes in '' '--virtual-nodes 2'; do
    # shellcheck disable=SC2086
    ends 0 "^heap: glibc.malloc.hugetlb=1$" env -u GLIBC_TUNABLES "$ftrun" -n 2 $nodes -- \
        sh -c 'echo "heap: $GLIBC_TUNABLES"; exec "$p"'
done
ends 0 "^heap: glibc.malloc.perturb=0$" env GLIBC_TUNABLES=glibc.malloc.perturb=0 "$ftrun" -n 2 -- \
    sh -c 'echo "heap: $GLIBC_TUNABLES"; exec "$p"'
done_testing
