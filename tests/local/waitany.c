/* SPDX-License-Identifier: BSD-3-Clause
 *
 * waitany.c - an unmodified program: all exchange with all, and complete by Waitany, Waitsome,
 * Testany, Test, or Iprobe and Recv, in turns. The order of completion depends on timing. With
 * --order it is sent away and asked for later, so that a replay that completes in another order is
 * noticed. The result never holds it.
 */
#include "local.h"

enum { LONG = 700, MAX_RANKS = 64 };

static uint64_t sum, order, polls;
static uint64_t in[MAX_RANKS][LONG], out[MAX_RANKS][LONG];

static int words(uint64_t r, int from, int to)
{
    return 1 + (int)(mix(r * 100 + (uint64_t)(from * np + to)) % LONG);
}

static void came(int from) { order = mix(order + (uint64_t)from); }

static void by_waitany(MPI_Request *req)
{
    for (int k = 1; k < np; k++) {
        int i;
        MPI_Waitany(np, req, &i, MPI_STATUS_IGNORE);
        CHECK(i >= 0 && i < np && i != me && req[i] == MPI_REQUEST_NULL);
        came(i);
    }
}

static void by_waitsome(MPI_Request *req)
{
    int left = np - 1, n, which[MAX_RANKS];
    while (left > 0) {
        MPI_Waitsome(np, req, &n, which, MPI_STATUSES_IGNORE);
        CHECK(n > 0 && n <= left);
        left -= n;
        order = mix(order + (uint64_t)n * 1000);
        for (int i = 0; i < n; i++)
            came(which[i]);
    }
}

static void by_testany(MPI_Request *req)
{
    for (int k = 1; k < np;) {
        int i, flag;
        MPI_Testany(np, req, &i, &flag, MPI_STATUS_IGNORE);
        polls += !flag;
        if (flag) {
            CHECK(i >= 0 && i < np && i != me);
            came(i);
            k++;
        }
    }
}

static void by_test(MPI_Request *req)
{
    int left = np - 1;
    while (left > 0)
        for (int i = 0; i < np; i++) {
            int flag;
            if (req[i] == MPI_REQUEST_NULL)
                continue;
            MPI_Test(&req[i], &flag, MPI_STATUS_IGNORE);
            polls += !flag;
            if (flag) {
                came(i);
                left--;
            }
        }
}

static void by_iprobe(uint64_t r)
{
    for (int k = 1; k < np;) {
        MPI_Status st;
        int flag, n;
        MPI_Iprobe(MPI_ANY_SOURCE, (int)r, MPI_COMM_WORLD, &flag, &st);
        polls += !flag;
        if (!flag)
            continue;
        MPI_Get_count(&st, MPI_UINT64_T, &n);
        CHECK(n == words(r, st.MPI_SOURCE, me));
        MPI_Recv(in[st.MPI_SOURCE], n, MPI_UINT64_T, st.MPI_SOURCE, (int)r, MPI_COMM_WORLD, &st);
        came(st.MPI_SOURCE);
        k++;
    }
}

static void exchange(uint64_t r)
{
    MPI_Request req[MAX_RANKS], sent[MAX_RANKS];
    for (int i = 0; i < np; i++) {
        req[i] = sent[i] = MPI_REQUEST_NULL;
        if (i != me && r % 5 != 4)
            MPI_Irecv(in[i], words(r, i, me), MPI_UINT64_T, i, (int)r, MPI_COMM_WORLD, &req[i]);
    }
    for (int i = 0; i < np; i++) {
        if (i == me)
            continue;
        for (int j = 0; j < words(r, me, i); j++)
            out[i][j] = mix(sum + (uint64_t)(i * LONG + j));
        MPI_Isend(out[i], words(r, me, i), MPI_UINT64_T, i, (int)r, MPI_COMM_WORLD, &sent[i]);
    }
    switch (r % 5) {
    case 0: by_waitany(req); break;
    case 1: by_testany(req); break;
    case 2: by_test(req); break;
    case 3: by_waitsome(req); break;
    default: by_iprobe(r); break;
    }
    MPI_Waitall(np, sent, MPI_STATUSES_IGNORE);
    for (int i = 0; i < np; i++)
        if (i != me)
            sum = mix_all(sum, in[i], (size_t)words(r, i, me));
}

/* What this rank has seen of the order is sent to the right, and comes back. */
static void ask_back(uint64_t r)
{
    uint64_t seen[2] = {order, polls}, theirs[2], again[2];
    int to = (me + 1) % np, from = (me + np - 1) % np, tag = 10000 + (int)r;
    MPI_Sendrecv(seen, 2, MPI_UINT64_T, to, tag, theirs, 2, MPI_UINT64_T, from, tag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(theirs, 2, MPI_UINT64_T, from, tag, again, 2, MPI_UINT64_T, to, tag,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(again[0] == order && again[1] == polls);
}

int main(int argc, char **argv)
{
    start(argc, argv, 20);
    CHECK(np <= MAX_RANKS);
    sum = mix((uint64_t)me + 1);
    for (uint64_t r = 0; r < opt.rounds; r++) {
        exchange(r);
        if (opt.order)
            ask_back(r);
    }
    return finish(sum);
}
