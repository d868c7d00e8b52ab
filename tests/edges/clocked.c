/* SPDX-License-Identifier: BSD-3-Clause
 *
 * clocked.c - a typical measurement: loops of messages that grow until they take long enough by
 * MPI_Wtime, in rings whose order rank 0 draws. It does not use ftrma.h.
 *
 *   edges_clocked [PATTERNS [SEED]]     SEED: a number (default 1), or "pid": every rank adds what
 * no two processes have in common, and all draw by themselves, as hpcc's PTRANS does with time()
 */
#include <unistd.h>

#include "../program.h"

#define LONG_ENOUGH 20e-6

static int patterns = 40, rounds, by_themselves;
static uint64_t seed = 1;

static void draw(int *ring)
{
    for (int i = 0; i < np; i++)
        ring[i] = i;
    for (int i = np - 1; i > 0; i--) {
        seed = mix(seed + 1);
        int j = (int)(seed % (uint64_t)(i + 1)), was = ring[i];
        ring[i] = ring[j];
        ring[j] = was;
    }
}

static void both_ways(int left, int right, int *to, int *from)
{
    MPI_Sendrecv(to, 1, MPI_INT, right, 1, from, 1, MPI_INT, left, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(to, 1, MPI_INT, left, 2, from, 1, MPI_INT, right, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

/* All do as many loops as the slowest one wants. */
static void measure(int left, int right)
{
    int wish = 1, loops, fits, all_fit, in = 0;
    do {
        MPI_Allreduce(&wish, &loops, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        double begin = MPI_Wtime();
        for (int i = 0; i < loops; i++)
            both_ways(left, right, &(int){i}, &in);
        CHECK(in == loops - 1);
        fits = MPI_Wtime() - begin >= LONG_ENOUGH;
        if (!fits)
            wish = loops == 1 ? 2 : loops + loops / 2;
        MPI_Allreduce(&fits, &all_fit, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        rounds += loops;
    } while (!all_fit && rounds < 100000);
}

int main(int argc, char **argv)
{
    uint64_t all, h = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &np);
    if (argc > 1)
        patterns = atoi(argv[1]);
    if (argc > 2) {
        by_themselves = strcmp(argv[2], "pid") == 0;
        seed = by_themselves ? (uint64_t)getpid() : strtoull(argv[2], NULL, 10);
    }
    MPI_Allreduce(&seed, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    seed = all;
    int *ring = room((size_t)np * sizeof *ring), mine;
    for (int i = 0; i < patterns; i++) {
        if (me == 0 || by_themselves)
            draw(ring);
        if (!by_themselves)
            MPI_Bcast(ring, np, MPI_INT, 0, MPI_COMM_WORLD);
        for (mine = 0; ring[mine] != me;)
            mine++;
        measure(ring[(mine + np - 1) % np], ring[(mine + 1) % np]);
        h = mix(h ^ (uint64_t)(mine + i));
    }
    free(ring);
    return finish(h);
}
