/* SPDX-License-Identifier: BSD-3-Clause
 *
 * layouts.c - puts, gets and accumulates between derived datatypes that differ on both sides, made
 * and freed in each round: many logged accesses for one call, any of which can be the last before a
 * death. What a round moves follows from the one before.
 */
#include "protect.h"

enum { ROWS = 8, COLS = 10, AREA = ROWS * COLS, PATCH = 4 * 3 };

static struct {
    uint64_t round, sum;
} state;
static uint64_t
    *mem; /* a matrix that the left neighbour writes to, one that is read, one that all add to */
static uint64_t out[2 * AREA], in[2 * AREA];
static MPI_Win win;
static MPI_Datatype patch, comb, pieces, spread;

static void make_types(uint64_t r)
{
    int sizes[2] = {ROWS, COLS}, subs[2] = {4, 3}, starts[2] = {(int)(r % 5), (int)(r % 8)};
    int lens[4] = {5, 1, 2, 4}, disps[4] = {20, 3, 30, (int)(40 + r % 7)};
    MPI_Datatype row;

    MPI_Type_create_subarray(2, sizes, subs, starts, r % 2 ? MPI_ORDER_C : MPI_ORDER_FORTRAN,
                             MPI_UINT64_T, &patch);
    MPI_Type_vector(PATCH, 1, 2, MPI_UINT64_T, &comb);
    MPI_Type_indexed(4, lens, disps, MPI_UINT64_T, &pieces);
    MPI_Type_contiguous(2, MPI_UINT64_T, &row);
    MPI_Type_create_hvector(PATCH / 2, 1, 24, row, &spread);
    MPI_Type_free(&row);
    MPI_Type_commit(&patch);
    MPI_Type_commit(&comb);
    MPI_Type_commit(&pieces);
    MPI_Type_commit(&spread);
}

static void free_types(void)
{
    MPI_Type_free(&patch);
    MPI_Type_free(&comb);
    MPI_Type_free(&pieces);
    MPI_Type_free(&spread);
}

static void finish_accesses(uint64_t r)
{
    if (r % 3 == 2)
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    else
        MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void start_accesses(uint64_t r)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (r % 3 == 2)
        MPI_Win_fence(0, win);
    else
        MPI_Win_lock_all(0, win);
}

static void round_of(uint64_t r)
{
    int right = (me + 1) % np, other = (me + 2) % np;

    make_types(r);
    for (int i = 0; i < 2 * AREA; i++)
        out[i] = mix(state.sum + (uint64_t)i);
    for (int i = 0; i < AREA; i++)
        mem[AREA + i] = mix(state.sum ^ (uint64_t)i);
    start_accesses(r);
    MPI_Put(out, 1, comb, right, 0, 1, patch, win);
    MPI_Put(out + 30, 1, patch, right, 0, PATCH, MPI_UINT64_T,
            win); /* where the patch is not; later where it is */
    MPI_Get(in, 1, comb, other, AREA, 1, pieces, win);
    MPI_Get(in + AREA, 1, spread, right, AREA, 1, patch, win);
    for (int t = 0; t < np; t++)
        MPI_Accumulate(out, 1, spread, t, 2 * AREA, 1, r % 2 ? comb : pieces, MPI_SUM, win);
    finish_accesses(r);
    free_types();
    state.sum = mix_all(state.sum, mem, 3 * AREA);
    state.sum = mix_all(state.sum, in, 2 * AREA);
}

static void body(void *arg)
{
    (void)arg;
    for (; state.round < opt.rounds; state.round++) {
        safepoint();
        round_of(state.round);
    }
}

int main(int argc, char **argv)
{
    start(argc, argv, 8);
    mem = window(3 * AREA, MPI_COMM_WORLD, &win);
    state.sum = mix((uint64_t)me + 1);
    protect(&state, sizeof state);
    protect(in, sizeof in);
    unprotect(out, sizeof out);
    MPI_Datatype *types[] = {&patch, &comb, &pieces, &spread}; /* each round makes them */
    for (int i = 0; i < 4; i++)
        unprotect(types[i], sizeof *types[i]);
    run(body, NULL);
    uint64_t hash = mix_all(state.sum, mem, 3 * AREA);
    window_free(mem, &win);
    return finish(hash);
}
