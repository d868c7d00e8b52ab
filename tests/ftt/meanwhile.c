/* SPDX-License-Identifier: BSD-3-Clause
 *
 * meanwhile.c - messages of MPI go on while a process waits in a call of the transport, or repeats
 * one. An even number of ranks, in pairs: one of the first half says something by the transport when
 * its call of MPI has returned, and the other one, which that call needs, waits for it.
 */
#include <ftrma_transport.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONG = 64 << 10, FAST = 4 << 20, TIMES = 3 };

static FTT_Transport *t;
static int rank, size, other;
static uint32_t round_now, *flag; /* flag: others read it */
static FTT_Buffer own, theirs;    /* where their flag is */
static char *data, *in;

static void must(int status, const char *what)
{
    if (status == FTT_OK)
        return;
    fprintf(stderr, "meanwhile: rank %d: %s: %s\n", rank, what, FTT_Status_text(status));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* --- who says it: in each way --- */

static void say(void)
{
    char name[32];
    snprintf(name, sizeof name, "round %u", (unsigned)round_now);
    *(volatile uint32_t *)flag = round_now;
    must(FTT_Publish(t, name, flag, sizeof *flag), "FTT_Publish");
    must(FTT_Send(t, other, round_now, NULL, 0, 0, NULL), "FTT_Send");
}

/* --- who waits for it --- */

static int heard(int timeout)
{
    FTT_Event ev;
    return FTT_Poll(t, &ev, timeout) == FTT_OK && ev.kind == FTT_EV_MESSAGE && ev.rank == other &&
           ev.tag == round_now;
}

static void by_poll(void)
{
    while (!heard(-1)) {
    }
}

static void by_looks(void)
{
    while (!heard(0)) {
    }
}

static void by_events(void) /* there is one for each poll */
{
    do
        (void)FTT_Send(t, rank, 0, NULL, 0, 0, NULL);
    while (!heard(-1));
}

static void by_fetch(void)
{
    char name[32];
    uint32_t word;
    snprintf(name, sizeof name, "round %u", (unsigned)round_now);
    must(FTT_Fetch(t, other, name, &word, sizeof word), "FTT_Fetch");
}

static void by_fetches(void)
{
    uint32_t word;
    do
        must(FTT_Fetch(t, other, "flag", &word, sizeof word), "FTT_Fetch");
    while (word != round_now);
}

static void by_gets(void)
{
    uint32_t word;
    do
        must(FTT_Get(t, &theirs, 0, &word, sizeof word, 0, 0, NULL), "FTT_Get");
    while (word != round_now);
}

static void (*const ways[])(void) = {by_poll, by_looks, by_events, by_fetch, by_fetches, by_gets};
enum { WAYS = sizeof ways / sizeof *ways };

/* --- calls of MPI that need both --- */

static void receive(MPI_Request *r)
{
    memset(in, 0, LONG);
    MPI_Irecv(in, LONG, MPI_BYTE, other, 1, MPI_COMM_WORLD, r);
}

static void is_received(MPI_Request *r)
{
    MPI_Wait(r, MPI_STATUS_IGNORE);
    if (in[0] != 'x' || in[LONG - 1] != 'x')
        must(FTT_ERR_ARG, "a message");
}

static void synchronous(int says, void (*wait)(void))
{
    MPI_Request r;
    if (says) {
        MPI_Ssend(data, LONG, MPI_BYTE, other, 1, MPI_COMM_WORLD);
        say();
    } else {
        receive(&r);
        wait();
        is_received(&r);
    }
}

static void long_send(int says, void (*wait)(void))
{
    MPI_Request r;
    if (says) {
        MPI_Recv(in, FAST, MPI_BYTE, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        say();
    } else {
        MPI_Isend(data, FAST, MPI_BYTE, other, 2, MPI_COMM_WORLD, &r);
        wait();
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
}

static void collective(int says, void (*wait)(void))
{
    MPI_Request r;
    MPI_Ibarrier(MPI_COMM_WORLD, &r);
    if (!says)
        wait();
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    if (says)
        say();
}

static void (*const calls[])(int says, void (*wait)(void)) = {synchronous, long_send, collective};
enum { CALLS = sizeof calls / sizeof *calls };

static void start(int *argc, char ***argv)
{
    void *at;
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    other = (rank + size / 2) % size;
    data = malloc(FAST);
    in = malloc(FAST);
    if (!data || !in)
        MPI_Abort(MPI_COMM_WORLD, 1);
    memset(data, 'x', FAST);
    must(FTT_Open(&t), "FTT_Open");
    must(FTT_Alloc(t, sizeof *flag, &own, &at), "FTT_Alloc");
    flag = at;
    *flag = 0;
    must(FTT_Publish(t, "flag", flag, sizeof *flag), "FTT_Publish");
    must(FTT_Publish(t, "buffer", &own, sizeof own), "FTT_Publish");
    must(FTT_Fetch(t, other, "buffer", &theirs, sizeof theirs), "FTT_Fetch");
}

int main(int argc, char **argv)
{
    MPI_Request r;
    start(&argc, &argv);
    int says = rank < size / 2;
    for (int i = 0; i < TIMES; i++)
        for (int k = 0; k < CALLS; k++)
            for (int w = 0; w < WAYS; w++) {
                round_now++;
                calls[k](says, ways[w]);
            }
    if (says) { /* the other one comes to FTT_Close first */
        MPI_Ssend(data, LONG, MPI_BYTE, other, 1, MPI_COMM_WORLD);
        must(FTT_Close(t), "FTT_Close");
    } else {
        receive(&r);
        must(FTT_Close(t), "FTT_Close");
        is_received(&r);
    }
    if (rank == 0)
        printf("result: all went on\n");
    MPI_Finalize();
    return 0;
}
