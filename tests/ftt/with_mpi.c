/* SPDX-License-Identifier: BSD-3-Clause
 *
 * with_mpi.c - MPI and the transport in one program: each step of body takes numbers by FTT_Fetch,
 * by a message of MPI, by a put into a window and by MPI_Allreduce. The result is the same whoever
 * is lost.
 *
 *   ftt_with_mpi [outside]     outside: the steps are not in the body of FTRMA_Run, and a message
 * takes the place of the put, which is not logged there
 */
#include <ftrma.h>
#include <ftrma_transport.h>
#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define STEPS 24

static FTT_Transport *t;
static uint64_t value[STEPS + 1], *published,
    *in_window; /* value: of all steps, so all can go back to any */
static int step, rank, size, left, right;
static MPI_Win win = MPI_WIN_NULL;

static void must(int status, const char *what)
{
    if (status == FTT_OK)
        return;
    fprintf(stderr, "with_mpi: rank %d: %s: %s\n", rank, what, FTT_Status_text(status));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void advance(void)
{
    uint64_t fetched = 0, sent = 0, sum = 0, now = value[step];
    char name[32];
    snprintf(name, sizeof name, "step %d", step);
    published[step] = now;
    must(FTT_Publish(t, name, &published[step], sizeof now), "FTT_Publish");
    if (win != MPI_WIN_NULL) {
        MPI_Win_fence(0, win);
        MPI_Put(&now, 1, MPI_UINT64_T, left, step, 1, MPI_UINT64_T, win);
    } else {
        MPI_Sendrecv(&now, 1, MPI_UINT64_T, left, step, &in_window[step], 1, MPI_UINT64_T, right,
                     step, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    must(FTT_Fetch(t, left, name, &fetched, sizeof fetched), "FTT_Fetch");
    MPI_Sendrecv(&now, 1, MPI_UINT64_T, right, step, &sent, 1, MPI_UINT64_T, left, step,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (win != MPI_WIN_NULL)
        MPI_Win_fence(0, win);
    MPI_Allreduce(&now, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (sent != fetched) {
        fprintf(stderr, "with_mpi: rank %d, step %d: MPI and the transport do not agree\n", rank,
                step);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    value[step + 1] = now * 31 + fetched * 7 + in_window[step] * 3 + sum + (uint64_t)rank;
    step++;
}

static void body(void *arg)
{
    (void)arg;
    if (FTRMA_Replaced(NULL, NULL, 0)) { /* to the newest step that all have */
        int mine = step;
        MPI_Allreduce(&mine, &step, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    }
    while (step < STEPS) {
        FTRMA_Safepoint();
        advance();
    }
}

int main(int argc, char **argv)
{
    FTT_Buffer buffer;
    void *at = NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    if (argc > 1)
        in_window = calloc(1, sizeof value);
    else
        MPI_Win_allocate(sizeof value, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &in_window, &win);
    must(FTT_Open(&t), "FTT_Open");
    if (rank % 2) /* others copy it by themselves, or this process does */
        at = calloc(1, sizeof value);
    else
        must(FTT_Alloc(t, sizeof value, &buffer, &at), "FTT_Alloc");
    published = at;
    value[0] = 1000003u * (unsigned)(rank + 1);
    FTRMA_Protect(value, sizeof value);
    FTRMA_Protect(&step, sizeof step);
    if (argc > 1)
        body(NULL);
    else if (FTRMA_Run(body, NULL) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    printf("result: rank %d %016" PRIx64 "\n", rank, value[STEPS]);
    fflush(stdout);
    must(FTT_Close(t), "FTT_Close");
    if (win != MPI_WIN_NULL)
        MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
