/* SPDX-License-Identifier: BSD-3-Clause
 *
 * cheat.c - a program that breaks the rule that a replay repeats what was done: what it does follows from the clock, or with
 * --pid from the process's number. By argument it cheats in the `value` put, the target's `displ`, the `number` of messages,
 * their `tag`, or their `length`; in every round, or with --at K in round K alone. Whatever it receives is right, so it ends well
 * after any rollback.
 */
#include "protect.h"

#include <time.h>
#include <unistd.h>

enum { CELLS = 64, LONG = 300, LAST = 5000 };

static struct {
    uint64_t round, sum;
} state;
static uint64_t *mem;
static MPI_Win win;

/* What no two executions have in common. */
static uint64_t whim(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return opt.pid ? (uint64_t)getpid() : mix((uint64_t)t.tv_nsec);
}

static void put_something(uint64_t r, uint64_t x, uint64_t cell)
{
    int to = (me + 1) % np, from = (me + np - 1) % np;
    MPI_Put(&x, 1, MPI_UINT64_T, to, (MPI_Aint)cell, 1, MPI_UINT64_T, win);
    MPI_Win_flush(to, win);
    tell(to, r, r);
    CHECK(hear(from, r) == r);
    MPI_Win_sync(win);
    for (int i = 0; i < CELLS; i++)
        state.sum = mix(state.sum ^ mem[i]);
    tell(from, r, r);
    hear(to, r);
}

static void send_something(uint64_t r, uint64_t number, int tag, int length)
{
    static uint64_t out[LONG], in[LONG];
    int to = (me + 1) % np, from = (me + np - 1) % np, n;
    MPI_Status st;
    for (int i = 0; i < LONG; i++)
        out[i] = mix(r + (uint64_t)i);
    for (uint64_t i = 0; i < number; i++)
        MPI_Send(out, length, MPI_UINT64_T, to, tag, MPI_COMM_WORLD);
    MPI_Send(out, 1, MPI_UINT64_T, to, LAST, MPI_COMM_WORLD);
    do {
        MPI_Recv(in, LONG, MPI_UINT64_T, from, MPI_ANY_TAG, MPI_COMM_WORLD, &st);
        MPI_Get_count(&st, MPI_UINT64_T, &n);
        for (int i = 0; i < n; i++)
            CHECK(in[i] == mix(r + (uint64_t)i));
        state.sum = mix(state.sum + (uint64_t)(n * LAST + st.MPI_TAG));
    } while (st.MPI_TAG != LAST);
}

static void body(void *arg)
{
    const char *what = arg;
    MPI_Win_lock_all(0, win);
    for (; state.round < opt.rounds; state.round++) {
        uint64_t r = state.round;
        safepoint();
        uint64_t w = opt.at < 0 || (uint64_t)opt.at == r ? whim() : 0;
        if (strcmp(what, "value") == 0)
            put_something(r, w, r % CELLS);
        else if (strcmp(what, "displ") == 0)
            put_something(r, r + 1, w % CELLS);
        else if (strcmp(what, "number") == 0)
            send_something(r, 1 + w % 7, 1, 3);
        else if (strcmp(what, "tag") == 0)
            send_something(r, 2, (int)(w % 4000), 3);
        else
            send_something(r, 2, 1, 1 + (int)(w % (LONG - 1)));
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    static const char *const known[] = {"value", "displ", "number", "tag", "length"};
    size_t i = 0, count = sizeof known / sizeof *known;
    start(argc, argv, 14);
    while (i < count && strcmp(known[i], opt.what) != 0)
        i++;
    if (i == count)
        usage(opt.what);
    mem = window(CELLS, MPI_COMM_WORLD, &win);
    protect(&state, sizeof state);
    run(body, (void *)(uintptr_t)opt.what);
    CHECK(state.round == opt.rounds);
    window_free(mem, &win);
    return finish(state.sum);
}
