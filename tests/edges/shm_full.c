/* SPDX-License-Identifier: BSD-3-Clause
 *
 * shm_full.c - a program that needs shared memory of each kind: windows, protected memory, messages
 * of all lengths, puts.
 *
 *   edges_shm_full [ROUNDS [MiB of the window]]      prints "sum N" on rank 0, the same for the
 * same arguments
 */
#include <ftrma.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 65536

static int rank, n, rounds = 24;
static size_t words;
static uint64_t *mine, *window, *in, *out;
static MPI_Win win;
static int round_no; /* protected */

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9E3779B97F4A7C15ull;
    return h ^ h >> 31;
}

/* One block to each other rank, of a length that changes with the round. */
static void exchange(void)
{
    MPI_Request req[2];
    for (int d = 1; d < n; d++) {
        int to = (rank + d) % n, from = (rank + n - d) % n,
            len = 1 + (round_no * 7919 + d * 104729) % BLOCK;
        for (int i = 0; i < len; i++)
            out[i] = mix((uint64_t)(rank + round_no), (uint64_t)i);
        MPI_Irecv(in, len, MPI_UINT64_T, from, d, MPI_COMM_WORLD, &req[0]);
        MPI_Isend(out, len, MPI_UINT64_T, to, d, MPI_COMM_WORLD, &req[1]);
        MPI_Waitall(2, req, MPI_STATUSES_IGNORE);
        for (int i = 0; i < len; i++)
            mine[((size_t)i * 31 + (size_t)d) % words] += mix(in[i], (uint64_t)d);
    }
}

static void puts_to_next(void)
{
    size_t half = words / 2;
    MPI_Win_fence(0, win);
    for (size_t at = 0; at < half; at += BLOCK) {
        int len = (int)(half - at < BLOCK ? half - at : BLOCK);
        MPI_Put(mine + at, len, MPI_UINT64_T, (rank + 1) % n,
                (MPI_Aint)(round_no % 2 * (int)half + (int)at), len, MPI_UINT64_T, win);
    }
    MPI_Win_fence(0, win);
    for (size_t i = 0; i < words; i += 64)
        mine[i] += window[i];
}

static void body(void *unused)
{
    (void)unused;
    while (round_no < rounds) {
        FTRMA_Safepoint();
        exchange();
        puts_to_next();
        round_no++;
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    rounds = argc > 1 ? atoi(argv[1]) : rounds;
    words = (size_t)(argc > 2 ? atoi(argv[2]) : 2) << 17;
    mine = malloc(words * sizeof *mine);
    in = malloc(BLOCK * sizeof *in);
    out = malloc(BLOCK * sizeof *out);
    MPI_Win_allocate((MPI_Aint)(words * sizeof *window), sizeof *window, MPI_INFO_NULL,
                     MPI_COMM_WORLD, &window, &win);
    for (size_t i = 0; i < words; i++)
        mine[i] = window[i] = mix((uint64_t)rank, i);
    FTRMA_Protect(mine, words * sizeof *mine);
    FTRMA_Protect(&round_no, sizeof round_no);
    MPI_Barrier(MPI_COMM_WORLD);
    int st = FTRMA_Run(body, NULL);
    if (st != MPI_SUCCESS) {
        if (rank == 0)
            printf("refused: %d\n", st);
        MPI_Win_free(&win);
        MPI_Finalize();
        return 3;
    }
    uint64_t sum = 0, all = 0;
    for (size_t i = 0; i < words; i++)
        sum = mix(sum, mine[i] ^ window[i]);
    MPI_Reduce(&sum, &all, 1, MPI_UINT64_T, MPI_BXOR, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("sum %llu\n", (unsigned long long)all);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
