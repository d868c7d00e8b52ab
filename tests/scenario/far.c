/* SPDX-License-Identifier: BSD-3-Clause
 *
 * far.c - long messages without logs, which stay at their senders until their receivers have copied
 * them: [p dies while q copies out of its memory], [q dies, and p waits for it], [p sends before a
 * safepoint, q receives after it], [p's MPI_Ssend comes while q stands at a safepoint, and must not
 * return before q's receive]; collectives of such messages, and a receive from any source.
 */
#include "scenario.h"

#include <time.h>

enum { ROUNDS = 6, WORDS = 1 << 15 };

static struct {
    uint64_t round, sum;
    int sent; /* in this round: from the second safepoint on, where body is entered again, too */
} state;
static uint64_t *in, *out;

static void fill(uint64_t key, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = mix(key * 1000003 + i);
}

static void take(uint64_t key, size_t n)
{
    for (size_t i = 0; i < n; i++)
        CHECK(in[i] == mix(key * 1000003 + i));
    state.sum = mix(state.sum ^ in[n - 1]);
}

static void messages(uint64_t r)
{
    int right = (me + 1) % np, left = (me + np - 1) % np, n;
    size_t words = (size_t)WORDS >> (r % 4);
    MPI_Request q;
    MPI_Status st;
    fill(r * 64 + (uint64_t)me, words);
    MPI_Isend(out, (int)words, MPI_UINT64_T, right, 1, MPI_COMM_WORLD, &q);
    MPI_Recv(in, WORDS, MPI_UINT64_T, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &st);
    MPI_Get_count(&st, MPI_UINT64_T, &n);
    CHECK(st.MPI_SOURCE == left && (size_t)n == words);
    take(r * 64 + (uint64_t)left, words);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
}

static void collectives(uint64_t r)
{
    int root = (int)(r % (uint64_t)np);
    size_t each = WORDS / 8;
    if (me == root)
        fill(r, WORDS);
    memcpy(in, out, WORDS * sizeof *in);
    MPI_Bcast(in, WORDS, MPI_UINT64_T, root, MPI_COMM_WORLD);
    take(r, WORDS);
    memcpy(out, in, WORDS * sizeof *in);
    MPI_Scatter(out, (int)each, MPI_UINT64_T, in, (int)each, MPI_UINT64_T, root, MPI_COMM_WORLD);
    CHECK(in[0] == out[(size_t)me * each] && in[each - 1] == out[(size_t)(me + 1) * each - 1]);
    MPI_Allreduce(out, in, WORDS, MPI_UINT64_T, MPI_BXOR, MPI_COMM_WORLD);
    CHECK(in[5] == (np % 2 ? out[5] : 0));
}

/* What 0 sends comes after 2's message was received, whatever 1 does meanwhile. */
static void send_in_turn(uint64_t r)
{
    int go = 0;
    if (me == 2) {
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL); /* 1 stands at its safepoint */
        fill(55 + r, WORDS);
        MPI_Ssend(out, WORDS, MPI_UINT64_T, 1, 3, MPI_COMM_WORLD);
        MPI_Send(&go, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
    } else if (me == 0) {
        MPI_Recv(&go, 1, MPI_INT, 2, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&go, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
    }
}

static void receive_in_turn(uint64_t r)
{
    MPI_Status st;
    if (me != 1)
        return;
    MPI_Recv(in, WORDS, MPI_UINT64_T, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &st);
    CHECK(st.MPI_SOURCE == 2);
    take(55 + r, WORDS);
    MPI_Recv(in, WORDS, MPI_UINT64_T, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &st);
    CHECK(st.MPI_SOURCE == 0);
}

static void body(void *arg)
{
    (void)arg;
    for (; state.round < ROUNDS; state.round++, state.sent = 0) {
        uint64_t r = state.round;
        int pair = me ^ 1; /* by turns before and after a safepoint of the receiver's */
        if (!state.sent) {
            FTRMA_Safepoint();
            messages(r);
            collectives(r);
            if (me % 2 == 0 && pair < np) {
                fill(77 + r, WORDS);
                MPI_Send(out, WORDS, MPI_UINT64_T, pair, 2, MPI_COMM_WORLD);
                memset(out, 0, WORDS * sizeof *out);
            }
            if (np > 2)
                send_in_turn(r);
            state.sent = 1;
        }
        FTRMA_Safepoint();
        if (me % 2) {
            MPI_Recv(in, WORDS, MPI_UINT64_T, pair, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            take(77 + r, WORDS);
        }
        if (np > 2)
            receive_in_turn(r);
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    in = room(WORDS * sizeof *in);
    out = room(WORDS * sizeof *out);
    FTRMA_Protect(&state, sizeof state);
    FTRMA_Unprotect(in, WORDS * sizeof *in);
    FTRMA_Unprotect(out, WORDS * sizeof *out);
    CHECK(FTRMA_Run(body, NULL) == MPI_SUCCESS);
    return finish(state.sum);
}
