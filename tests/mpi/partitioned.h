/* SPDX-License-Identifier: BSD-3-Clause
 *
 * partitioned.h - what partitioned*.c share: a ring, so that a single rank sends to itself.
 */
#ifndef PARTITIONED_H
#define PARTITIONED_H

#include "check.h"

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define HAVE_PARTITIONED

static inline int right(void) { return (me + 1) % np; }
static inline int left(void) { return (me + np - 1) % np; }

enum { MOST = 120000 };
static int out[MOST], in[MOST];

static inline int word(int from, int round, int i)
{
    return (from + 1) * 1000003 + round * 7919 + i;
}

static inline void fill(int n, int round)
{
    for (int i = 0; i < n; i++) {
        out[i] = word(me, round, i);
        in[i] = -1;
    }
}

static inline void verify(int first, int n, int round)
{
    for (int i = first; i < first + n; i++)
        CHECK(in[i] == word(left(), round, i));
}

static inline void mark(MPI_Request request, int n, int round)
{
    int list[64];
    switch (round % 4) {
    case 0: /* from the last */
        for (int i = n; i-- > 0;)
            MPI_Pready(i, request);
        break;
    case 1:
        MPI_Pready_range(n / 2, n - 1, request);
        if (n / 2 > 0)
            MPI_Pready_range(0, n / 2 - 1, request);
        break;
    case 2: /* odd ones, then even ones */
        for (int i = 0; i < n; i++)
            list[i] = i < n / 2 ? 2 * i + 1 : 2 * (i - n / 2);
        MPI_Pready_list(n, list, request);
        break;
    default:
        for (int i = 0; i < n; i++)
            MPI_Pready(i, request);
    }
}

/* from partitions of `each` elements, into `to` of what comes to the same; several times with one
 * pair of requests */
static inline void uneven(int from, int each, int to)
{
    MPI_Request req[2];
    MPI_Status st[2];
    int n = from * each, flag;

    MPI_Psend_init(out, from, each, MPI_INT, right(), 3, MPI_COMM_WORLD, MPI_INFO_NULL, &req[0]);
    MPI_Precv_init(in, to, n / to, MPI_INT, left(), 3, MPI_COMM_WORLD, MPI_INFO_NULL, &req[1]);
    for (int round = 0; round < 6; round++) {
        fill(n, round);
        MPI_Startall(2, req);
        mark(req[0], from, round);
        if (round % 2)
            for (int i = 0; i < to; i++) {
                for (flag = 0; !flag;)
                    MPI_Parrived(req[1], i, &flag);
                verify(i * (n / to), n / to, round);
            }
        if (round < 3)
            MPI_Waitall(2, req, st);
        else
            for (flag = 0; !flag;)
                MPI_Testall(2, req, &flag, st);
        CHECK(req[0] != MPI_REQUEST_NULL && req[1] != MPI_REQUEST_NULL);
        verify(0, n, round);
    }
    MPI_Request_free(&req[0]);
    MPI_Request_free(&req[1]);
    CHECK(req[0] == MPI_REQUEST_NULL && req[1] == MPI_REQUEST_NULL);
}

#endif
#endif
