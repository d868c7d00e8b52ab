/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rounding.c - body sets another rounding mode and blocks a signal around a call of MPI. A rank that
 * is taken back out of that call begins body without them, as its replacement would.
 */
#include <fenv.h>
#include <ftrma.h>
#include <inttypes.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define STEPS 24

static struct state {
    int step;
    double x;
} s;
static int me, np, bad;

static void block(int how)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigprocmask(how, &set, NULL);
}

static void body(void *arg)
{
    sigset_t now;
    (void)arg;
    sigprocmask(SIG_SETMASK, NULL, &now);
    if (fegetround() != FE_TONEAREST || sigismember(&now, SIGUSR2))
        bad = 1;
    for (; s.step < STEPS; s.step++) {
        double high, sum;
        FTRMA_Safepoint();
        for (int i = 0; i < 100; i++)
            s.x = s.x / 3.0 + 1.0;
        fesetround(FE_UPWARD);
        block(SIG_BLOCK);
        high = s.x / 7.0;
        MPI_Allreduce(&high, &sum, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        block(SIG_UNBLOCK);
        fesetround(FE_TONEAREST);
        s.x += sum / 11.0;
    }
}

int main(int argc, char **argv)
{
    double each[16];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &np);
    s.x = 0.1 * (me + 1);
    FTRMA_Protect(&s, sizeof s);
    FTRMA_Run(body, NULL);
    MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Gather(&s.x, 1, MPI_DOUBLE, each, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int r = 0; me == 0 && r < np; r++) {
        uint64_t bits;
        memcpy(&bits, &each[r], sizeof bits);
        printf("rank %d: %016" PRIx64 "\n", r, bits);
    }
    if (me == 0 && bad)
        printf("body began in another mode\n");
    MPI_Finalize();
    return bad;
}
