/* SPDX-License-Identifier: BSD-3-Clause
 *
 * slow_setup.c SECONDS - rank 0 computes for long in setup, while the others wait for what it sends
 * then. A replacement of one that repeats setup waits for a replacement of rank 0 as long.
 */
#include <ftrma.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static struct {
    int step;
    long sum;
} s;

static void body(void *arg)
{
    (void)arg;
    for (; s.step < 5; s.step++) {
        FTRMA_Safepoint();
        long all, mine = s.sum + s.step;
        MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        s.sum = all % 1000003;
    }
}

int main(int argc, char **argv)
{
    int me;
    long first = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 0); me == 0 && time(NULL) < end;)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    if (me == 0)
        first = 7;
    MPI_Bcast(&first, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    s.sum = first + me;
    FTRMA_Protect(&s, sizeof s);
    FTRMA_Run(body, NULL);
    if (me == 0)
        printf("sum %ld\n", s.sum);
    MPI_Finalize();
    return 0;
}
