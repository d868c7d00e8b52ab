/* SPDX-License-Identifier: BSD-3-Clause
 *
 * idup.c - duplicates that are made while other things go on: nobody waits for anybody, several at
 * once are kept apart, and they have all that their originals have.
 */
#include "check.h"

/* Everybody sends its number and `what` around a ring. */
static void ring(MPI_Comm c, int what, MPI_Request *q, int *in, int *out)
{
    *out = 10 * me + what;
    MPI_Irecv(in, 1, MPI_INT, (me + np - 1) % np, 3, c, &q[0]);
    MPI_Isend(out, 1, MPI_INT, (me + 1) % np, 3, c, &q[1]);
}

static void does_not_wait(void)
{
    MPI_Comm c;
    MPI_Request q;
    int x = -1;

    if (me > 0)
        MPI_Recv(&x, 1, MPI_INT, me - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Comm_idup(MPI_COMM_WORLD, &c, &q);
    if (me < np - 1)
        MPI_Send(&me, 1, MPI_INT, me + 1, 1, MPI_COMM_WORLD);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Allreduce(&me, &x, 1, MPI_INT, MPI_SUM, c);
    CHECK(x == np * (np - 1) / 2 && q == MPI_REQUEST_NULL);
    MPI_Comm_free(&c);
}

/* Begun in different orders, with others made in between; the messages of all have the same tag. */
static void several(void)
{
    enum { N = 6 };
    MPI_Comm a, c[N];
    MPI_Request q[N], r[2 * N];
    int in[N], out[N], result;

    MPI_Comm_split(MPI_COMM_WORLD, 0, me, &a);
    for (int i = 0; i < 2; i++) {
        int k = (i + me) % 2;
        MPI_Comm_idup(k ? a : MPI_COMM_WORLD, &c[k], &q[k]);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &c[2]);
    MPI_Comm_idup(a, &c[3], &q[2]);
    MPI_Comm_idup(a, &c[4], &q[3]);
    MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
    MPI_Comm_idup(c[3], &c[5], &q[4]);
    MPI_Wait(&q[4], MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++) {
        int k = me % 2 ? i : N - 1 - i;
        ring(c[k], k, &r[2 * k], &in[k], &out[k]);
    }
    MPI_Waitall(2 * N, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++) {
        CHECK(in[i] == 10 * ((me + np - 1) % np) + i);
        MPI_Comm_compare(c[i], MPI_COMM_WORLD, &result);
        CHECK(result == MPI_CONGRUENT);
        MPI_Comm_free(&c[i]);
    }
    MPI_Comm_free(&a);
}

static int copied;
static int copy(MPI_Comm c, int key, void *extra, void *in, void *out, int *flag)
{
    (void)c, (void)key, (void)extra;
    copied++;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static void inherits(void)
{
    int dims[1] = {np}, periods[1] = {1}, key, flag, kind, value = 5, *got;
    MPI_Comm grid, c;
    MPI_Request q;

    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &grid);
    MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(grid, key, &value);
    MPI_Comm_idup(grid, &c, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Topo_test(c, &kind);
    MPI_Comm_get_attr(c, key, &got, &flag);
    CHECK(kind == MPI_CART && flag && got == &value && copied == 1);
    MPI_Comm_free(&c);
    MPI_Comm_free(&grid);
    MPI_Comm_free_keyval(&key);
}

static void between_groups(void)
{
    MPI_Comm half, inter, c;
    MPI_Request q;
    int side = me % 2, x = -1, flag, n, m;

    if (np == 1)
        return;
    MPI_Comm_split(MPI_COMM_WORLD, side, me, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !side, 2, &inter);
    MPI_Comm_idup(inter, &c, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Comm_test_inter(c, &flag);
    MPI_Comm_remote_size(c, &n);
    MPI_Comm_remote_size(inter, &m);
    CHECK(flag && n == m);
    if (me < 2) {
        MPI_Sendrecv(&me, 1, MPI_INT, 0, 0, &x, 1, MPI_INT, MPI_ANY_SOURCE, 0, c,
                     MPI_STATUS_IGNORE);
        CHECK(x == !me);
    }
    MPI_Comm_free(&c);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    for (int i = 0; i < 3; i++) {
        does_not_wait();
        several();
    }
    inherits();
    between_groups();
    return finish();
}
