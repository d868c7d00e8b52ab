/* SPDX-License-Identifier: BSD-3-Clause
 *
 * epochs.c - the order that post, start, complete and wait give (pscw; pscwtest: with
 * MPI_Win_test), and memory that is attached and detached while the program runs (dynamic), by
 * argument. What a round writes follows from what the previous one has read.
 */
#include "protect.h"

enum { WORDS = 8, BLOCKS = 40, MAX_RANKS = 64 };

static struct {
    uint64_t round, sum;
    uint64_t attached[BLOCKS]; /* 1: this block of mine is */
} state;
static uint64_t *mem, *mem2;
static MPI_Win win, win2;
static MPI_Group world;

static void add(uint64_t x) { state.sum = mix(state.sum ^ mix(x + 1)); }
static int right(uint64_t i) { return (int)(((uint64_t)me + i) % (uint64_t)np); }
static int left(uint64_t i)
{
    return (int)(((uint64_t)me + (uint64_t)np - i % (uint64_t)np) % (uint64_t)np);
}

/* --- post, start, complete, wait --- */

static MPI_Group some(const int *ranks, int n)
{
    MPI_Group g;
    MPI_Group_incl(world, n, ranks, &g);
    return g;
}

static MPI_Group all_but(int who)
{
    int r[MAX_RANKS], n = 0;
    for (int i = 0; i < np; i++)
        if (i != who)
            r[n++] = i;
    return some(r, n);
}

static void end_exposure(MPI_Win w)
{
    int flag = strcmp(opt.what, "pscwtest") != 0;
    if (flag)
        MPI_Win_wait(w);
    while (!flag) {
        MPI_Win_test(w, &flag); /* how often it returns no does not matter */
        if (!flag)
            MPI_Iprobe(MPI_ANY_SOURCE, 12345, MPI_COMM_WORLD, &(int){0}, MPI_STATUS_IGNORE);
    }
}

/* Each exposes to one rank and accesses another; the distance changes with the round. */
static void shifted(uint64_t n)
{
    int to = right(n), from = left(n);
    uint64_t out[WORDS], late;
    MPI_Group origins = some(&from, 1), targets = some(&to, 1);
    for (int j = 0; j < WORDS; j++)
        out[j] = mix(state.sum + (uint64_t)j);
    MPI_Win_post(origins, 0, win);
    MPI_Win_start(targets, 0, win);
    MPI_Put(out, WORDS, MPI_UINT64_T, to, me * WORDS, WORDS, MPI_UINT64_T, win);
    MPI_Win_complete(win);
    end_exposure(win);
    state.sum = mix_all(state.sum, mem + from * WORDS, WORDS);
    late = mem[from * WORDS] + state.sum; /* loaded before the next one comes */
    MPI_Win_post(origins, MPI_MODE_NOSTORE, win);
    MPI_Win_start(targets, 0, win);
    MPI_Put(&late, 1, MPI_UINT64_T, to, me * WORDS, 1, MPI_UINT64_T, win);
    MPI_Win_complete(win);
    end_exposure(win);
    add(mem[from * WORDS]);
    MPI_Group_free(&origins);
    MPI_Group_free(&targets);
}

/* All access one rank, which reads and writes its window by loads and stores before and after. */
static void one_target(uint64_t n)
{
    int t = (int)(n % (uint64_t)np);
    uint64_t *count = mem + np * WORDS, was = 0, seen = 0, mine = state.sum;
    if (me == t) {
        MPI_Group others = all_but(me);
        count[1] = mix(state.sum);
        MPI_Win_post(others, 0, win);
        end_exposure(win);
        MPI_Group_free(&others);
        add(count[0]);
        count[0] = mix(count[0]);
        for (int i = 0; i < np; i++)
            add(mem[i * WORDS + 1]);
    } else {
        MPI_Group target = some(&t, 1);
        MPI_Win_start(target, 0, win);
        MPI_Accumulate(&mine, 1, MPI_UINT64_T, t, np * WORDS, 1, MPI_UINT64_T, MPI_SUM, win);
        MPI_Put(&mine, 1, MPI_UINT64_T, t, me * WORDS + 1, 1, MPI_UINT64_T, win);
        MPI_Get(&seen, 1, MPI_UINT64_T, t, np * WORDS + 1, 1, MPI_UINT64_T, win);
        MPI_Fetch_and_op(&mine, &was, MPI_UINT64_T, t, me * WORDS + 2, MPI_REPLACE, win);
        MPI_Win_complete(win);
        MPI_Group_free(&target);
        add(seen);
        add(was);
    }
}

/* All access all, including themselves, on two windows with nested epochs. */
static void all_at_all(void)
{
    uint64_t a[MAX_RANKS], b[MAX_RANKS];
    MPI_Win_post(world, 0, win2);
    MPI_Win_post(world, 0, win);
    MPI_Win_start(world, 0, win);
    MPI_Win_start(world, 0, win2);
    for (int t = 0; t < np; t++) {
        a[t] = mix(state.sum + (uint64_t)t);
        b[t] = mix(a[t]);
        MPI_Put(&a[t], 1, MPI_UINT64_T, t, me * WORDS + 3, 1, MPI_UINT64_T, win);
        MPI_Put(&b[t], 1, MPI_UINT64_T, t, me, 1, MPI_UINT64_T, win2);
    }
    MPI_Win_complete(win);
    MPI_Win_complete(win2);
    end_exposure(win2);
    end_exposure(win);
    for (int s = 0; s < np; s++) {
        CHECK(mem2[s] == mix(mem[s * WORDS + 3]));
        add(mem2[s]);
    }
}

static void pscw(uint64_t n)
{
    shifted(n);
    one_target(n);
    if (n % 2)
        all_at_all();
}

/* --- dynamic windows --- */

static uint64_t *block[BLOCKS]; /* on pages that they share */
static uint64_t fixed[600];

static MPI_Aint address(const void *p)
{
    MPI_Aint a;
    MPI_Get_address(p, &a);
    return a;
}

static MPI_Aint hear_address(int from, uint64_t n) { return (MPI_Aint)hear(from, n); }

/* A rank attaches a block and tells where it is; its left neighbour puts there, gets from it, and
 * counts in memory that is always attached. */
static void dynamic(uint64_t n)
{
    uint64_t i = (n * 7 + (uint64_t)me) % BLOCKS, v[WORDS], got = 0, one = 1, was;
    int to = right(1), from = left(1);
    if (!state.attached[i]) {
        memset(block[i], (int)n, WORDS * 8);
        MPI_Win_attach(win, block[i], WORDS * 8);
        state.attached[i] = 1;
    }
    tell(from, 2 * n, (uint64_t)address(block[i]));
    tell(from, 2 * n, (uint64_t)address(fixed));
    MPI_Aint there = hear_address(to, 2 * n), counter = hear_address(to, 2 * n);
    for (int j = 0; j < WORDS; j++)
        v[j] = mix(state.sum + (uint64_t)j);
    MPI_Put(v, WORDS - 2, MPI_UINT64_T, to, there, WORDS - 2, MPI_UINT64_T, win);
    MPI_Win_flush(to, win);
    MPI_Put(&v[WORDS - 1], 1, MPI_UINT64_T, to, MPI_Aint_add(there, 8), 1, MPI_UINT64_T, win);
    MPI_Get(&got, 1, MPI_UINT64_T, to, there + 8 * (WORDS - 1), 1, MPI_UINT64_T, win);
    MPI_Fetch_and_op(&one, &was, MPI_UINT64_T, to, counter, MPI_SUM, win);
    MPI_Accumulate(v, WORDS, MPI_UINT64_T, to, counter + 8 * (MPI_Aint)(1 + n % 500), WORDS,
                   MPI_UINT64_T, MPI_SUM, win);
    MPI_Win_flush(to, win);
    add(got);
    add(was);
    tell(to, 2 * n + 1, state.sum);
    add(hear(from, 2 * n + 1));
    MPI_Win_sync(win);
    state.sum = mix_all(state.sum, block[i], WORDS);
    add(fixed[0]);
    uint64_t gone = (n * 5 + (uint64_t)me) % BLOCKS;
    if (state.attached[gone]) {
        MPI_Win_detach(win, block[gone]);
        state.attached[gone] = 0;
        memset(block[gone], 0xee, WORDS * 8); /* nothing of the window's any more */
    }
}

static void body(void *arg)
{
    int is_dynamic = strcmp(arg, "dynamic") == 0;
    if (is_dynamic)
        MPI_Win_lock_all(0, win);
    for (; state.round < opt.rounds; state.round++) {
        safepoint();
        if (is_dynamic)
            dynamic(state.round);
        else
            pscw(state.round);
    }
    if (is_dynamic)
        MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
}

static uint64_t play_dynamic(void)
{
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int i = 0; i < BLOCKS; i++) {
        block[i] = room(WORDS * 8 + (size_t)(i % 5) * 100);
        if (i % 3 == 0) { /* some from the start */
            MPI_Win_attach(win, block[i], WORDS * 8);
            state.attached[i] = 1;
        }
    }
    MPI_Win_attach(win, fixed, sizeof fixed);
    MPI_Barrier(MPI_COMM_WORLD);
    protect(&state, sizeof state);
    run(body, (void *)(uintptr_t)opt.what);
    uint64_t hash = mix_all(state.sum, fixed, sizeof fixed / 8);
    for (int i = 0; i < BLOCKS; i++)
        if (state.attached[i])
            hash = mix_all(hash, block[i], WORDS);
    MPI_Win_free(&win);
    return hash;
}

static uint64_t play_pscw(void)
{
    size_t words = (size_t)(np + 1) * WORDS;
    mem = window(words, MPI_COMM_WORLD, &win);
    mem2 = window((size_t)np, MPI_COMM_WORLD, &win2);
    protect(&state, sizeof state);
    run(body, (void *)(uintptr_t)opt.what);
    uint64_t hash = mix_all(mix_all(state.sum, mem, words), mem2, (size_t)np);
    window_free(mem2, &win2);
    window_free(mem, &win);
    return hash;
}

int main(int argc, char **argv)
{
    start(argc, argv, 14);
    CHECK(np <= MAX_RANKS);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    state.sum = mix((uint64_t)me + 1);
    if (strcmp(opt.what, "dynamic") == 0)
        return finish(play_dynamic());
    if (strcmp(opt.what, "pscw") != 0 && strcmp(opt.what, "pscwtest") != 0)
        usage(opt.what);
    return finish(play_pscw());
}
