/* SPDX-License-Identifier: BSD-3-Clause
 *
 * left_fetch.c - a recovery takes rank 0 out of FTT_Fetch, which waits for what rank 1 has not
 * published. From then on the buffer is the program's own: when rank 1 publishes, nothing may come
 * into it. 3 ranks; rank 2 is to be lost in its first MPI_Send.
 *
 *   ftt_left_fetch [polls]     polls: what it leaves is a loop of FTT_Poll that does not wait
 */
#include <ftrma.h>
#include <ftrma_transport.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define BYTES (64u << 10)
#define NAME "what is late"

static FTT_Transport *t;
static unsigned char *buf;
static int rank, polls, bad;

static void must(int status, const char *what)
{
    if (status == FTT_OK)
        return;
    fprintf(stderr, "left_fetch: rank %d: %s: %s\n", rank, what, FTT_Status_text(status));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static int is_all(int value)
{
    for (unsigned i = 0; i < BYTES; i++)
        if (buf[i] != value)
            return 0;
    return 1;
}

static void until_the_loss(void)
{
    FTT_Event ev;
    int word = 0;
    while (rank == 0 && polls)
        (void)FTT_Poll(t, &ev, 0);
    if (rank == 0)
        must(FTT_Fetch(t, 1, NAME, buf, BYTES), "FTT_Fetch");
    if (rank == 1) /* nobody sends that */
        MPI_Recv(&word, 1, MPI_INT, 2, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL); /* the fetch has come to rank 1 */
    MPI_Send(&word, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
}

static void after_it(void)
{
    FTT_Event ev;
    int word = 0;
    if (rank == 0) {
        memset(buf, 'p', BYTES);
        MPI_Send(&word, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
        MPI_Recv(&word, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        bad = !is_all('p');
        must(FTT_Fetch(t, 1, NAME, buf, BYTES), "FTT_Fetch");
        bad |= !is_all('q') << 1;
    }
    if (rank == 1) {
        MPI_Recv(&word, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        memset(buf, 'q', BYTES);
        must(FTT_Publish(t, NAME, buf, BYTES), "FTT_Publish");
        while (FTT_Poll(t, &ev, 50) == FTT_OK)
            ; /* and has answered */
        MPI_Send(&word, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
    }
}

static void body(void *arg)
{
    (void)arg;
    if (!FTRMA_Replaced(NULL, NULL, 0))
        until_the_loss();
    else
        after_it();
}

int main(int argc, char **argv)
{
    FTT_Buffer buffer;
    void *at;
    MPI_Init(&argc, &argv);
    polls = argc > 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    must(FTT_Open(&t), "FTT_Open");
    must(FTT_Alloc(t, BYTES, &buffer, &at), "FTT_Alloc");
    buf = at;
    if (FTRMA_Run(body, NULL) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (rank == 0)
        printf("result: %s\n", bad & 1   ? "what was left came late"
                               : bad & 2 ? "what was asked for did not come"
                                         : "the buffer is the program's own");
    must(FTT_Close(t), "FTT_Close");
    MPI_Finalize();
    return 0;
}
