/* SPDX-License-Identifier: BSD-3-Clause
 *
 * input.c - rank 0 reads numbers from standard input, and all compute from them. What is read, and
 * where:
 *
 *   setup    all of it in setup
 *   early    the first number before MPI_Init, the rest in setup
 *   plain    all of it, without FTRMA_Run, a number a round
 *   body     the first 10 numbers in setup, a number a round in body; body-own: through a buffer of
 *            its own, as Fortran
 *   chat     a number at a time, each answered before the next comes, without FTRMA_Run
 *   never    nothing
 *
 * If a second argument names a file, rank 0 does not begin round 10 of body before it is there.
 */
#include <ftrma.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS 40
#define WAITS 10 /* the round that waits for the file */

static struct state {
    int round;
    long sum;
} s;
static int me, np;
static long count, total; /* what was read */
static const char *how, *file;

static int next(long *v)
{
    static char buffer[8192];
    static ssize_t have, at;
    if (strcmp(how, "body-own") != 0)
        return scanf("%ld", v) == 1;
    *v = 0;
    for (int digits = 0;; digits++) {
        if (at == have) {
            have = read(STDIN_FILENO, buffer, sizeof buffer);
            at = 0;
        }
        if (have <= 0 || buffer[at] == '\n')
            return at++, digits > 0;
        *v = 10 * *v + buffer[at++] - '0';
    }
}

static void chat(void)
{
    for (long v = 1; v;) {
        if (me == 0 && !next(&v))
            v = 0;
        MPI_Bcast(&v, 1, MPI_LONG, 0, MPI_COMM_WORLD);
        s.sum += v * (me + 1);
        if (me == 0 && v) {
            printf("heard %ld\n", v);
            fflush(stdout);
        }
    }
}

static void round_of(int reads)
{
    long v[2] = {0, 0};
    if (me == 0) {
        v[0] = total;
        if (reads && next(&v[1]))
            count++;
    }
    MPI_Bcast(v, 2, MPI_LONG, 0, MPI_COMM_WORLD);
    s.sum += v[0] % 1000 + v[1] * (me + 1);
}

static void body(void *arg)
{
    (void)arg;
    for (; s.round < ROUNDS; s.round++) {
        FTRMA_Safepoint();
        while (me == 0 && s.round == WAITS && file && access(file, F_OK) != 0)
            usleep(1000);
        round_of(strncmp(how, "body", 4) == 0);
    }
}

int main(int argc, char **argv)
{
    long v, sum;
    how = argc > 1 ? argv[1] : "setup";
    file = argc > 2 ? argv[2] : NULL;
    if (strcmp(how, "early") == 0 && next(&v))
        count = 1, total = v;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &np);
    if (strcmp(how, "chat") == 0) {
        chat();
    } else if (strcmp(how, "plain") == 0) {
        for (int i = 0; i < ROUNDS; i++)
            round_of(1);
    } else {
        int most = strncmp(how, "body", 4) == 0 ? 10 : strcmp(how, "never") == 0 ? 0 : 1 << 30;
        while (me == 0 && count < most && next(&v))
            count++, total += v;
        FTRMA_Protect(&s, sizeof s);
        FTRMA_Run(body, NULL);
    }
    MPI_Allreduce(&s.sum, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0)
        printf("total %ld sum %ld\n", total, sum);
    MPI_Finalize();
    return 0;
}
