/* SPDX-License-Identifier: BSD-3-Clause
 *
 * stencil.c - heat on a plane, divided in two dimensions; halos by Isend, Irecv and Waitall,
 * columns by a strided datatype. With
 * --protect it calls FTRMA_Run, without it it is an unmodified program.
 */
#include "protect.h"

enum { N = 24, W = N + 2, TAG = 7 };

static struct {
    uint64_t round, sum;
    double u[W][W];
} state;
static MPI_Datatype column;
static int side[4]; /* up, down, left, right */

static void exchange(int tag)
{
    MPI_Request req[8];
    double *send[4] = {&state.u[1][1], &state.u[N][1], &state.u[1][1], &state.u[1][N]};
    double *recv[4] = {&state.u[0][1], &state.u[N + 1][1], &state.u[1][0], &state.u[1][N + 1]};
    for (int i = 0; i < 4; i++) {
        int count = i < 2 ? N : 1;
        MPI_Datatype type = i < 2 ? MPI_DOUBLE : column;
        MPI_Irecv(recv[i], count, type, side[i], tag + (i ^ 1), MPI_COMM_WORLD, &req[i]);
        MPI_Isend(send[i], count, type, side[i], tag + i, MPI_COMM_WORLD, &req[4 + i]);
    }
    MPI_Waitall(8, req, MPI_STATUSES_IGNORE);
}

static void relax(void)
{
    static double next[W][W];
    unprotect(next, sizeof next);
    for (int i = 1; i <= N; i++)
        for (int j = 1; j <= N; j++)
            next[i][j] = 0.2 * (state.u[i][j] + state.u[i - 1][j] + state.u[i + 1][j] +
                                state.u[i][j - 1] + state.u[i][j + 1]);
    for (int i = 1; i <= N; i++)
        memcpy(&state.u[i][1], &next[i][1], N * sizeof(double));
}

/* The hottest place is not hotter than before, and the sum over all goes into the next round. */
static void measure(void)
{
    double mine = 0, most = 0;
    for (int i = 1; i <= N; i++)
        for (int j = 1; j <= N; j++)
            mine = state.u[i][j] > mine ? state.u[i][j] : mine;
    MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    CHECK(most >= mine && most <= 1000.0);
    state.u[1 + state.round % N][most > 500 ? 3 : 5] += most / 1024;
    state.sum = mix_all(state.sum, &most, 1);
}

static void body(void *arg)
{
    (void)arg;
    for (; state.round < opt.rounds; state.round++) {
        safepoint();
        for (int i = 0; i < 4; i++) {
            exchange(TAG + 4 * i);
            relax();
        }
        measure();
    }
}

int main(int argc, char **argv)
{
    start(argc, argv, 14);
    opt.plain = !opt.protect;
    int rows = np % 2 ? 1 : 2, cols = np / rows, y = me / cols, x = me % cols;
    side[0] = y > 0 ? me - cols : MPI_PROC_NULL;
    side[1] = y + 1 < rows ? me + cols : MPI_PROC_NULL;
    side[2] = x > 0 ? me - 1 : MPI_PROC_NULL;
    side[3] = x + 1 < cols ? me + 1 : MPI_PROC_NULL;
    MPI_Type_vector(N, 1, W, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    for (int i = 1; i <= N; i++)
        for (int j = 1; j <= N; j++)
            state.u[i][j] = (double)(mix((uint64_t)(me * N * N + i * N + j)) % 900);
    protect(&state, sizeof state);
    run(body, NULL);
    MPI_Type_free(&column);
    return finish(mix_all(state.sum, state.u, W * W));
}
