/* SPDX-License-Identifier: BSD-3-Clause
 *
 * patterns.c - the five ways to communicate and synchronise of Besta and Hoefler, Fig. 5, by
 * argument: A puts and flushes, B gets and flushes, C puts and locks, D gets and locks, E gsyncs.
 * Every rank is p, q and r of the figure at once. What a round writes follows from what was read in
 * the one before, so that one wrong word anywhere changes the result.
 */
#include "protect.h"

enum { SLOT = 8, OWN = 64, MAX_RANKS = 64 };

static struct {
    uint64_t round, sum;
} state;
static uint64_t *mem, *own, *priv; /* np slots of SLOT words; OWN words that others get; OWN words
                                      that nobody else accesses */
static uint64_t out[MAX_RANKS][SLOT], late[MAX_RANKS];
static MPI_Win win;

static void add(uint64_t x) { state.sum = mix(state.sum ^ mix(x + 1)); }
static int right(int i) { return (me + i) % np; }
static int left(int i) { return (me + np - i) % np; }
static MPI_Aint own_disp(uint64_t j) { return (MPI_Aint)(np * SLOT) + (MPI_Aint)(j % OWN); }

/* Loads and stores of the own window between synchronisations: a walk in which every step reads
 * what an earlier one wrote. */
static void touch_priv(uint64_t r)
{
    for (uint64_t i = 0; i < 5; i++) {
        uint64_t *a = &priv[(r * 5 + i) % OWN], *b = &priv[state.sum % OWN];
        *a = mix(*b + state.sum + i);
        add(*a);
    }
}

static uint64_t word(uint64_t seed, int to, int j) { return mix(seed + (uint64_t)(to * SLOT + j)); }

static void make_slot(int t, uint64_t r)
{
    for (int j = 0; j < SLOT; j++)
        out[t][j] =
            j == (int)(r % SLOT) ? ~UINT64_C(0) : word(state.sum, t, j); /* this one is put twice */
    late[t] = word(state.sum, t, (int)(r % SLOT));
}

static void read_slot(int s, uint64_t seed)
{
    for (int j = 0; j < SLOT; j++) {
        CHECK(mem[s * SLOT + j] == word(seed, me, j));
        add(mem[s * SLOT + j]);
    }
}

static void puts_flushes(uint64_t r)
{
    uint64_t seed[MAX_RANKS];
    for (int i = 1; i < np; i++) {
        int t = right(i);
        make_slot(t, r);
        MPI_Put(out[t], SLOT, MPI_UINT64_T, t, me * SLOT, SLOT, MPI_UINT64_T, win);
        MPI_Win_flush(t, win);
        MPI_Put(&late[t], 1, MPI_UINT64_T, t, me * SLOT + (MPI_Aint)(r % SLOT), 1, MPI_UINT64_T,
                win);
        if (r % 2)
            MPI_Win_flush(t, win);
    }
    if (r % 2 == 0)
        MPI_Win_flush_all(win);
    for (int i = 1; i < np; i++)
        tell(right(i), r, state.sum);
    for (int i = 1; i < np; i++)
        seed[left(i)] = hear(left(i), r);
    MPI_Win_sync(win);
    for (int i = 1; i < np; i++)
        read_slot(left(i), seed[left(i)]);
    touch_priv(r);
    for (int i = 1; i < np; i++)
        tell(left(i), r, state.sum); /* read: the slot may be written again */
    for (int i = 1; i < np; i++)
        add(hear(right(i), r));
}

/* The word at t's own[j], in one of the ways to complete a get. */
static uint64_t fetch(int t, uint64_t j, uint64_t r)
{
    uint64_t got = 0;
    MPI_Request req;
    if (r % 3 == 2) {
        MPI_Rget(&got, 1, MPI_UINT64_T, t, own_disp(j), 1, MPI_UINT64_T, win, &req);
        MPI_Wait(&req, MPI_STATUS_IGNORE);
        return got;
    }
    MPI_Get(&got, 1, MPI_UINT64_T, t, own_disp(j), 1, MPI_UINT64_T, win);
    if (r % 3)
        MPI_Win_flush_local(t, win);
    else
        MPI_Win_flush(t, win);
    return got;
}

static void fill_own(void)
{
    for (uint64_t j = 0; j < OWN; j++)
        own[j] = mix(state.sum + j);
}

static void gets_flushes(uint64_t r)
{
    fill_own();
    MPI_Win_sync(win);
    for (int i = 1; i < np; i++)
        tell(right(i), r, state.sum);
    for (int i = 1; i < np; i++) {
        int t = left(i);
        uint64_t seed = hear(t, r), at = r;
        for (int k = 0; k < 4; k++) { /* where to get next stands in what was got */
            uint64_t got = fetch(t, at, r);
            CHECK(got == mix(seed + at % OWN));
            add(got);
            at = got;
        }
    }
    touch_priv(r);
    MPI_Win_flush_all(win);
    for (int i = 1; i < np; i++)
        tell(left(i), r, state.sum);
    for (int i = 1; i < np; i++)
        add(hear(right(i), r));
}

/* The record at a rank: the number of turns, a sum, an xor, and the turns of each rank. Sums do not
 * depend on the order of turns. */
enum { COUNT, SUM, XOR, TURNS };

static void take_turn(uint64_t *rec, uint64_t x)
{
    uint64_t turns = 0;
    for (int i = 0; i < np; i++)
        turns += rec[TURNS + i];
    CHECK(turns == rec[COUNT]);
    rec[COUNT]++;
    rec[SUM] += x;
    rec[XOR] ^= mix(x);
    rec[TURNS + me]++;
}

static void puts_locks(uint64_t r)
{
    uint64_t rec[TURNS + MAX_RANKS], seed = state.sum;
    for (int i = 0; i < np; i++) {
        int t = right(i + (int)r);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, t, 0, win);
        if (t == me) {
            take_turn(mem, mix(seed + (uint64_t)t));
        } else {
            MPI_Get(rec, TURNS + np, MPI_UINT64_T, t, 0, TURNS + np, MPI_UINT64_T, win);
            MPI_Win_flush(t, win);
            take_turn(rec, mix(seed + (uint64_t)t));
            MPI_Put(rec, TURNS, MPI_UINT64_T, t, 0, TURNS, MPI_UINT64_T, win);
            MPI_Put(&rec[TURNS + me], 1, MPI_UINT64_T, t, TURNS + me, 1, MPI_UINT64_T, win);
        }
        MPI_Win_unlock(t, win);
    }
    touch_priv(r);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int t = 0; t < np; t++) {
        MPI_Win_lock(MPI_LOCK_SHARED, t, 0, win);
        MPI_Get(rec, TURNS + np, MPI_UINT64_T, t, 0, TURNS + np, MPI_UINT64_T, win);
        MPI_Win_unlock(t, win);
        CHECK(rec[COUNT] == (r + 1) * (uint64_t)np);
        add(rec[SUM] ^ rec[XOR]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void gets_locks(uint64_t r)
{
    uint64_t got[3];
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, win);
    own[0] = r + 1;
    own[1] = mix(state.sum);
    own[2] = mix(own[0] ^ own[1]);
    MPI_Win_unlock(me, win);
    touch_priv(r);
    for (int i = 1; i < np; i++) {
        do { /* of this round or of the one before, never of both */
            MPI_Win_lock(i == 1 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, right(i), 0, win);
            MPI_Get(got, 3, MPI_UINT64_T, right(i), own_disp(0), 3, MPI_UINT64_T, win);
            MPI_Win_unlock(right(i), win);
            CHECK(got[0] == r || got[0] == r + 1);
            CHECK(got[0] == 0 || got[2] == mix(got[0] ^ got[1]));
        } while (got[0] != r + 1);
        add(got[2]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void gsyncs(uint64_t r)
{
    uint64_t got[MAX_RANKS] = {0}, seed[MAX_RANKS], mine = state.sum;
    fill_own();
    MPI_Win_fence(0, win);
    for (int i = 1; i < np; i++) {
        int t = right(i);
        make_slot(t, r);
        out[t][r % SLOT] = late[t];
        MPI_Put(out[t], SLOT, MPI_UINT64_T, t, me * SLOT, SLOT, MPI_UINT64_T, win);
        MPI_Get(&got[t], 1, MPI_UINT64_T, t, own_disp(mine), 1, MPI_UINT64_T, win);
    }
    touch_priv(r);
    MPI_Win_fence(r % 2 ? MPI_MODE_NOSUCCEED : 0, win);
    MPI_Allgather(&mine, 1, MPI_UINT64_T, seed, 1, MPI_UINT64_T, MPI_COMM_WORLD);
    for (int i = 1; i < np; i++) {
        read_slot(left(i), seed[left(i)]);
        CHECK(got[left(i)] == mix(seed[left(i)] + mine % OWN));
        add(got[left(i)]);
    }
}

static void body(void *arg)
{
    char what = *(const char *)arg;
    if (what == 'A' || what == 'B')
        MPI_Win_lock_all(0, win);
    for (; state.round < opt.rounds; state.round++) {
        safepoint();
        switch (what) {
        case 'A': puts_flushes(state.round); break;
        case 'B': gets_flushes(state.round); break;
        case 'C': puts_locks(state.round); break;
        case 'D': gets_locks(state.round); break;
        default: gsyncs(state.round); break;
        }
    }
    if (what == 'A' || what == 'B')
        MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    start(argc, argv, 14);
    if (!*opt.what || !strchr("ABCDE", *opt.what) || opt.what[1])
        usage(opt.what);
    CHECK(np <= MAX_RANKS && TURNS + np <= np * SLOT);
    size_t words = (size_t)np * SLOT + 2 * OWN;
    mem = window(words, MPI_COMM_WORLD, &win);
    own = mem + np * SLOT;
    priv = own + OWN;
    state.sum = mix((uint64_t)me + 1);
    protect(&state, sizeof state);
    unprotect(out, sizeof out);
    unprotect(late, sizeof late);
    run(body, (void *)(uintptr_t)opt.what);
    uint64_t hash = mix_all(state.sum, mem, words);
    window_free(mem, &win);
    return finish(hash);
}
