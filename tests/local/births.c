/* SPDX-License-Identifier: BSD-3-Clause
 *
 * births.c - windows that are written to as soon as they exist, by ranks that have heard of them
 * while others still make them: nothing is lost when a rank makes them again. And small pieces of
 * the heap that are attached to a dynamic window: others know them by their addresses. An
 * unmodified program.
 */
#include "local.h"

enum { WINDOWS = 24, WORDS = 16 };

static uint64_t pieces(uint64_t round)
{
    enum { PIECES = 24 };
    MPI_Win win;
    char *piece[PIECES];
    MPI_Aint mine[PIECES], *all = room(sizeof mine * (size_t)np);
    uint64_t sum = 0;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int i = 0; i < PIECES; i++) {
        piece[i] = room(8 + (size_t)i * 8);
        MPI_Win_attach(win, piece[i], 8);
        MPI_Get_address(piece[i], &mine[i]);
    }
    MPI_Allgather(mine, PIECES, MPI_AINT, all, PIECES, MPI_AINT, MPI_COMM_WORLD);
    int to = (me + 1) % np, from = (me + np - 1) % np;
    MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win);
    for (int i = 0; i < PIECES; i++) {
        uint64_t x = mix(round * PIECES + (uint64_t)i) + (uint64_t)me;
        MPI_Put(&x, 1, MPI_UINT64_T, to, all[to * PIECES + i], 1, MPI_UINT64_T, win);
    }
    MPI_Win_unlock(to, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win);
    for (int i = 0; i < PIECES; i++) {
        uint64_t x;
        memcpy(&x, piece[i], 8);
        CHECK(x == mix(round * PIECES + (uint64_t)i) + (uint64_t)from);
        sum = mix(sum ^ x);
    }
    MPI_Win_unlock(me, win);
    for (int i = 0; i < PIECES; i++) {
        MPI_Win_detach(win, piece[i]);
        free(piece[i]);
    }
    MPI_Win_free(&win);
    free(all);
    return sum;
}

int main(int argc, char **argv)
{
    MPI_Win win[WINDOWS];
    uint64_t *mem[WINDOWS], sum = 0;
    start(argc, argv, 3);
    for (uint64_t round = 0; round < opt.rounds; round++) {
        for (int k = 0; k < WINDOWS; k++) {
            if (opt.create) {
                mem[k] = room(WORDS * 8);
                MPI_Win_create(mem[k], WORDS * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win[k]);
            } else {
                MPI_Win_allocate(WORDS * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &mem[k], &win[k]);
            }
            uint64_t x = mix(round * WINDOWS + (uint64_t)k) + (uint64_t)me;
            for (int t = 1; t < np; t++) {
                int to = (me + t) % np;
                MPI_Win_lock(t % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, to, 0, win[k]);
                MPI_Put(&x, 1, MPI_UINT64_T, to, me, 1, MPI_UINT64_T, win[k]);
                MPI_Win_unlock(to, win[k]);
            }
        }
        MPI_Barrier(MPI_COMM_WORLD);
        for (int k = 0; k < WINDOWS; k++) {
            MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win[k]);
            for (int r = 0; r < np; r++)
                CHECK(r == me || mem[k][r] == mix(round * WINDOWS + (uint64_t)k) + (uint64_t)r);
            sum = mix(sum ^ mem[k][(me + 1) % np]);
            MPI_Win_unlock(me, win[k]);
        }
        for (int k = 0; k < WINDOWS; k++) {
            MPI_Win_free(&win[k]);
            if (opt.create)
                free(mem[k]);
        }
        sum ^= pieces(round);
    }
    return finish(sum);
}
