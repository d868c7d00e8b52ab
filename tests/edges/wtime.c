/* SPDX-License-Identifier: BSD-3-Clause
 *
 * wtime.c - MPI_Wtime is one clock for all processes, and for all carriers of a rank: a process
 * that has received a message with a time reads no earlier one, and no process's clock goes back.
 * `plain` has no FTRMA_Run, `run` has one. If a rank's clock began at 0 in a replacement, its first
 * message would show it, and the last time in its image.
 *
 *   wtime plain|run [hosts]
 *
 * hosts: the job is on several hosts, whose clocks agree less well, and MPI_WTIME_IS_GLOBAL is 0.
 */
#include <ftrma.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define ROUNDS 60
#define APART 1.0 /* seconds: a time from another host is no further ahead */

static struct state {
    int round;
    double last; /* time that was read */
    long sum;
} s;
static int me, np;
static double ahead; /* by this much a time that comes may be */

static double read_clock(void)
{
    double now = MPI_Wtime();
    if (now < s.last) {
        printf("rank %d: the clock went back from %.9f to %.9f in round %d\n", me, s.last, now,
               s.round);
        fflush(stdout);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return s.last = now;
}

static void exchange(void)
{
    double mine = read_clock(), theirs;
    int right = (me + 1) % np, left = (me + np - 1) % np;
    MPI_Sendrecv(&mine, 1, MPI_DOUBLE, right, 0, &theirs, 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    if (read_clock() + ahead < theirs) {
        printf("rank %d: %.9f came from rank %d when it was %.9f here\n", me, theirs, left, s.last);
        fflush(stdout);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    s.sum += (s.round + 1) * (me + 1);
}

static void body(void *arg)
{
    (void)arg;
    for (; s.round < ROUNDS; s.round++) {
        FTRMA_Safepoint();
        exchange();
    }
}

int main(int argc, char **argv)
{
    int *global, flag, hosts = argc > 2 && strcmp(argv[2], "hosts") == 0;
    double before = MPI_Wtime();
    MPI_Init(&argc, &argv);
    s.last = before;
    ahead = hosts ? APART : 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &np);
    read_clock();
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &global, &flag);
    if (!flag || *global != !hosts || !(MPI_Wtick() > 0 && MPI_Wtick() <= 1e-6)) {
        printf("rank %d: MPI_WTIME_IS_GLOBAL is %d, a tick %g\n", me, flag ? *global : -1,
               MPI_Wtick());
        fflush(stdout);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    exchange();
    if (argc > 1 && strcmp(argv[1], "run") == 0) {
        FTRMA_Protect(&s, sizeof s);
        FTRMA_Run(body, NULL);
    } else {
        body(NULL);
    }
    exchange();
    MPI_Allreduce(MPI_IN_PLACE, &s.sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0)
        printf("sum %ld\n", s.sum);
    MPI_Finalize();
    return MPI_Wtime() < s.last;
}
