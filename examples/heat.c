/* heat.c - a rod that is held at 1 at one end cools at the other; neighbours put their edges into
 * each other's window. */
#include <ftrma.h>
#include <mpi.h>
#include <stdio.h>

#define CELLS 100 /* of each rank */

static double u[CELLS + 2]; /* u[0] and u[CELLS + 1] belong to the neighbours */
static int step, rank, size;
static MPI_Win halo;
static double *in; /* in[0] from the left, in[1] from the right */

static void work(void *arg)
{
    (void)arg;
    for (; step < 2000; step++) {
        FTRMA_Safepoint();
        int left = rank ? rank - 1 : MPI_PROC_NULL,
            right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
        MPI_Win_fence(0, halo);
        MPI_Put(&u[1], 1, MPI_DOUBLE, left, 1, 1, MPI_DOUBLE, halo);
        MPI_Put(&u[CELLS], 1, MPI_DOUBLE, right, 0, 1, MPI_DOUBLE, halo);
        MPI_Win_fence(0, halo);
        u[0] = rank ? in[0] : 1;
        u[CELLS + 1] = rank + 1 < size ? in[1] : 0;
        double before = u[0];
        for (int i = 1; i <= CELLS; i++) {
            double here = u[i];
            u[i] += 0.25 * (before - 2 * here + u[i + 1]);
            before = here;
        }
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate(2 * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &in, &halo);
    FTRMA_Protect(u, sizeof u);
    FTRMA_Protect(&step, sizeof step);
    FTRMA_Run(work, NULL);
    double mine = 0, sum = 0;
    for (int i = 1; i <= CELLS; i++)
        mine += u[i];
    MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("result: %.15f after %d steps\n", sum, step);
    MPI_Win_free(&halo);
    MPI_Finalize();
    return 0;
}
