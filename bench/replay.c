/* SPDX-License-Identifier: BSD-3-Clause
 *
 * replay.c - how long a killed rank takes to come to the place where it was killed, and what those
 * notice of it that do not need it.
 *
 *   bench_replay CLOCKS [ROUNDS [WORK]]
 *
 * The lower half of the ranks works in a ring: computes, puts, fetches and adds, gets, and sends a
 * message on in each round. The upper half's ranks put into each other's windows in pairs (or their
 * own, if they are alone) and are never waited for. A safepoint a round. WORK: thousands of steps
 * of computing in a round.
 *
 * CLOCKS is a file in which each rank writes when it passed each safepoint, the first time and the
 * last: it outlives the process. The clock is the system's, since MPI_Wtime's answers are logged,
 * and repeated. At the end rank 0 prints from it, with VICTIM and HIT from BENCH_VICTIM and
 * BENCH_HIT, the safepoint at which that rank was killed, and BENCH_FROM, the safepoint of the
 * checkpoint that it began from (whose version is 1 + FROM / K with --checkpoint every:K): original
 * from FROM to HIT, the first time again      the same of the replacement away       from the kill
 * until the replacement came to the same place round+meanwhile, round+otherwise   the mean of a
 * work portion of the upper half, in that time and in the rest
 */
#include <ftrma.h>

#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>

#include "bench.h"

#define SAFEPOINTS 1024
#define PORTIONS 16 /* of a round, timed one by one */
#define BLOCK 8192  /* bytes of a put */
#define ATOMICS 200
#define RANKS 16

struct clocks {
    /* of safepoint i: reached the first time, left the first time; and the same of whoever came
     * there again, the last time. 0: never */
    double reached[SAFEPOINTS], left[SAFEPOINTS], again_reached[SAFEPOINTS], again_left[SAFEPOINTS];
    struct portion {
        double begin, seconds;
    } portion[SAFEPOINTS * PORTIONS];
};

static struct clocks *clocks, *mine; /* clocks: [bench_size] */
static MPI_Win win;
static char block[BLOCK];
static int rounds = 90, work = 2000;
static struct {
    int round;
    uint64_t sum;
} st; /* protected */

static void note(double *first, double *again) { *(*first == 0 ? first : again) = bench_now(); }

static void compute(int thousands)
{
    uint64_t x = st.sum | 1;
    for (long i = 0; i < 1000L * thousands; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    st.sum += x;
    __asm__ volatile("" ::"r"(x));
}

static void ring(int half)
{
    int right = (bench_rank + 1) % half, left = (bench_rank + half - 1) % half;
    uint64_t one = 1, old, got[128], token = st.sum;
    compute(work);
    memset(block, (int)st.sum & 0xff, sizeof block);
    MPI_Put(block, BLOCK, MPI_BYTE, right, 4096, BLOCK, MPI_BYTE, win);
    MPI_Win_flush(right, win);
    for (int i = 0; i < ATOMICS; i++) {
        MPI_Fetch_and_op(&one, &old, MPI_UINT64_T, right, 0, MPI_SUM, win);
        MPI_Win_flush(right, win);
        st.sum += old;
    }
    MPI_Get(got, sizeof got, MPI_BYTE, left, 4096, sizeof got, MPI_BYTE, win);
    MPI_Win_flush(left, win);
    st.sum += got[7];
    MPI_Sendrecv_replace(&token, 1, MPI_UINT64_T, right, 1, left, 1, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    st.sum += token;
}

static void alone(int half)
{
    int other = half + ((bench_rank - half) ^ 1);
    struct portion *p = &mine->portion[st.round * PORTIONS];
    if (other >= bench_size)
        other = bench_rank;
    for (int i = 0; i < PORTIONS; i++) {
        double begin = bench_now();
        compute(work / PORTIONS);
        MPI_Put(block, BLOCK, MPI_BYTE, other, 4096, BLOCK, MPI_BYTE, win);
        MPI_Win_flush(other, win);
        p[i] = (struct portion){begin, bench_now() - begin};
    }
}

static void body(void *arg)
{
    int half = (bench_size + 1) / 2;
    (void)arg;
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    for (; st.round < rounds; st.round++) {
        int i = st.round + 1; /* the number of this safepoint */
        note(&mine->reached[i], &mine->again_reached[i]);
        FTRMA_Safepoint();
        note(&mine->left[i], &mine->again_left[i]);
        if (bench_rank < half)
            ring(half);
        else
            alone(half);
    }
    MPI_Win_unlock_all(win);
}

static int setting(const char *name)
{
    const char *s = getenv(name);
    return s ? atoi(s) : 0;
}

/* Portions of complete intervals between checkpoints; the stop for the next one is in no
 * portion. */
static void survivors(double from, double to)
{
    double sum[2] = {0, 0}, n[2] = {0, 0};
    for (int r = (bench_size + 1) / 2; r < bench_size; r++)
        for (int i = PORTIONS; i < rounds * PORTIONS; i++) {
            struct portion p = clocks[r].portion[i];
            int meanwhile = p.begin + p.seconds > from && p.begin < to;
            sum[meanwhile] += p.seconds;
            n[meanwhile]++;
        }
    if (n[0] > 0)
        bench_figure("round+otherwise", 0, 1e6 * sum[0] / n[0], "us");
    if (n[1] > 0)
        bench_figure("round+meanwhile", 0, 1e6 * sum[1] / n[1], "us");
    bench_figure("portions+meanwhile", 0, n[1], "times");
}

static void figures(void)
{
    int victim = setting("BENCH_VICTIM"), hit = setting("BENCH_HIT"), from = setting("BENCH_FROM");
    if (victim < 0 || victim >= bench_size || from < 1 || hit <= from || hit > rounds)
        return; /* nobody is killed in this run */
    const struct clocks *v = &clocks[victim];
    if (v->again_reached[hit] == 0) {
        printf("bench_replay: rank %d did not come to safepoint %d twice\n", victim, hit);
        return;
    }
    bench_figure("original", 0, 1e3 * (v->reached[hit] - v->left[from]), "ms");
    bench_figure("again", 0, 1e3 * (v->again_reached[hit] - v->again_left[from]), "ms");
    bench_figure("away", 0, 1e3 * (v->again_reached[hit] - v->reached[hit]), "ms");
    survivors(v->reached[hit], v->again_reached[hit]);
}

static void open_clocks(const char *path)
{
    size_t bytes = (size_t)bench_size * sizeof *clocks;
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0 ||
        (clocks = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)) == MAP_FAILED) {
        perror(path);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    close(fd);
    mine = &clocks[bench_rank];
    for (size_t i = 0; i < sizeof *mine;
         i += 4096) /* the pages are there when they are first timed; nothing is changed */
        *(volatile char *)((char *)mine + i);
}

int main(int argc, char **argv)
{
    char *own;
    bench_start(&argc, &argv, "replay");
    rounds = argc > 2 ? atoi(argv[2]) : rounds;
    work = argc > 3 ? atoi(argv[3]) : work;
    if (argc < 2 || rounds < 1 || rounds >= SAFEPOINTS || work < PORTIONS || bench_size < 3 ||
        bench_size > RANKS) {
        fprintf(stderr, "usage: bench_replay CLOCKS [ROUNDS (below %d) [WORK]], 3 to %d ranks\n",
                SAFEPOINTS, RANKS);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    open_clocks(argv[1]);
    MPI_Win_allocate(4096 + BLOCK, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &win);
    memset(own, 0, 4096 + BLOCK);
    MPI_Barrier(MPI_COMM_WORLD);
    FTRMA_Unprotect(block, sizeof block);
    if (FTRMA_Protect(&st, sizeof st) != MPI_SUCCESS || FTRMA_Run(body, NULL) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (bench_rank == 0)
        figures();
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
