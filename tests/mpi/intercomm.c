/* SPDX-License-Identifier: BSD-3-Clause
 *
 * intercomm.c - intercommunicators: made of two halves of the world, messages between them,
 * duplicates, parts, merging. With one process there can be none; with more, the last ranks are
 * group 1, in reverse order.
 */
#include "errors.h"

static MPI_Comm half;
static int side, mine, mysize,
    others; /* my group, my rank in it, its size, that of the other one */

/* World ranks by group and rank in it. */
static int world_of(int group, int rank) { return group == 0 ? rank : np - 1 - rank; }

static void members(MPI_Comm c)
{
    int inter = 0, rank, size, remote, all[8], same;
    MPI_Group world, local, other, want;

    MPI_Comm_test_inter(c, &inter);
    MPI_Comm_rank(c, &rank);
    MPI_Comm_size(c, &size);
    MPI_Comm_remote_size(c, &remote);
    CHECK(inter && rank == mine && size == mysize && remote == others);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Comm_group(c, &local);
    MPI_Comm_remote_group(c, &other);
    MPI_Group_rank(local, &rank);
    CHECK(rank == mine);
    MPI_Group_rank(other, &rank);
    CHECK(rank == MPI_UNDEFINED);
    for (int i = 0; i < others; i++)
        all[i] = world_of(!side, i);
    MPI_Group_incl(world, others, all, &want);
    MPI_Group_compare(want, other, &same);
    CHECK(same == MPI_IDENT);
    MPI_Group_free(&want);
    MPI_Group_free(&other);
    MPI_Group_free(&local);
    MPI_Group_free(&world);
}

/* All exchange with all of the other group: received by rank, from any source, and probed. */
static void messages(MPI_Comm c, int tag)
{
    int x, seen = 0, flag;
    MPI_Status s;
    MPI_Request q[8];
    int out[8], in[8];

    for (int how = 0; how < 3; how++, tag++) {
        for (int i = 0; i < others; i++) {
            out[i] = 1000 * me + world_of(!side, i) + how;
            MPI_Isend(&out[i], 1, MPI_INT, i, tag, c, &q[i]);
        }
        seen = 0;
        for (int i = 0; i < others; i++) {
            int from = how ? MPI_ANY_SOURCE : i;
            if (how == 2) {
                MPI_Probe(from, tag, c, &s);
                from = s.MPI_SOURCE;
                MPI_Iprobe(from, tag, c, &flag, &s);
                CHECK(flag && s.MPI_SOURCE == from);
            }
            MPI_Recv(&x, 1, MPI_INT, from, how == 1 ? MPI_ANY_TAG : tag, c, &s);
            CHECK(s.MPI_SOURCE >= 0 && s.MPI_SOURCE < others && s.MPI_TAG == tag);
            CHECK(x == 1000 * world_of(!side, s.MPI_SOURCE) + me + how);
            seen |= 1 << s.MPI_SOURCE;
        }
        CHECK(seen == (1 << others) - 1);
        MPI_Waitall(others, q, MPI_STATUSES_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD); /* or one of the next round comes first, from anywhere */
    }
    for (int i = 0; i < others; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, tag, c, &q[i]);
    for (int i = 0; i < others; i++)
        MPI_Send(&me, 1, MPI_INT, i, tag, c);
    for (int i = 0; i < others; i++) {
        MPI_Wait(&q[i], &s);
        CHECK(in[i] == world_of(!side, s.MPI_SOURCE));
    }
}

static void compare(MPI_Comm c)
{
    MPI_Comm dup, turned;
    int result;

    MPI_Comm_dup(c, &dup);
    members(dup);
    messages(dup, 4);
    MPI_Comm_compare(c, dup, &result);
    CHECK(result == MPI_CONGRUENT);
    MPI_Comm_compare(c, c, &result);
    CHECK(result == MPI_IDENT);
    MPI_Comm_compare(c, half, &result);
    CHECK(result == MPI_UNEQUAL);
    MPI_Comm_split(dup, 0, -mine, &turned);
    MPI_Comm_compare(c, turned, &result);
    CHECK(result == (np < 3 ? MPI_CONGRUENT : MPI_SIMILAR));
    MPI_Comm_free(&turned);
    MPI_Comm_free(&dup);
}

/* Pairs with the same rank in both groups; who is alone gets none. */
static void split(MPI_Comm c)
{
    MPI_Comm pair, none;
    int size, remote, theirs = -1, least = mysize < others ? mysize : others;

    MPI_Comm_split(c, mine, 0, &pair);
    CHECK((pair == MPI_COMM_NULL) == (mine >= least));
    if (pair != MPI_COMM_NULL) {
        MPI_Comm_size(pair, &size);
        MPI_Comm_remote_size(pair, &remote);
        CHECK(size == 1 && remote == 1);
        MPI_Sendrecv(&me, 1, MPI_INT, 0, 1, &theirs, 1, MPI_INT, 0, 1, pair, MPI_STATUS_IGNORE);
        CHECK(theirs == world_of(!side, mine));
        MPI_Comm_free(&pair);
    }
    MPI_Comm_split(c, side ? 5 : MPI_UNDEFINED, 0, &none);
    CHECK(none == MPI_COMM_NULL);
}

/* All of group 0 and the last of group 1; then nobody of group 0. */
static void create(MPI_Comm c)
{
    MPI_Group group, part;
    MPI_Comm d;
    int last = mysize - 1, size, remote;

    MPI_Comm_group(c, &group);
    MPI_Group_incl(group, 1, &last, &part);
    MPI_Comm_create(c, side ? part : group, &d);
    CHECK((d == MPI_COMM_NULL) == (side && mine != last));
    if (d != MPI_COMM_NULL) {
        MPI_Comm_size(d, &size);
        MPI_Comm_remote_size(d, &remote);
        CHECK(size == (side ? 1 : mysize) && remote == (side ? others : 1));
        MPI_Comm_free(&d);
    }
    MPI_Group_free(&part);
    MPI_Comm_create(c, side ? group : MPI_GROUP_EMPTY, &d);
    CHECK(d == MPI_COMM_NULL);
    MPI_Group_free(&group);
}

static void merge(MPI_Comm c)
{
    for (int how = 0; how < 4; how++) { /* bit 0: what group 0 says, bit 1: group 1 */
        MPI_Comm all;
        int high = how >> side & 1, rank, size, inter, sum;
        MPI_Intercomm_merge(c, high, &all);
        MPI_Comm_test_inter(all, &inter);
        MPI_Comm_rank(all, &rank);
        MPI_Comm_size(all, &size);
        CHECK(!inter && size == np);
        if (how == 1 || how == 2)
            CHECK(rank == (high ? others : 0) + mine);
        MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, all);
        CHECK(sum == np * (np - 1) / 2);
        MPI_Comm_free(&all);
    }
}

static void wrong(MPI_Comm c)
{
    MPI_Comm d;
    int x, dims[1] = {1}, per[1] = {0};

    MPI_Comm_set_errhandler(MPI_COMM_WORLD,
                            MPI_ERRORS_RETURN); /* whom Open MPI tells some of these */
    MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
    WRONG(MPI_Send(&x, 1, MPI_INT, others, 0, c), MPI_ERR_RANK);
    WRONG(MPI_Recv(&x, 1, MPI_INT, others, 0, c, MPI_STATUS_IGNORE), MPI_ERR_RANK);
    WRONG(MPI_Cart_create(c, 1, dims, per, 0, &d), MPI_ERR_COMM);
    WRONG(MPI_Intercomm_create(c, 0, MPI_COMM_WORLD, 0, 0, &d), MPI_ERR_COMM);
    MPI_Comm_set_errhandler(c, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    MPI_Comm c, peers;
    start(&argc, &argv);
    if (np == 1)
        return finish();
    side = me >= (np + 1) / 2;
    MPI_Comm_split(MPI_COMM_WORLD, side, side ? -me : me, &half);
    MPI_Comm_rank(half, &mine);
    MPI_Comm_size(half, &mysize);
    others = np - mysize;
    CHECK(world_of(side, mine) == me);

    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, world_of(!side, 0), 11, &c);
    members(c);
    messages(c, 5);
    compare(c);
    split(c);
    create(c);
    merge(c);
    wrong(c);
    MPI_Comm_free(&c);
    /* Leaders that are not rank 0, and communicate over another communicator; the peers that
     * non-leaders pass do not count. */
    MPI_Comm_split(MPI_COMM_WORLD, 0, np - me, &peers);
    int leader = mysize - 1, other = np - 1 - world_of(!side, others - 1);
    MPI_Intercomm_create(half, leader, mine == leader ? peers : MPI_COMM_NULL,
                         mine == leader ? other : -8, 12, &c);
    members(c);
    messages(c, 9);
    MPI_Comm_free(&peers);
    MPI_Comm_disconnect(&c);
    MPI_Comm_free(&half);
    return finish();
}
