/* SPDX-License-Identifier: BSD-3-Clause
 *
 * log.c - what logging costs one-sided calls: rank 0 accesses rank 1's window in batches with a
 * safepoint between any two, so that checkpoints (ftrun --checkpoint every:K) trim the logs and
 * their memory is used again. The same binary runs logged, unlogged and without the library.
 *
 *   bench_log [REPEATS [BATCHES [CALL]]]     REPEATS: of the short calls in a batch; CALL: this one
 * alone, for a profile
 *
 * Beside each large put: memcpy of the same bytes to one place (the own part of the window), and to
 * places that were not written for a while (memcpy,far), as a log's are.
 */
#include <ftrma.h>

#include "bench.h"

#define LARGE ((size_t)16 << 20)
#define FAR ((size_t)64 << 20)
#define MOST 63
/* batches that do not count: with --checkpoint every:3 the third interval is the first one that
 * uses memory again */
#define WARM 7
#define CALLS 12

struct call {
    const char *name;
    void (*step)(void);
    size_t bytes;
    int far;
};

static MPI_Win win;
static char *buf, *own, *far_room; /* own: this process's part of the window */
static const struct call *now;
static size_t far_at;
static int repeats = 20000, batches = 21, first = 0, last = CALLS - 1;
static struct {
    int call, batch;
    double seconds[CALLS][MOST];
} st; /* protected */

static void put(void)
{
    MPI_Put(buf, (int)now->bytes, MPI_BYTE, 1, 64, (int)now->bytes, MPI_BYTE, win);
    MPI_Win_flush(1, win);
}

static void get(void)
{
    MPI_Get(buf, (int)now->bytes, MPI_BYTE, 1, 64, (int)now->bytes, MPI_BYTE, win);
    MPI_Win_flush(1, win);
}

static void fetch_add(void)
{
    long one = 1, old;
    MPI_Fetch_and_op(&one, &old, MPI_LONG, 1, 0, MPI_SUM, win);
    MPI_Win_flush(1, win);
}

static void copy(void)
{
    char *to = own + 64;
    if (now->far) {
        to = far_room + far_at;
        far_at = (far_at + now->bytes) % FAR;
    }
    memcpy(to, buf, now->bytes);
    __asm__ volatile("" ::: "memory"); /* no copy may be left out */
}

static const struct call calls[CALLS] = {
    {"put+flush", put, 8, 0},         {"fetch_and_op+flush", fetch_add, 8, 0},
    {"get+flush", get, 8, 0},         {"put+flush", put, 65536, 0},
    {"memcpy", copy, 65536, 0},       {"memcpy,far", copy, 65536, 1},
    {"put+flush", put, 1048576, 0},   {"memcpy", copy, 1048576, 0},
    {"memcpy,far", copy, 1048576, 1}, {"put+flush", put, LARGE, 0},
    {"memcpy", copy, LARGE, 0},       {"memcpy,far", copy, LARGE, 1},
};

/* As many of a call as make a batch: of the large ones, 32 MiB. */
static int often(size_t bytes) { return bytes == 8 ? repeats : (int)(2 * LARGE / bytes); }

static double batch(int n)
{
    double t0 = MPI_Wtime();
    for (int i = 0; i < n; i++)
        now->step();
    return (MPI_Wtime() - t0) / n;
}

static void body(void *arg)
{
    (void)arg;
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    for (st.call = st.call > first ? st.call : first; st.call <= last; st.call++, st.batch = 0) {
        now = &calls[st.call];
        for (; st.batch < WARM + batches; st.batch++) {
            MPI_Barrier(MPI_COMM_WORLD); /* checkpoints are over, but for their parity */
            FTRMA_Safepoint();
            double each = bench_rank == 0 ? batch(often(now->bytes)) : 0;
            if (st.batch >= WARM)
                st.seconds[st.call][st.batch - WARM] = each;
        }
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    bench_start(&argc, &argv, "log");
    repeats = argc > 1 ? atoi(argv[1]) : repeats;
    batches = argc > 2 ? atoi(argv[2]) : batches;
    if (argc > 3)
        first = last = atoi(argv[3]);
    if (repeats < 1 || batches < 1 || batches > MOST || first < 0 || last >= CALLS ||
        bench_size != 2) {
        fprintf(stderr,
                "usage: bench_log [REPEATS [BATCHES (1 to %d) [CALL (0 to %d)]]], 2 ranks\n", MOST,
                CALLS - 1);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    buf = bench_alloc(LARGE);
    far_room = bench_alloc(FAR);
    MPI_Win_allocate((MPI_Aint)(LARGE + 4096), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &win);
    memset(own, 0, LARGE + 4096);
    MPI_Barrier(MPI_COMM_WORLD);
    FTRMA_Unprotect(&now, sizeof now);
    FTRMA_Unprotect(&far_at, sizeof far_at);
    if (FTRMA_Protect(&st, sizeof st) != MPI_SUCCESS || FTRMA_Run(body, NULL) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = first; i <= last; i++)
        bench_figure(calls[i].name, calls[i].bytes, 1e6 * bench_median(st.seconds[i], batches),
                     "us");
    MPI_Win_free(&win);
    free(far_room);
    free(buf);
    MPI_Finalize();
    return 0;
}
