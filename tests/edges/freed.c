/* SPDX-License-Identifier: BSD-3-Clause
 *
 * freed.c - what setup makes and is freed at some time:  freed WHEN KIND [used]
 *
 *   WHEN  setup: in setup. begin: when body begins, if it is there. body: in body, at step 4.
 *         after: after FTRMA_Run
 *   KIND  shared (MPI_Win_allocate_shared), plain (MPI_Win_allocate), comm (a communicator)
 *   used  all store into it in setup, and load what their neighbour has stored
 *
 * Another window lives all the time. There are STEPS steps with a safepoint each in body, and as
 * many barriers after it.
 */
#include <ftrma.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { STEPS = 10, WORDS = 700 };

static struct {
    long step;
    int freed;
    unsigned long sum;
} state;
static int me, np;
static MPI_Win gone = MPI_WIN_NULL, other;
static MPI_Comm comm = MPI_COMM_NULL;
static long *word;

static unsigned long mix(unsigned long x)
{
    return (x ^ x >> 29) * 0xbf58476d1ce4e5b9ul + 0x9e3779b97f4a7c15ul;
}

static void use(long *p, MPI_Win w)
{
    MPI_Aint bytes;
    int unit;
    long *neighbour;
    p[0] = me + 1;
    MPI_Win_fence(0, w);
    MPI_Win_shared_query(w, (me + 1) % np, &bytes, &unit, &neighbour);
    state.sum = mix(state.sum + (unsigned long)neighbour[0]);
    MPI_Win_fence(0, w);
}

static void set_up(const char *kind, int used)
{
    long *p;
    MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &word, &other);
    if (strcmp(kind, "comm") == 0)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    else if (strcmp(kind, "shared") == 0)
        MPI_Win_allocate_shared(WORDS * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &gone);
    else
        MPI_Win_allocate(WORDS * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &gone);
    if (used)
        use(p, gone);
    *word = me;
}

static void let_go(void)
{
    if (comm != MPI_COMM_NULL)
        MPI_Comm_free(&comm);
    if (gone != MPI_WIN_NULL)
        MPI_Win_free(&gone);
}

static void body(void *arg)
{
    const char *when = arg;
    if (strcmp(when, "begin") == 0)
        let_go();
    for (; state.step < STEPS; state.step++) {
        FTRMA_Safepoint();
        if (strcmp(when, "body") == 0 && state.step == 4) {
            let_go();
            state.freed = 1;
        }
        long x = (long)(state.sum % 1000), got;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, other);
        MPI_Accumulate(&x, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, other);
        MPI_Win_unlock(0, other);
        MPI_Allreduce(&x, &got, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        state.sum = mix(state.sum + (unsigned long)got);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &np);
    const char *when = argc > 1 ? argv[1] : "setup";
    state.sum = (unsigned long)me;
    set_up(argc > 2 ? argv[2] : "shared", argc > 3);
    if (strcmp(when, "setup") == 0)
        let_go();
    FTRMA_Protect(&state, sizeof state);
    for (int i = 0; i < STEPS; i++) /* still setup */
        MPI_Barrier(MPI_COMM_WORLD);
    FTRMA_Run(body, (void *)(uintptr_t)when);
    if (strcmp(when, "after") == 0)
        let_go();
    for (int i = 0; i < STEPS; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    unsigned long all, mine = state.sum + (unsigned long)*word;
    MPI_Reduce(&mine, &all, 1, MPI_UNSIGNED_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (me == 0)
        printf("sum %016lx\n", all);
    MPI_Win_free(&other);
    MPI_Finalize();
    return 0;
}
