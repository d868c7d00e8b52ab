/* SPDX-License-Identifier: BSD-3-Clause
 *
 * p2p.c - blocking point-to-point: rings of several lengths, order, MPI_PROC_NULL,
 * Sendrecv(_replace), probes, messages to oneself.
 */
#include "check.h"

static void ring(int n)
{
    int right = (me + 1) % np, left = (me + np - 1) % np;
    int *out = malloc((size_t)(n + 1) * sizeof(int)), *in = malloc((size_t)(n + 1) * sizeof(int));
    MPI_Status s;

    for (int i = 0; i < n; i++) {
        out[i] = me * 1000003 + i;
        in[i] = -1;
    }
    if (np == 1) {
        MPI_Sendrecv(out, n, MPI_INT, right, 7, in, n, MPI_INT, left, 7, MPI_COMM_WORLD, &s);
    } else if (me == 0) {
        MPI_Send(out, n, MPI_INT, right, 7, MPI_COMM_WORLD);
        MPI_Recv(in, n + 1, MPI_INT, left, 7, MPI_COMM_WORLD, &s);
    } else {
        MPI_Recv(in, n + 1, MPI_INT, left, 7, MPI_COMM_WORLD, &s);
        MPI_Send(out, n, MPI_INT, right, 7, MPI_COMM_WORLD);
    }
    CHECK(s.MPI_SOURCE == left && s.MPI_TAG == 7 && count_in(&s, MPI_INT) == n);
    for (int i = 0; i < n; i++)
        CHECK(in[i] == left * 1000003 + i);
    free(out);
    free(in);
}

/* Messages of one sender with one tag arrive in order; another tag may be taken first. */
static void order(void)
{
    enum { N = 50 };
    MPI_Status s;

    if (np < 2 || me > 1)
        return;
    if (me == 0) {
        for (int i = 0; i < N; i++)
            MPI_Send(&i, 1, MPI_INT, 1, i == N - 1 ? 2 : 1, MPI_COMM_WORLD);
    } else {
        int v;
        MPI_Recv(&v, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, &s);
        CHECK(v == N - 1);
        for (int i = 0; i < N - 1; i++) {
            MPI_Recv(&v, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(v == i);
        }
    }
}

static void nobody(void)
{
    MPI_Status s;
    int v = 42, flag = 0;

    MPI_Send(&v, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    MPI_Recv(&v, 1, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &s);
    CHECK(v == 42 && s.MPI_SOURCE == MPI_PROC_NULL && s.MPI_TAG == MPI_ANY_TAG &&
          count_in(&s, MPI_INT) == 0);
    MPI_Iprobe(MPI_PROC_NULL, 5, MPI_COMM_WORLD, &flag, &s);
    CHECK(flag && s.MPI_SOURCE == MPI_PROC_NULL);
    MPI_Sendrecv(&v, 1, MPI_INT, MPI_PROC_NULL, 0, &v, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD,
                 &s);
    CHECK(v == 42 && s.MPI_SOURCE == MPI_PROC_NULL);
    if (np > 1) { /* one half each */
        int up = me + 1 < np ? me + 1 : MPI_PROC_NULL, down = me > 0 ? me - 1 : MPI_PROC_NULL,
            got = -1;
        MPI_Sendrecv(&me, 1, MPI_INT, up, 3, &got, 1, MPI_INT, down, 3, MPI_COMM_WORLD, &s);
        CHECK(got == (me > 0 ? me - 1 : -1) && s.MPI_SOURCE == down);
    }
}

static void replace(void)
{
    int v[3] = {me, me + 100, me + 200}, right = (me + 1) % np, left = (me + np - 1) % np;
    MPI_Status s;

    MPI_Sendrecv_replace(v, 3, MPI_INT, right, 9, left, 9, MPI_COMM_WORLD, &s);
    CHECK(v[0] == left && v[1] == left + 100 && v[2] == left + 200 && s.MPI_SOURCE == left &&
          count_in(&s, MPI_INT) == 3);
}

static void probes(void)
{
    int to = (me + 1) % np, from = (me + np - 1) % np, flag = 0, n;
    double out[5] = {1, 2, 3, 4, 5.5}, in[5] = {0};
    MPI_Status s;
    MPI_Request r;

    MPI_Isend(out, 5, MPI_DOUBLE, to, 11, MPI_COMM_WORLD, &r);
    MPI_Probe(from, 11, MPI_COMM_WORLD, &s);
    n = count_in(&s, MPI_DOUBLE);
    CHECK(n == 5 && s.MPI_SOURCE == from && s.MPI_TAG == 11);
    while (!flag)
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &s);
    CHECK(s.MPI_SOURCE == from && s.MPI_TAG == 11);
    MPI_Iprobe(from, 12, MPI_COMM_WORLD, &flag, &s);
    CHECK(!flag);
    MPI_Recv(in, n, MPI_DOUBLE, s.MPI_SOURCE, s.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(memcmp(in, out, sizeof in) == 0);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void self(void)
{
    int v = 5, got = 0;
    MPI_Request r;
    MPI_Status s;

    MPI_Irecv(&got, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &r);
    MPI_Send(&v, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
    MPI_Wait(&r, &s);
    CHECK(got == 5 && s.MPI_SOURCE == 0);
    MPI_Irecv(&got, 1, MPI_INT, me, 1, MPI_COMM_WORLD, &r);
    MPI_Rsend(&me, 1, MPI_INT, me, 1, MPI_COMM_WORLD);
    MPI_Wait(&r, &s);
    CHECK(got == me && s.MPI_SOURCE == me);
}

int main(int argc, char **argv)
{
    static const int lengths[] = {0, 1, 2, 15, 16, 17, 1000, 4096, 100000, 1 << 20};

    start(&argc, &argv);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        ring(lengths[i]);
    order();
    nobody();
    replace();
    probes();
    self();
    return finish();
}
