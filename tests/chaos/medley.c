/* SPDX-License-Identifier: BSD-3-Clause
 *
 * medley.c - some of everything in each round: communicators, long and short messages, collectives
 * (some nonblocking), puts, gets, atomics, locks, fences, post and start, memory attached and
 * detached. Every number depends on those before it, so a lost or doubled access changes the
 * result.
 */
#include "ftrma.h"

#include <inttypes.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 6, LONG = 6000, CELLS = 64, MIDDLE = 3000 };

static struct {
    uint64_t round, sum;
} state;
static MPI_Comm half;
static MPI_Win win, fenced, dynamic;
static uint64_t *cells, *open_cells, *loose;
static MPI_Group left_one, right_one;
static int me, np;

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 31)) * UINT64_C(0x7fb5d329728ea185);
    return (x ^ (x >> 27)) * UINT64_C(0x81dadef4bc2dd44d);
}

static void add(uint64_t x) { state.sum = mix(state.sum ^ mix(x + 1)); }

/* To the right, and from anybody (who can only be the left). */
static void messages(uint64_t r)
{
    uint64_t out[LONG], in[LONG];
    uint64_t before = state.sum, total = 0, most = 0, sum = 0,
             told = me == (int)r % np ? state.sum : 0;
    MPI_Request req[4];
    for (int i = 0; i < LONG; i++)
        out[i] = mix(r * LONG + (uint64_t)i + state.sum);
    MPI_Irecv(in, LONG, MPI_UINT64_T, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &req[0]);
    MPI_Isend(out, LONG, MPI_UINT64_T, (me + 1) % np, 5, MPI_COMM_WORLD, &req[1]);
    MPI_Iallreduce(&before, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD, &req[2]);
    MPI_Ibcast(&told, 1, MPI_UINT64_T, (int)r % np, MPI_COMM_WORLD, &req[3]);
    MPI_Waitall(4, req, MPI_STATUSES_IGNORE);
    add(sum ^ told);
    for (int i = 0; i < LONG; i += 97)
        add(in[i]);
    MPI_Irecv(in, 1, MPI_UINT64_T, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &req[0]);
    MPI_Ssend(out, 1, MPI_UINT64_T, (me + 1) % np, 6, MPI_COMM_WORLD);
    MPI_Wait(&req[0], MPI_STATUS_IGNORE);
    add(in[0]);
    MPI_Allreduce(&state.sum, &total, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&state.sum, &most, 1, MPI_UINT64_T, MPI_MAX, half);
    add(total ^ most);
}

static void atomics(uint64_t r)
{
    uint64_t one = 1, was, got[4];
    int to = (me + 1) % np;
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 5; i++)
        MPI_Fetch_and_op(&one, &was, MPI_UINT64_T, (to + i) % np, 0, MPI_SUM, win);
    MPI_Accumulate(&state.sum, 1, MPI_UINT64_T, to, 1, 1, MPI_UINT64_T, MPI_BXOR, win);
    MPI_Compare_and_swap(&state.sum, &r, &was, MPI_UINT64_T, to, 2 + (MPI_Aint)r, win);
    MPI_Win_flush(to, win);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win);
    MPI_Get(got, 4, MPI_UINT64_T, to, 0, 4, MPI_UINT64_T, win);
    MPI_Win_unlock(to, win);
    for (int i = 0; i < 4; i++)
        add(got[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win); /* a counter that is read, then written */
    MPI_Get(got, 1, MPI_UINT64_T, 0, CELLS - 1, 1, MPI_UINT64_T, win);
    MPI_Win_flush(0, win);
    got[0]++;
    MPI_Put(got, 1, MPI_UINT64_T, 0, CELLS - 1, 1, MPI_UINT64_T, win);
    MPI_Win_unlock(0, win);
}

static void fences(void)
{
    uint64_t data[MIDDLE];
    for (int i = 0; i < MIDDLE; i++)
        data[i] = mix(state.sum + (uint64_t)i);
    MPI_Win_fence(0, fenced);
    MPI_Put(data, MIDDLE, MPI_UINT64_T, (me + np - 1) % np, 0, MIDDLE, MPI_UINT64_T, fenced);
    MPI_Win_fence(0, fenced);
    for (int i = 0; i < MIDDLE; i += 113)
        add(open_cells[i]);
}

/* To the right, which has posted; its memory is attached for as long as it takes. */
static void epochs(void)
{
    MPI_Aint at, there;
    uint64_t data[2] = {mix(state.sum), state.round};
    int right = (me + 1) % np, left = (me + np - 1) % np;
    MPI_Win_post(left_one, 0, fenced);
    MPI_Win_start(right_one, 0, fenced);
    MPI_Put(data, 2, MPI_UINT64_T, right, 1, 2, MPI_UINT64_T, fenced);
    MPI_Win_complete(fenced);
    MPI_Win_wait(fenced);
    add(open_cells[1] + open_cells[2]);
    MPI_Win_attach(dynamic, loose, 80);
    MPI_Get_address(loose + state.round, &at);
    MPI_Sendrecv(&at, 1, MPI_AINT, left, 2, &there, 1, MPI_AINT, right, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Win_fence(0, dynamic);
    MPI_Put(data, 1, MPI_UINT64_T, right, there, 1, MPI_UINT64_T, dynamic);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, dynamic);
    add(loose[state.round]);
    MPI_Win_detach(dynamic, loose);
}

static void body(void *arg)
{
    (void)arg;
    for (; state.round < ROUNDS; state.round++) {
        FTRMA_Safepoint();
        messages(state.round);
        atomics(state.round);
        fences();
        epochs();
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &np);
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &half);
    MPI_Win_allocate(CELLS * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &win);
    open_cells = malloc(MIDDLE * sizeof *open_cells);
    if (!open_cells)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Win_create(open_cells, MIDDLE * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &fenced);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
    loose = calloc(10, sizeof *loose);
    if (!loose)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Group world;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, (int[]){(me + 1) % np}, &right_one);
    MPI_Group_incl(world, 1, (int[]){(me + np - 1) % np}, &left_one);
    MPI_Group_free(&world);
    for (int i = 0; i < CELLS; i++)
        cells[i] = 0;
    for (int i = 0; i < MIDDLE; i++)
        open_cells[i] = 0;
    uint64_t big[LONG], first = 42 + (uint64_t)me;
    for (int i = 0; i < LONG; i++)
        big[i] = me == 1 % np ? mix((uint64_t)i) : 0;
    MPI_Bcast(big, LONG, MPI_UINT64_T, 1 % np, MPI_COMM_WORLD);
    MPI_Sendrecv_replace(&first, 1, MPI_UINT64_T, (me + 1) % np, 1, (me + np - 1) % np, 1,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    add(big[LONG - 1] ^ first);

    FTRMA_Protect(&state, sizeof state);
    FTRMA_Run(body, NULL);

    uint64_t counted = cells[0], all[2], mine[2] = {state.sum, counted};
    MPI_Allreduce(mine, all, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) {
        printf("result: %016" PRIx64 "\n", all[0]);
        int good = all[1] == (uint64_t)np * ROUNDS * 5 && cells[CELLS - 1] == (uint64_t)np * ROUNDS;
        printf("Verification: %s\n", good ? "SUCCESSFUL" : "FAILED");
    }
    MPI_Win_free(&dynamic);
    MPI_Win_free(&fenced);
    MPI_Group_free(&left_one);
    MPI_Group_free(&right_one);
    MPI_Win_free(&win);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
