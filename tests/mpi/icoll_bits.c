/* SPDX-License-Identifier: BSD-3-Clause
 *
 * icoll_bits.c - a reduction gives the same bits whether it is blocking, nonblocking or persistent,
 * started again or not: sums of doubles of many magnitudes and an operation that does not commute,
 * in place and not, for counts on both sides of where blocking ones change their algorithm, all
 * roots, and communicators of every size from 1 to all.
 */
#include "check.h"
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

enum { MOST = 5000, RANKS = 8 }; /* RANKS: at most */
static double mine[MOST * RANKS], want[MOST * RANKS], got[MOST * RANKS], in[MOST * RANKS];
static unsigned long long seed = 1;

static double draw(void)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    int e = (int)(seed >> 33) % 40 - 20;
    double x = (double)(seed >> 11) / (double)(1ull << 53) - 0.5;
    for (; e > 0; e--)
        x *= 2;
    for (; e < 0; e++)
        x /= 2;
    return x;
}

/* Neither commutative nor, in these bits, associative. */
static void blend(void *a, void *b, int *n, MPI_Datatype *t)
{
    double *x = a, *y = b;
    (void)t;
    for (int i = 0; i < *n; i++)
        y[i] = x[i] * 0.75 + y[i] * 1.5 - 1e-3 * x[i] * y[i];
}

static void prepare(int n)
{
    for (int i = 0; i < n; i++)
        in[i] = mine[i];
    for (int i = 0; i < MOST; i++)
        got[i] = -3;
}

static int size, rank;
static MPI_Comm comm;
static MPI_Op op;
enum kind { ALL, ALL_IN_PLACE, TO_ROOT, ROOT_IN_PLACE, SCAN, EXSCAN, SCATTER, BLOCK, KINDS };
static const char *const name[] = {
    "allreduce",      "allreduce in place",  "reduce", "reduce in place", "scan", "exscan",
    "reduce_scatter", "reduce_scatter_block"};

static void blocking(enum kind k, int n, int root, const int *counts)
{
    switch (k) {
    case ALL:
    case ALL_IN_PLACE: MPI_Allreduce(mine, want, n, MPI_DOUBLE, op, comm); break;
    case TO_ROOT:
    case ROOT_IN_PLACE: MPI_Reduce(mine, want, n, MPI_DOUBLE, op, root, comm); break;
    case SCAN: MPI_Scan(mine, want, n, MPI_DOUBLE, op, comm); break;
    case EXSCAN: MPI_Exscan(mine, want, n, MPI_DOUBLE, op, comm); break;
    case SCATTER: MPI_Reduce_scatter(mine, want, counts, MPI_DOUBLE, op, comm); break;
    default: MPI_Reduce_scatter_block(mine, want, n, MPI_DOUBLE, op, comm);
    }
}

static void nonblocking(enum kind k, int n, int root, const int *counts, MPI_Request *req)
{
    switch (k) {
    case ALL: MPI_Iallreduce(in, got, n, MPI_DOUBLE, op, comm, req); break;
    case ALL_IN_PLACE: MPI_Iallreduce(MPI_IN_PLACE, in, n, MPI_DOUBLE, op, comm, req); break;
    case TO_ROOT: MPI_Ireduce(in, got, n, MPI_DOUBLE, op, root, comm, req); break;
    case ROOT_IN_PLACE:
        MPI_Ireduce(rank == root ? MPI_IN_PLACE : in, rank == root ? in : NULL, n, MPI_DOUBLE, op,
                    root, comm, req);
        break;
    case SCAN: MPI_Iscan(in, got, n, MPI_DOUBLE, op, comm, req); break;
    case EXSCAN: MPI_Iexscan(in, got, n, MPI_DOUBLE, op, comm, req); break;
    case SCATTER: MPI_Ireduce_scatter(in, got, counts, MPI_DOUBLE, op, comm, req); break;
    default: MPI_Ireduce_scatter_block(in, got, n, MPI_DOUBLE, op, comm, req);
    }
}

#ifdef OMPI_HAVE_MPI_EXT_PCOLLREQ
static void persistent(enum kind k, int n, int root, const int *counts, MPI_Request *req)
{
    MPI_Info none = MPI_INFO_NULL;
    switch (k) {
    case ALL: MPIX_Allreduce_init(in, got, n, MPI_DOUBLE, op, comm, none, req); break;
    case ALL_IN_PLACE:
        MPIX_Allreduce_init(MPI_IN_PLACE, in, n, MPI_DOUBLE, op, comm, none, req);
        break;
    case TO_ROOT: MPIX_Reduce_init(in, got, n, MPI_DOUBLE, op, root, comm, none, req); break;
    case ROOT_IN_PLACE:
        MPIX_Reduce_init(rank == root ? MPI_IN_PLACE : in, rank == root ? in : NULL, n, MPI_DOUBLE,
                         op, root, comm, none, req);
        break;
    case SCAN: MPIX_Scan_init(in, got, n, MPI_DOUBLE, op, comm, none, req); break;
    case EXSCAN: MPIX_Exscan_init(in, got, n, MPI_DOUBLE, op, comm, none, req); break;
    case SCATTER: MPIX_Reduce_scatter_init(in, got, counts, MPI_DOUBLE, op, comm, none, req); break;
    default: MPIX_Reduce_scatter_block_init(in, got, n, MPI_DOUBLE, op, comm, none, req);
    }
}
#endif

static void same(enum kind k, int n, int root, const int *counts, const char *form)
{
    const double *result = k == ALL_IN_PLACE || (k == ROOT_IN_PLACE) ? in : got;
    size_t words = (size_t)(k == SCATTER ? counts[rank] : n);
    if (((k == TO_ROOT || k == ROOT_IN_PLACE) && rank != root) || (k == EXSCAN && rank == 0))
        return;
    if (memcmp(result, want, words * sizeof *want) != 0) {
        fprintf(stderr, "%s %s: rank %d of %d, %d elements, root %d: other bits\n", form, name[k],
                rank, size, n, root);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void one(enum kind k, int n, int root)
{
    int counts[RANKS], total = 0;
    MPI_Request req;
    for (int i = 0; i < size; i++)
        total += counts[i] = (n + 3 * i) % (n + 2);
    int length = k == SCATTER ? total : k == BLOCK ? n * size : n;
    CHECK(size <= RANKS && length <= MOST * RANKS);
    for (int i = 0; i < length; i++)
        mine[i] = draw();
    blocking(k, n, root, counts);
    prepare(length);
    nonblocking(k, n, root, counts, &req);
    MPI_Wait(&req, MPI_STATUS_IGNORE);
    same(k, n, root, counts, "nonblocking");
#ifdef OMPI_HAVE_MPI_EXT_PCOLLREQ
    persistent(k, n, root, counts, &req);
    for (int start = 0; start < 3; start++) {
        prepare(length);
        MPI_Start(&req);
        MPI_Wait(&req, MPI_STATUS_IGNORE);
        CHECK(req != MPI_REQUEST_NULL);
        same(k, n, root, counts, "persistent");
    }
    MPI_Request_free(&req);
#endif
}

int main(int argc, char **argv)
{
    static const int lengths[] = {1, 7, 700, MOST};
    MPI_Op user;
    start(&argc, &argv);
    seed += (unsigned long long)me;
    MPI_Op_create(blend, 0, &user);
    for (int members = 1; members <= np; members++) {
        MPI_Comm_split(MPI_COMM_WORLD, me < members ? 0 : MPI_UNDEFINED, members - me, &comm);
        if (comm == MPI_COMM_NULL)
            continue;
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        for (int k = 0; k < KINDS; k++)
            for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
                for (int root = 0; root < (k == TO_ROOT || k == ROOT_IN_PLACE ? size : 1); root++)
                    for (int u = 0; u < 2; u++) {
                        op = u ? user : MPI_SUM;
                        one((enum kind)k, lengths[l], root);
                    }
        MPI_Comm_free(&comm);
    }
    MPI_Op_free(&user);
    return finish();
}
