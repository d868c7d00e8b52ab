/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ml.c - message logging (ML), as ftRMA's paper compares itself with: a preload under a program
 * without the library. The last ML_LOGGERS (1) processes of the job are loggers, which the program
 * does not see. What is put stays at its sender, what is got at its receiver, in a ring of memory
 * as copied.c has it. The determinant of each access goes to a logger as a message. An epoch is
 * over when the logger has said that it has all of the epoch's determinants: otherwise a loss could
 * leave an orphan. ML_ASYNC=1 does not wait for that.
 *
 * Nothing can be recovered with it: it costs what message logging must do at least. It knows the
 * calls of npb_ft and kvstore, and contiguous types. At the end rank 0 prints how many puts and
 * gets all ranks have logged; an atomic is both.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/copy.h"

enum { TAG_ACCESS = 1, TAG_OVER, TAG_HAS, TAG_BYE };
#define RING (192ull << 20)
#define GETS 4096

/* As the paper's #a. */
struct determinant {
    int32_t type, src, trg, combine;
    uint64_t epoch, off, bytes;
};

static MPI_Comm app = MPI_COMM_NULL;
static int me, ranks, loggers, async;
static char *ring;
static size_t at;
static uint64_t nputs, ngets, epoch, open_accesses;
static struct {
    const void *data;
    size_t bytes;
} got[GETS];
static int ngot;

static int logger(void) { return ranks + me % loggers; }

static void keep(const void *data, size_t bytes)
{
    if (bytes > RING)
        return;
    if (bytes > RING - at)
        at = 0;
    ft_copy_past(ring + at, data, bytes);
    at += bytes;
}

static _Noreturn void serve(void)
{
    int left = 0;
    for (int r = 0; r < ranks; r++)
        left += ranks + r % loggers == me;
    while (left > 0) {
        struct determinant d;
        MPI_Status s;
        PMPI_Recv(&d, sizeof d, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
        if (s.MPI_TAG == TAG_ACCESS)
            keep(&d, sizeof d);
        else if (s.MPI_TAG == TAG_OVER)
            PMPI_Send(NULL, 0, MPI_BYTE, s.MPI_SOURCE, TAG_HAS, MPI_COMM_WORLD);
        else
            left--;
    }
    PMPI_Finalize();
    exit(0);
}

int MPI_Init(int *argc, char ***argv)
{
    const char *k = getenv("ML_LOGGERS"), *a = getenv("ML_ASYNC");
    int all, rc = PMPI_Init(argc, argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &me);
    PMPI_Comm_size(MPI_COMM_WORLD, &all);
    loggers = k ? atoi(k) : 1;
    ranks = all - loggers;
    async = a && atoi(a);
    if (loggers < 1 || ranks < 1) {
        fprintf(stderr, "ml: %d processes are too few for %d loggers\n", all, loggers);
        PMPI_Abort(MPI_COMM_WORLD, 2);
    }
    ring = mmap(NULL, RING, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (ring == MAP_FAILED)
        abort();
    memset(ring, 1, RING);
    PMPI_Comm_split(MPI_COMM_WORLD, me >= ranks, me, &app);
    if (me >= ranks)
        serve();
    return rc;
}

int MPI_Finalize(void)
{
    uint64_t mine[2] = {nputs, ngets}, all[2];
    PMPI_Reduce(mine, all, 2, MPI_UINT64_T, MPI_SUM, 0, app);
    if (me == 0)
        printf("ml: %llu puts and %llu gets were logged, %d loggers%s\n",
               (unsigned long long)all[0], (unsigned long long)all[1], loggers,
               async ? ", not waited for" : "");
    PMPI_Send(NULL, 0, MPI_BYTE, logger(), TAG_BYE, MPI_COMM_WORLD);
    PMPI_Comm_free(&app);
    return PMPI_Finalize();
}

/* --- the world that the program sees --- */

static MPI_Comm comm_of(MPI_Comm c) { return c == MPI_COMM_WORLD ? app : c; }

int MPI_Comm_rank(MPI_Comm c, int *r) { return PMPI_Comm_rank(comm_of(c), r); }
int MPI_Comm_size(MPI_Comm c, int *n) { return PMPI_Comm_size(comm_of(c), n); }
int MPI_Comm_set_errhandler(MPI_Comm c, MPI_Errhandler h)
{
    return PMPI_Comm_set_errhandler(comm_of(c), h);
}
int MPI_Barrier(MPI_Comm c) { return PMPI_Barrier(comm_of(c)); }
int MPI_Allreduce(const void *in, void *out, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c)
{
    return PMPI_Allreduce(in, out, n, t, op, comm_of(c));
}
int MPI_Gather(const void *in, int n, MPI_Datatype t, void *out, int m, MPI_Datatype u, int root,
               MPI_Comm c)
{
    return PMPI_Gather(in, n, t, out, m, u, root, comm_of(c));
}
int MPI_Win_allocate(MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm c, void *base, MPI_Win *win)
{
    return PMPI_Win_allocate(bytes, unit, info, comm_of(c), base, win);
}

/* --- accesses --- */

static size_t bytes_of(int n, MPI_Datatype t)
{
    int size;
    PMPI_Type_size(t, &size);
    return (size_t)n * (size_t)size;
}

static void determine(int type, int target, int combine, MPI_Aint disp, size_t bytes)
{
    struct determinant d = {type, me, target, combine, epoch, (uint64_t)disp, bytes};
    PMPI_Send(&d, sizeof d, MPI_BYTE, logger(), TAG_ACCESS, MPI_COMM_WORLD);
    open_accesses++;
}

static void log_put(const void *data, size_t bytes, int target, int combine, MPI_Aint disp)
{
    if (target == me)
        return;
    nputs++;
    keep(data, bytes);
    determine(0, target, combine, disp, bytes);
}

/* The data is there when the epoch is over. */
static void log_get(const void *data, size_t bytes, int target, MPI_Aint disp)
{
    if (target == me)
        return;
    ngets++;
    if (ngot < GETS) {
        got[ngot].data = data;
        got[ngot++].bytes = bytes;
    }
    determine(1, target, 0, disp, bytes);
}

static void over(void)
{
    if (!open_accesses)
        return;
    for (int i = 0; i < ngot; i++)
        keep(got[i].data, got[i].bytes);
    ngot = 0;
    if (!async) {
        PMPI_Send(NULL, 0, MPI_BYTE, logger(), TAG_OVER, MPI_COMM_WORLD);
        PMPI_Recv(NULL, 0, MPI_BYTE, logger(), TAG_HAS, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    open_accesses = 0;
    epoch++;
}

int MPI_Put(const void *data, int n, MPI_Datatype t, int target, MPI_Aint disp, int tn,
            MPI_Datatype tt, MPI_Win win)
{
    log_put(data, bytes_of(n, t), target, 0, disp);
    return PMPI_Put(data, n, t, target, disp, tn, tt, win);
}

int MPI_Accumulate(const void *data, int n, MPI_Datatype t, int target, MPI_Aint disp, int tn,
                   MPI_Datatype tt, MPI_Op op, MPI_Win win)
{
    log_put(data, bytes_of(n, t), target, 1, disp);
    return PMPI_Accumulate(data, n, t, target, disp, tn, tt, op, win);
}

int MPI_Get(void *data, int n, MPI_Datatype t, int target, MPI_Aint disp, int tn, MPI_Datatype tt,
            MPI_Win win)
{
    int rc = PMPI_Get(data, n, t, target, disp, tn, tt, win);
    log_get(data, bytes_of(n, t), target, disp);
    return rc;
}

int MPI_Get_accumulate(const void *data, int n, MPI_Datatype t, void *result, int rn,
                       MPI_Datatype rt, int target, MPI_Aint disp, int tn, MPI_Datatype tt,
                       MPI_Op op, MPI_Win win)
{
    if (op != MPI_NO_OP)
        log_put(data, bytes_of(n, t), target, 1, disp);
    int rc = PMPI_Get_accumulate(data, n, t, result, rn, rt, target, disp, tn, tt, op, win);
    log_get(result, bytes_of(rn, rt), target, disp);
    return rc;
}

int MPI_Fetch_and_op(const void *data, void *result, MPI_Datatype t, int target, MPI_Aint disp,
                     MPI_Op op, MPI_Win win)
{
    if (op != MPI_NO_OP)
        log_put(data, bytes_of(1, t), target, 1, disp);
    int rc = PMPI_Fetch_and_op(data, result, t, target, disp, op, win);
    log_get(result, bytes_of(1, t), target, disp);
    return rc;
}

int MPI_Compare_and_swap(const void *data, const void *compare, void *result, MPI_Datatype t,
                         int target, MPI_Aint disp, MPI_Win win)
{
    log_put(data, bytes_of(1, t), target, 1, disp);
    int rc = PMPI_Compare_and_swap(data, compare, result, t, target, disp, win);
    log_get(result, bytes_of(1, t), target, disp);
    return rc;
}

/* --- the ends of epochs --- */

int MPI_Win_flush(int target, MPI_Win win)
{
    int rc = PMPI_Win_flush(target, win);
    over();
    return rc;
}

int MPI_Win_flush_all(MPI_Win win)
{
    int rc = PMPI_Win_flush_all(win);
    over();
    return rc;
}

int MPI_Win_unlock_all(MPI_Win win)
{
    PMPI_Win_flush_all(win);
    over();
    return PMPI_Win_unlock_all(win);
}

/* The puts are in the log before anybody can leave the fence. What is got is there after it. */
int MPI_Win_fence(int assert, MPI_Win win)
{
    if (!ngot)
        over();
    int rc = PMPI_Win_fence(assert, win);
    over();
    return rc;
}
