/* SPDX-License-Identifier: BSD-3-Clause
 *
 * collect.c - an unmodified program: collectives of short and long data, with sends between them
 * that are open across them.
 */
#include "local.h"

enum { LONG = 2500, MAX_RANKS = 64 };

static uint64_t sum;
static uint64_t big[LONG], from_left[LONG], parts[MAX_RANKS * LONG], got[MAX_RANKS * LONG];

static void add(const void *data, size_t words) { sum = mix_all(sum, data, words); }

static void broadcast(uint64_t r)
{
    int root = (int)(r % (uint64_t)np), n = r % 2 ? LONG : 3;
    for (int i = 0; i < n; i++)
        big[i] = me == root ? mix(sum + (uint64_t)i) : 0;
    MPI_Bcast(big, n, MPI_UINT64_T, root, MPI_COMM_WORLD);
    add(big, (size_t)n);
}

/* Also doubles: the additions of their sum must come in the same order. */
static void reduce(uint64_t r)
{
    double x[3] = {(double)(sum >> 11) * 1e-9, 1.0 / (double)(1 + me + (int)r), (double)me}, all[3];
    int n = r % 3 ? 40 : LONG;
    MPI_Allreduce(x, all, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all[2] == np * (np - 1) / 2);
    add(all, 3);
    for (int i = 0; i < n; i++)
        big[i] = mix(sum ^ (uint64_t)i);
    MPI_Allreduce(MPI_IN_PLACE, big, n, MPI_UINT64_T, MPI_BXOR, MPI_COMM_WORLD);
    add(big, (size_t)n);
}

static int part(uint64_t r, int from, int to)
{
    return (int)(mix(r * 977 + (uint64_t)(from * np + to)) % (r % 2 ? LONG : 9));
}

static void scatter_all(uint64_t r)
{
    int n[MAX_RANKS] = {0}, at[MAX_RANKS] = {0}, m[MAX_RANKS] = {0}, back[MAX_RANKS] = {0}, end = 0,
        back_end = 0;
    for (int i = 0; i < np; i++) {
        n[i] = part(r, me, i);
        m[i] = part(r, i, me);
        at[i] = end;
        back[i] = back_end;
        end += n[i];
        back_end += m[i];
    }
    for (int i = 0; i < end; i++)
        parts[i] = mix(sum + (uint64_t)i * 3);
    MPI_Alltoallv(parts, n, at, MPI_UINT64_T, got, m, back, MPI_UINT64_T, MPI_COMM_WORLD);
    add(got, (size_t)back_end);
}

static void scan(void)
{
    uint64_t x = sum % 1000, upto = 0, before = 0;
    MPI_Scan(&x, &upto, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Exscan(&x, &before, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK(me == 0 || upto == before + x);
    add(&upto, 1);
}

int main(int argc, char **argv)
{
    start(argc, argv, 14);
    CHECK(np <= MAX_RANKS);
    sum = mix((uint64_t)me + 1);
    for (uint64_t r = 0; r < opt.rounds; r++) {
        static uint64_t out[LONG];
        MPI_Request req[2];
        int n = r % 2 ? 5 : LONG;
        for (int i = 0; i < n; i++)
            out[i] = mix(sum ^ mix((uint64_t)i));
        MPI_Irecv(from_left, n, MPI_UINT64_T, (me + np - 1) % np, (int)r, MPI_COMM_WORLD, &req[0]);
        broadcast(r);
        MPI_Isend(out, n, MPI_UINT64_T, (me + 1) % np, (int)r, MPI_COMM_WORLD, &req[1]);
        reduce(r);
        scatter_all(r);
        MPI_Waitall(2, req, MPI_STATUSES_IGNORE);
        add(from_left, (size_t)n);
        scan();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return finish(sum);
}
