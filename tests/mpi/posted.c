/* SPDX-License-Identifier: BSD-3-Clause
 *
 * posted.c - many receives that wait at once, with and without source and tag: each message goes to
 * the first receive posted that it matches (MPI-3.1, 3.5), whatever the others are.
 */
#include "check.h"

enum { MANY = 3000, STEP = 1024, OTHER = 30011 };
static int got[MANY];
static MPI_Request req[MANY];
static MPI_Status st[MANY];

/* Far apart, and in an order of its own. Some come twice. */
static int tag_of(int i) { return i * 7919 % MANY * STEP % OTHER; }

static void to(int dst, int tag, int value)
{
    MPI_Send(&value, 1, MPI_INT, dst, tag, MPI_COMM_WORLD);
}

/* Every third receive has any tag, every fifth any source. Each rank computes by itself which
 * receive takes the k-th message. */
static void mixed(void)
{
    int from = (me + np - 1) % np, next = (me + 1) % np, taken[MANY] = {0}, tag[MANY], n = 0;
    for (int i = MANY - 1; i >= 0; i--)
        if (i % 3 != 2)
            tag[n++] = tag_of(i);
    while (n < MANY)
        tag[n++] = OTHER;
    for (int i = 0; i < MANY; i++)
        MPI_Irecv(&got[i], 1, MPI_INT, i % 5 == 4 ? MPI_ANY_SOURCE : from,
                  i % 3 == 2 ? MPI_ANY_TAG : tag_of(i), MPI_COMM_WORLD, &req[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int k = 0; k < MANY; k++)
        to(next, tag[k], k);
    /* Messages with a tag may have gone to receives of any, and the last then find none. */
    int rest = 0;
    for (int k = 0; k < MANY; k++) {
        int want = 0;
        while (want < MANY && (taken[want] || (want % 3 != 2 && tag_of(want) != tag[k])))
            want++;
        if (want == MANY) {
            rest++;
            continue;
        }
        taken[want] = 1;
        MPI_Wait(&req[want], &st[want]);
        CHECK(got[want] == k && st[want].MPI_TAG == tag[k] && st[want].MPI_SOURCE == from);
    }
    for (int i = 0; rest > 0 && i < MANY; i++) {
        if (taken[i])
            continue;
        int flag;
        MPI_Cancel(&req[i]);
        MPI_Wait(&req[i], &st[i]);
        MPI_Test_cancelled(&st[i], &flag);
        CHECK(flag);
    }
    for (; rest > 0; rest--)
        MPI_Recv(&got[0], 1, MPI_INT, from, OTHER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Receives that are cancelled leave the others in their order. */
static void cancelled(void)
{
    for (int i = 0; i < MANY; i++)
        MPI_Irecv(&got[i], 1, MPI_INT, me, i / 2 % 16 * STEP, MPI_COMM_WORLD, &req[i]);
    for (int i = 0; i < MANY; i += 2) {
        int flag;
        MPI_Cancel(&req[i]);
        MPI_Wait(&req[i], &st[i]);
        MPI_Test_cancelled(&st[i], &flag);
        CHECK(flag);
    }
    for (int i = 1; i < MANY; i += 2)
        to(me, i / 2 % 16 * STEP, i);
    for (int i = 1; i < MANY; i += 2) {
        MPI_Wait(&req[i], &st[i]);
        CHECK(got[i] == i);
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    mixed();
    cancelled();
    return finish();
}
