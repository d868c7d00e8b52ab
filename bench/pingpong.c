/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pingpong.c - two-sided and collective calls: ping-pong (one way and back) between ranks 0 and 1,
 * barrier, allreduce.
 *
 *   bench_pingpong [body|setup [REPEATS]]     REPEATS: calls in a batch for the shortest messages
 *
 * In `body`, everything happens inside FTRMA_Run, where a program spends its life. In `setup`, as
 * in a program that does not know of the library, logs are kept for replay until they reach their
 * limit.
 */
#include <ftrma.h>

#include "bench.h"

struct message {
    char *buf;
    int bytes;
};

static void ping_pong(void *arg)
{
    struct message *m = arg;
    int peer = 1 - bench_rank;
    if (bench_rank == 0) {
        MPI_Send(m->buf, m->bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
        MPI_Recv(m->buf, m->bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(m->buf, m->bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(m->buf, m->bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
    }
}

static void barrier(void *arg)
{
    (void)arg;
    MPI_Barrier(MPI_COMM_WORLD);
}

struct vector {
    double *in, *out;
    int count;
};

static void allreduce(void *arg)
{
    struct vector *v = arg;
    MPI_Allreduce(v->in, v->out, v->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* How often in a batch: long messages and crowded cores less. */
static int often(int repeats, size_t bytes)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN), n = repeats;
    n = n * 4096 / (long)(4096 + bytes);
    n = bench_size > cores ? n / 10 : n;
    return n < 20 ? 20 : (int)n;
}

static void measure(void *arg)
{
    static const int sizes[] = {8, 64, 1024, 8192, 65536, 262144, 1048576};
    static const int counts[] = {1, 128, 16384};
    int repeats = *(int *)arg;

    for (size_t i = 0; bench_size == 2 && i < sizeof sizes / sizeof sizes[0]; i++) {
        struct message m = {bench_alloc((size_t)sizes[i]), sizes[i]};
        double t = bench_time(ping_pong, &m, often(repeats, (size_t)sizes[i]));
        bench_figure("pingpong", (size_t)sizes[i], 1e6 * t, "us");
        free(m.buf);
    }
    bench_figure("barrier", 0, 1e6 * bench_time(barrier, NULL, often(repeats, 0)), "us");
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        size_t bytes = (size_t)counts[i] * sizeof(double);
        struct vector v = {bench_alloc(bytes), bench_alloc(bytes), counts[i]};
        double t = bench_time(allreduce, &v, often(repeats, bytes));
        bench_figure("allreduce", bytes, 1e6 * t, "us");
        free(v.in);
        free(v.out);
    }
}

int main(int argc, char **argv)
{
    bench_start(&argc, &argv, "pingpong");
    int outside = argc > 1 && strcmp(argv[1], "setup") == 0,
        repeats = argc > 2 ? atoi(argv[2]) : 5000;
    if (outside)
        measure(&repeats);
    else if (FTRMA_Run(measure, &repeats) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Finalize();
    return 0;
}
