/* SPDX-License-Identifier: BSD-3-Clause
 *
 * births.c - windows that are written to as soon as they are there, by who has heard of them while others still make them: nothing of it
 * is lost when a rank makes them again. An unmodified program.
 */
#include "local.h"

enum { WINDOWS = 24, WORDS = 16 };

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
    }
    return finish(sum);
}
