/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mismatch.c - members of a collective pass counts that do not fit together. This is an error of
 * the program, and MPI's error handlers are called.
 *
 *   edges_mismatch WHAT [return]      WHAT: bcast, allreduce, gatherv, alltoall, ibcast,
 * iallreduce; return: with MPI_ERRORS_RETURN
 */
#include "../program.h"

enum { FEW = 100, MANY = 400 };
static int a[8 * MANY], b[8 * MANY];

static int blocking(const char *what, int n)
{
    int counts[8], offs[8];
    for (int i = 0; i < np; i++) {
        counts[i] = FEW;
        offs[i] = i * MANY;
    }
    if (strcmp(what, "bcast") == 0)
        return MPI_Bcast(a, n, MPI_INT, 0, MPI_COMM_WORLD);
    if (strcmp(what, "allreduce") == 0)
        return MPI_Allreduce(a, b, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (strcmp(what, "gatherv") == 0)
        return MPI_Gatherv(a, n, MPI_INT, b, counts, offs, MPI_INT, 0, MPI_COMM_WORLD);
    if (strcmp(what, "alltoall") == 0)
        return MPI_Alltoall(a, n, MPI_INT, b, n, MPI_INT, MPI_COMM_WORLD);
    CHECK(!"WHAT");
    return 0;
}

static int nonblocking(const char *what, int n)
{
    MPI_Request q;
    int code = strcmp(what, "ibcast") == 0
                   ? MPI_Ibcast(a, n, MPI_INT, 0, MPI_COMM_WORLD, &q)
                   : MPI_Iallreduce(a, b, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &q);
    int end = MPI_Wait(&q, MPI_STATUS_IGNORE);
    return code ? code : end;
}

int main(int argc, char **argv)
{
    CHECK(argc > 1);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &np);
    if (argc > 2)
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    /* One rank passes a different number. Not the root of gatherv, which notices that by itself. */
    int n = me == (argv[1][0] == 'g') ? MANY : FEW;
    int code = argv[1][0] == 'i' ? nonblocking(argv[1], n) : blocking(argv[1], n);
    int class = MPI_SUCCESS, all = 0, sum = 0;
    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &class);
    CHECK(class == MPI_SUCCESS || class == MPI_ERR_TRUNCATE);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    /* Later calls work as before. */
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == np * (np - 1) / 2);
    int heard = class == MPI_ERR_TRUNCATE;
    MPI_Allreduce(&heard, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all > 0);
    return finish(1);
}
