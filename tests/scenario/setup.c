/* SPDX-License-Identifier: BSD-3-Clause
 *
 * setup.c - [the sender of a setup message dies before f] and deaths in setup: messages short and
 * of several MiB, expected and not, over several communicators, in another order than sent, by
 * wildcards, collectives, and one that is received in body only.
 */
#include "scenario.h"

enum { LONG = 300000, SMALL = 5, ROUNDS = 4 };

static struct {
    uint64_t round, sum;
} state;
static MPI_Comm dup, half;
static uint64_t *out, *in;

static void add(uint64_t x) { state.sum = mix(state.sum ^ x); }

static void unexpected(void)
{
    int right = (me + 1) % np, left = (me + np - 1) % np;
    MPI_Request req;
    MPI_Status st;
    uint64_t x = 0, y = 0;
    for (int i = 0; i < SMALL; i++) {
        uint64_t v = mix((uint64_t)(me * 100 + i));
        MPI_Send(&v, 1, MPI_UINT64_T, right, i, i % 2 ? dup : MPI_COMM_WORLD);
    }
    MPI_Isend(out, LONG, MPI_UINT64_T, right, 77, dup, &req);
    for (int i = SMALL - 1; i >= 0; i--) { /* the last first */
        MPI_Recv(&x, 1, MPI_UINT64_T, left, i, i % 2 ? dup : MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(x == mix((uint64_t)(left * 100 + i)));
        add(x);
    }
    MPI_Probe(MPI_ANY_SOURCE, 77, dup, &st);
    CHECK(st.MPI_SOURCE == left);
    MPI_Recv(in, LONG, MPI_UINT64_T, MPI_ANY_SOURCE, 77, dup, &st);
    MPI_Wait(&req, MPI_STATUS_IGNORE);
    for (int i = 0; i < LONG; i++)
        CHECK(in[i] == mix((uint64_t)left * LONG + (uint64_t)i));
    add(in[LONG / 2]);
    MPI_Allreduce(&state.sum, &y, 1, MPI_UINT64_T, MPI_SUM, half);
    add(y);
}

/* Everybody tells rank 0, which takes them as they come. */
static void wildcards(void)
{
    uint64_t x = mix((uint64_t)me), order = 0;
    if (me != 0) {
        MPI_Send(&x, 1, MPI_UINT64_T, 0, 9, dup);
    } else {
        for (int i = 1; i < np; i++) {
            MPI_Status st;
            MPI_Recv(&x, 1, MPI_UINT64_T, MPI_ANY_SOURCE, 9, dup, &st);
            CHECK(x == mix((uint64_t)st.MPI_SOURCE));
            order = order * 16 + (uint64_t)st.MPI_SOURCE;
            MPI_Send(&order, 1, MPI_UINT64_T, st.MPI_SOURCE, 10, dup);
        }
    }
    if (me != 0)
        MPI_Recv(&order, 1, MPI_UINT64_T, 0, 10, dup, MPI_STATUS_IGNORE);
    MPI_Bcast(&order, 1, MPI_UINT64_T, 0,
              dup); /* whatever it was, all saw the same; it is not part of the result */
    uint64_t least, most;
    MPI_Allreduce(&order, &least, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&order, &most, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    CHECK(least == most && least == order);
}

static void body(void *arg)
{
    (void)arg;
    if (state.round == 0) {
        uint64_t late;
        MPI_Recv(&late, 1, MPI_UINT64_T, (me + 1) % np, 55, dup,
                 MPI_STATUS_IGNORE); /* sent in setup */
        add(late);
        state.round = 1;
    }
    for (; state.round < ROUNDS; state.round++) {
        FTRMA_Safepoint();
        uint64_t x;
        MPI_Allreduce(&state.sum, &x, 1, MPI_UINT64_T, MPI_SUM, dup);
        add(x);
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_split(dup, me % 2, -me, &half);
    out = room(LONG * sizeof *out);
    in = room(LONG * sizeof *in);
    for (int i = 0; i < LONG; i++)
        out[i] = mix((uint64_t)me * LONG + (uint64_t)i);
    unexpected();
    wildcards();
    MPI_Bcast(in, LONG, MPI_UINT64_T, np - 1, MPI_COMM_WORLD);
    add(in[7]);
    uint64_t late = mix((uint64_t)me + 5);
    MPI_Send(&late, 1, MPI_UINT64_T, (me + np - 1) % np, 55, dup);
    FTRMA_Protect(&state, sizeof state);
    CHECK(FTRMA_Run(body, NULL) == MPI_SUCCESS);
    return finish(state.sum);
}
