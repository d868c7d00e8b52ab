/* SPDX-License-Identifier: BSD-3-Clause
 *
 * together.c - ranks of one node share a communicator, which setup makes, and a window over it.
 * Each step is a reduction there, one over all, and puts and sums into the window of the next rank
 * of either kind. The result says who was together with whom, so the same number of nodes gives the
 * same result, whoever is lost.
 *
 *   together STEPS
 */
#include <ftrma.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static MPI_Comm here;
static MPI_Win all, ours;
static uint64_t *mine_of_all, *mine_of_ours, sum;
static int me, np, me_here, np_here, step, steps;

static void mix(uint64_t v) { sum = (sum ^ v) * 0x9e3779b97f4a7c15ull + (uint64_t)step; }

static void exchange(MPI_Win win, uint64_t *mine, int to)
{
    uint64_t out = sum ^ (uint64_t)me, old, one = 1;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, win);
    MPI_Put(&out, 1, MPI_UINT64_T, to, 1, 1, MPI_UINT64_T, win);
    MPI_Fetch_and_op(&one, &old, MPI_UINT64_T, to, 0, MPI_SUM, win);
    MPI_Win_unlock(to, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win);
    MPI_Get(&old, 1, MPI_UINT64_T, to, 1, 1, MPI_UINT64_T, win);
    MPI_Win_unlock(to, win);
    MPI_Barrier(MPI_COMM_WORLD);
    mix(old);
    mix(mine[0]);
    mix(mine[1]);
}

static void body(void *arg)
{
    (void)arg;
    for (; step < steps; step++) {
        FTRMA_Safepoint();
        uint64_t in[2] = {sum, sum}, out[2];
        MPI_Allreduce(&in[0], &out[0], 1, MPI_UINT64_T, MPI_BXOR, here);
        MPI_Allreduce(&in[1], &out[1], 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        mix(out[0]);
        mix(out[1]);
        exchange(all, mine_of_all, (me + 1) % np);
        exchange(ours, mine_of_ours, (me_here + 1) % np_here);
    }
}

/* Each rank gets two numbers, in an order that only its log has. */
static void hear(void)
{
    int in, out = me;
    for (int i = 0; i < 2; i++)
        MPI_Send(&out, 1, MPI_INT, (me + 1 + i) % np, 1, MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++) {
        MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sum += (uint64_t)in * 1000; /* in any order the same */
    }
}

int main(int argc, char **argv)
{
    uint64_t result;
    MPI_Init(&argc, &argv);
    steps = argc > 1 ? atoi(argv[1]) : 100;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &np);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    MPI_Comm_rank(here, &me_here);
    MPI_Comm_size(here, &np_here);
    MPI_Win_allocate(2 * sizeof *mine_of_all, sizeof *mine_of_all, MPI_INFO_NULL, MPI_COMM_WORLD,
                     &mine_of_all, &all);
    MPI_Win_allocate(2 * sizeof *mine_of_ours, sizeof *mine_of_ours, MPI_INFO_NULL, here,
                     &mine_of_ours, &ours);
    mine_of_all[0] = mine_of_all[1] = mine_of_ours[0] = mine_of_ours[1] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    sum = (uint64_t)(me * 100 + me_here * 10 + np_here);
    hear();
    FTRMA_Protect(&sum, sizeof sum);
    FTRMA_Protect(&step, sizeof step);
    FTRMA_Run(body, NULL);
    MPI_Reduce(&sum, &result, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (me == 0)
        printf("result: %016llx\n", (unsigned long long)result);
    MPI_Win_free(&ours);
    MPI_Win_free(&all);
    MPI_Comm_free(&here);
    MPI_Finalize();
    return 0;
}
