/* SPDX-License-Identifier: BSD-3-Clause
 *
 * cheat.c - a program that breaks the rule that a replay repeats what was done: what it does
 * follows from the clock, or with
 * --pid from the process's number. By argument it cheats in the `value` put, the target's `displ`,
 * what an atomic adds (its `operand`), the `number` of messages, their `tag`, their `length`, how
 * many words all have `shared`, or in the midst of the `data` of a long one; in every round, or
 * with --at K in round K alone. `late`: in a tag that is looked at again only when rank 2 is live,
 * and all have passed a safepoint at which no image can be taken; with --order one is taken there;
 * in the last round body is over. Whatever it receives is right, so it ends well after any
 * rollback.
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

/* Differs between any two executions. */
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

static void add_something(uint64_t r, uint64_t x)
{
    int to = (me + 1) % np, from = (me + np - 1) % np;
    uint64_t found;
    MPI_Fetch_and_op(&x, &found, MPI_UINT64_T, to, (MPI_Aint)(r % CELLS), MPI_SUM, win);
    MPI_Win_flush(to, win);
    state.sum = mix(state.sum ^ found);
    tell(to, r, r);
    CHECK(hear(from, r) == r);
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

/* Several records: one who dies between two of them has said a part. */
static void send_long(uint64_t r, uint64_t x)
{
    enum { WORDS = 20000 };
    static uint64_t out[WORDS], in[WORDS];
    int to = (me + 1) % np, from = (me + np - 1) % np;
    MPI_Request q;
    for (uint64_t i = 0; i < WORDS; i++)
        out[i] = mix(r + i);
    out[5] ^= x;
    MPI_Irecv(in, WORDS, MPI_UINT64_T, from, 3, MPI_COMM_WORLD, &q);
    MPI_Send(out, WORDS, MPI_UINT64_T, to, 3, MPI_COMM_WORLD);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    CHECK(in[4] == mix(r + 4));
    state.sum = mix(state.sum ^ in[5]);
}

/* The result of a sum over all is the length of the next message. So a rank that runs again uses
 * another length than the others. */
static void share(uint64_t r, uint64_t x)
{
    enum { MOST = 400 };
    static uint64_t out[MOST], in[MOST];
    uint64_t mine = 1 + x % (MOST / (uint64_t)np), all;
    int root = (int)(r % (uint64_t)np);
    MPI_Request q;
    MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    for (uint64_t i = 0; i < all; i++)
        out[i] = mix(r + i);
    if (r % 3 == 0) {
        MPI_Bcast(out, (int)all, MPI_UINT64_T, root, MPI_COMM_WORLD);
    } else if (r % 3 == 1) {
        MPI_Ibcast(out, (int)all, MPI_UINT64_T, root, MPI_COMM_WORLD, &q);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
    } else {
        MPI_Sendrecv(out, (int)all, MPI_UINT64_T, (me + 1) % np, 2, in, (int)all, MPI_UINT64_T,
                     (me + np - 1) % np, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(in[0] == mix(r));
    }
    state.sum = mix(state.sum + all);
}

/* In rounds 6 and 14 rank 2 sends what it must not, and is lost after its put. Rank 3 waits for no
 * message before it has passed the next safepoint, so it cannot see earlier that rank 2 sent
 * something else when it ran again. */
static void send_unseen(uint64_t r, uint64_t w)
{
    static uint64_t in;
    MPI_Request q;
    MPI_Status st;
    if (r % 8 == 7 && me == 1 && !opt.order) /* over the safepoint: no image */
        MPI_Irecv(&in, 1, MPI_UINT64_T, 0, (int)r, MPI_COMM_WORLD, &q);
    safepoint();
    if (r % 8 == 7) {
        if (me == 0)
            tell(1, r, r);
        if (me == 1 && !opt.order)
            MPI_Wait(&q, MPI_STATUS_IGNORE);
        if (me == 1 && opt.order)
            CHECK(hear(0, r) == r);
        if (me == 2)
            tell(3, r, r);
        if (me == 3)
            CHECK(hear(2, r) == r);
        MPI_Barrier(MPI_COMM_WORLD); /* nobody is further than that when it sees */
    } else if (r % 8 == 6) {
        if (me == 2) {
            MPI_Send(&r, 1, MPI_UINT64_T, 3, (int)(w % 4000), MPI_COMM_WORLD);
            CHECK(hear(3, r) == r);
            MPI_Put(&r, 1, MPI_UINT64_T, 3, 0, 1, MPI_UINT64_T, win);
            MPI_Win_flush(3, win);
            tell(0, r, r);
        } else if (me == 3) {
            MPI_Recv(&in, 1, MPI_UINT64_T, 2, MPI_ANY_TAG, MPI_COMM_WORLD, &st);
            CHECK(in == r);
            state.sum = mix(state.sum + (uint64_t)st.MPI_TAG);
            tell(2, r, r);
            while (*(volatile uint64_t *)&mem[1] != r)
                MPI_Win_sync(win);
        } else if (me == 0) {
            tell(1, r, hear(2, r));
        } else if (me == 1) {
            uint64_t x = hear(0, r);
            MPI_Put(&x, 1, MPI_UINT64_T, 3, 1, 1, MPI_UINT64_T, win);
            MPI_Win_flush(3, win);
        }
    }
}

static void body(void *arg)
{
    const char *what = arg;
    MPI_Win_lock_all(0, win);
    for (; state.round < opt.rounds; state.round++) {
        uint64_t r = state.round;
        uint64_t w = opt.at < 0 || (uint64_t)opt.at == r ? whim() : 0;
        if (strcmp(what, "late") == 0) {
            send_unseen(r, w);
            continue;
        }
        safepoint();
        if (strcmp(what, "value") == 0)
            put_something(r, w, r % CELLS);
        else if (strcmp(what, "displ") == 0)
            put_something(r, r + 1, w % CELLS);
        else if (strcmp(what, "operand") == 0)
            add_something(r, w);
        else if (strcmp(what, "shared") == 0)
            share(r, w);
        else if (strcmp(what, "data") == 0)
            send_long(r, w);
        else if (strcmp(what, "number") == 0)
            send_something(r, 1 + w % 7, 1, 3);
        else if (strcmp(what, "tag") == 0)
            send_something(r, 2, (int)(w % 4000), 3);
        else
            send_something(r, 2, 1, 1 + (int)(w % (LONG - 1)));
    }
    MPI_Win_unlock_all(win);
    if (strcmp(what, "late") != 0) /* it would look */
        MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    static const char *const known[] = {"value",  "displ", "operand", "shared", "data",
                                        "number", "tag",   "length",  "late"};
    size_t i = 0, count = sizeof known / sizeof *known;
    start(argc, argv, 15);
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
