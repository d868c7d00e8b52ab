/* SPDX-License-Identifier: BSD-3-Clause
 *
 * overtaken.c - [f puts into q's window, flushes and tells r; r puts to the same place and flushes;
 * f is lost.] f' must not put there again. OVERTAKEN in the environment says why the home log of f
 * has no word of the end of f's epoch:
 *
 *   log       f's log is over the limit by then
 *   cut       the put is from before a checkpoint, which is called off after f has copied
 *   get       the same, and f's home log has something after the flush
 *   snapshot  the same as cut, and rank 3 waits for f in front of its safepoint
 */
#include "scenario.h"

enum { ROUNDS = 6, Q = 0, F = 1, R = 2, LATE = 3, FULL = 24, PIECE = 8 << 10, TOKEN = 1 };

static struct {
    uint64_t round, sum;
} state;
static uint64_t *mem, *piece, word;
static MPI_Win win;
static const char *why;

static void put(const uint64_t *from, int words, MPI_Aint at)
{
    MPI_Put(from, words, MPI_UINT64_T, Q, at, words, MPI_UINT64_T, win);
}

static void put_word(uint64_t x)
{
    word = x;
    put(&word, 1, 0);
}

static void tell(int to) { MPI_Send(&state.sum, 1, MPI_UINT64_T, to, TOKEN, MPI_COMM_WORLD); }

static void hear(int from)
{
    uint64_t x;
    MPI_Recv(&x, 1, MPI_UINT64_T, from, TOKEN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    state.sum = mix(state.sum ^ x);
}

/* More than the log holds, closed piece by piece. */
static void fill_log(void)
{
    for (int i = 0; i < FULL; i++) {
        put(piece, PIECE, 2);
        MPI_Win_flush(Q, win);
    }
}

static void first_of_f(void)
{
    if (strcmp(why, "log") == 0)
        fill_log();
    else
        put_word(mix(1)); /* its epoch is open at the next safepoint */
}

static void then_of_f(void)
{
    uint64_t got = 0;
    if (strcmp(why, "log") == 0)
        put_word(mix(1));
    MPI_Win_flush(Q, win);
    if (strcmp(why, "get") == 0) {
        MPI_Get(&got, 1, MPI_UINT64_T, Q, 1, 1, MPI_UINT64_T, win);
        MPI_Win_flush(Q, win);
    }
    state.sum = mix(state.sum ^ got);
    tell(R);
    hear(R);
    if (strcmp(why, "snapshot") == 0)
        tell(LATE);
}

static void then_of_r(void)
{
    hear(F);
    put_word(mix(2));
    MPI_Win_flush(Q, win);
    tell(F);
}

static void body(void *arg)
{
    (void)arg;
    MPI_Win_lock_all(0, win);
    for (; state.round < ROUNDS; state.round++) {
        if (state.round == 2 && me == LATE && strcmp(why, "snapshot") == 0)
            hear(F);
        FTRMA_Safepoint();
        if (state.round == 1 && me == F)
            first_of_f();
        if (state.round == 2 && me == F)
            then_of_f();
        if (state.round == 2 && me == R)
            then_of_r();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_unlock_all(win);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    why = getenv("OVERTAKEN");
    why = why ? why : "cut";
    CHECK(np == 4);
    MPI_Aint words = me == Q ? 2 + PIECE : 0;
    MPI_Win_allocate(words * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
    for (MPI_Aint i = 0; i < words; i++)
        mem[i] = 0;
    piece = room(PIECE * sizeof *piece);
    for (uint64_t i = 0; i < PIECE; i++)
        piece[i] = mix(i);
    MPI_Barrier(MPI_COMM_WORLD);
    FTRMA_Protect(&state, sizeof state);
    FTRMA_Unprotect(&word, sizeof word);
    CHECK(FTRMA_Run(body, NULL) == MPI_SUCCESS);
    if (me == Q)
        state.sum = mix(state.sum ^ mem[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
    free(piece);
    return finish(state.sum);
}
