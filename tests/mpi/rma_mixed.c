/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rma_mixed.c - requests of one-sided calls in every completion call, beside two-sided ones
 * (MPI-3.1, 11.3.5 and 3.7.5); windows of all shapes at once, large accesses, and epochs one after
 * another.
 */
#include "check.h"

enum { N = 6 };
static long *mem;
static MPI_Win win;

/* Some one-sided requests, a send and a receive, an inactive persistent one and a null one. */
static int fill(MPI_Request *q, long *buf, int right, int left, MPI_Request persistent)
{
    int n = 0;
    for (int i = 0; i < N; i++)
        buf[i] = 1000 * me + i;
    MPI_Rput(buf, N, MPI_LONG, right, 0, N, MPI_LONG, win, &q[n++]);
    MPI_Win_flush(right, win);
    q[n++] = MPI_REQUEST_NULL;
    MPI_Irecv(buf + N, 1, MPI_LONG, left, 5, MPI_COMM_WORLD, &q[n++]);
    MPI_Rget(buf + N + 1, N, MPI_LONG, right, 0, N, MPI_LONG, win, &q[n++]);
    MPI_Isend(buf, 1, MPI_LONG, right, 5, MPI_COMM_WORLD, &q[n++]);
    q[n++] = persistent;
    MPI_Raccumulate(buf, 1, MPI_LONG, right, N + me % 2, 1, MPI_LONG, MPI_REPLACE, win, &q[n++]);
    MPI_Rget_accumulate(buf, 1, MPI_LONG, buf + 2 * N + 1, 1, MPI_LONG, right, N + 2, 1, MPI_LONG,
                        MPI_SUM, win, &q[n++]);
    return n;
}

static void verify(MPI_Request *q, int n, const long *buf, int left, MPI_Request persistent)
{
    CHECK(buf[N] == 1000 * left);
    for (int i = 0; i < N; i++)
        CHECK(buf[N + 1 + i] == 1000 * me + i);
    for (int i = 0; i < n; i++)
        CHECK(q[i] == (i == 5 ? persistent : MPI_REQUEST_NULL));
}

static void completions(int right, int left)
{
    MPI_Request q[16], persistent;
    MPI_Status s[16], one;
    long buf[3 * N], in;
    int n, left_over, which, flag, some, list[16];

    MPI_Recv_init(&in, 1, MPI_LONG, left, 99, MPI_COMM_WORLD, &persistent);
    for (int how = 0; how < 8; how++) {
        n = fill(q, buf, right, left, persistent);
        left_over = n - 2;
        switch (how) {
        case 0:
            for (int i = 0; i < n; i++)
                CHECK(MPI_Wait(&q[i], &one) == MPI_SUCCESS);
            break;
        case 1: CHECK(MPI_Waitall(n, q, s) == MPI_SUCCESS); break;
        case 2:
            for (; left_over > 0; left_over--) {
                MPI_Waitany(n, q, &which, &one);
                CHECK(which >= 0 && which < n && which != 1 && which != 5);
                CHECK(which != 2 || (one.MPI_SOURCE == left && one.MPI_TAG == 5));
            }
            MPI_Waitany(n, q, &which, &one);
            CHECK(which == MPI_UNDEFINED);
            break;
        case 3:
            while (left_over > 0) {
                MPI_Waitsome(n, q, &some, list, s);
                CHECK(some > 0);
                left_over -= some;
            }
            CHECK(left_over == 0);
            MPI_Waitsome(n, q, &some, list, s);
            CHECK(some == MPI_UNDEFINED);
            break;
        case 4:
            for (int i = 0; i < n; i++)
                do
                    MPI_Test(&q[i], &flag, MPI_STATUS_IGNORE);
                while (!flag);
            break;
        case 5:
            do
                MPI_Testall(n, q, &flag, s);
            while (!flag);
            break;
        case 6:
            for (; left_over > 0; left_over -= flag && which != MPI_UNDEFINED)
                MPI_Testany(n, q, &which, &flag, &one);
            break;
        default:
            while (left_over > 0) {
                MPI_Testsome(n, q, &some, list, MPI_STATUSES_IGNORE);
                left_over -= some;
            }
        }
        verify(q, n, buf, left, persistent);
    }
    n = fill(q, buf, right, left, persistent);
    for (int i = 0; i < n;
         i++) { /* one-sided ones are over at the flush whatever becomes of their requests */
        if (i == 1 || i == 2 || i == 5)
            continue;
        do
            MPI_Request_get_status(q[i], &flag, &one);
        while (!flag);
        MPI_Request_free(&q[i]);
        CHECK(q[i] == MPI_REQUEST_NULL);
    }
    MPI_Wait(&q[2], MPI_STATUS_IGNORE);
    MPI_Win_flush_local(right, win);
    verify(q, n, buf, left, persistent);
    MPI_Request_free(&persistent);
}

/* Status of a request of a put: its error field at least is not touched by single completions;
 * counts of gets are not defined. */
static void shapes(void)
{
    enum { WINS = 8 };
    MPI_Win w[WINS], mine;
    long *base[WINS], *local, v, *alone;
    MPI_Info info;
    MPI_Comm halves, dup;
    int unit, flag, *got;
    MPI_Aint *size;

    MPI_Info_create(&info);
    const char *keys[][2] = {{"no_locks", "false"},
                             {"accumulate_ordering", "none"},
                             {"accumulate_ops", "same_op"},
                             {"same_size", "false"},
                             {"same_disp_unit", "false"},
                             {"alloc_shared_noncontig", "true"},
                             {"mpi_assert_memory_alloc_kinds", "x"}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        MPI_Info_set(info, keys[i][0], keys[i][1]);
    for (int i = 0; i < WINS; i++) {
        /* sizes and units by rank; some have nothing */
        unit = 1 << (me + i) % 4;
        MPI_Win_allocate((me + i) % 3 * 64, unit, i % 2 ? info : MPI_INFO_NULL, MPI_COMM_WORLD,
                         &base[i], &w[i]);
        memset(base[i], 0, (size_t)((me + i) % 3 * 64));
        MPI_Win_get_attr(w[i], MPI_WIN_SIZE, &size, &flag);
        CHECK(flag && *size == (me + i) % 3 * 64);
        MPI_Win_get_attr(w[i], MPI_WIN_DISP_UNIT, &got, &flag);
        CHECK(flag && *got == unit);
    }
    MPI_Info_free(&info);
    for (int i = 0; i < WINS; i++)
        MPI_Win_lock_all(0, w[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < WINS; i++)
        for (int t = 0; t < np; t++)
            if ((t + i) % 3) { /* the last word of its part */
                v = 100 * t + i;
                MPI_Accumulate(&v, 1, MPI_LONG, t, ((t + i) % 3 * 64 - 8) >> (t + i) % 4, 1,
                               MPI_LONG, MPI_SUM, w[i]);
            }
    for (int i = WINS - 1; i >= 0; i--)
        MPI_Win_unlock_all(w[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < WINS; i++) {
        int words = (me + i) % 3 * 8;
        MPI_Win_lock(MPI_LOCK_SHARED, me, 0, w[i]);
        CHECK(words == 0 || base[i][words - 1] == (100L * me + i) * np);
        MPI_Win_unlock(me, w[i]);
    }
    for (int i = 0; i < WINS; i += 2)
        MPI_Win_free(&w[i]);
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &halves); /* in reverse order */
    MPI_Comm_dup(halves, &dup);
    MPI_Win_allocate(4 * sizeof *local, 8, MPI_INFO_NULL, dup, &local, &mine);
    local[2] = 3;
    MPI_Comm_free(&dup); /* the window stays */
    int rank, n;
    MPI_Comm_rank(halves, &rank);
    MPI_Comm_size(halves, &n);
    MPI_Win_fence(0, mine);
    v = 10 * me;
    MPI_Put(&v, 1, MPI_LONG, (rank + 1) % n, 3, 1, MPI_LONG, mine);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, mine);
    CHECK(local[3] == 10 * (rank > 0 ? me + 2 : me - 2 * (n - 1)) && local[2] == 3);
    MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_SELF, &alone, &w[0]);
    *alone = 7;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w[0]);
    MPI_Put(&v, 1, MPI_LONG, 0, 0, 1, MPI_LONG, w[0]);
    MPI_Win_unlock(0, w[0]);
    CHECK(*alone == 10 * me);
    MPI_Win_free(&w[0]);
    MPI_Win_free(&mine);
    MPI_Comm_free(&halves);
    for (int i = 1; i < WINS; i += 2)
        MPI_Win_free(&w[i]);
}

/* One element of 20 MiB, and a column whose ends are as far apart. */
static void large(int right)
{
    enum { ROWS = 512, COLS = 5120 }; /* 20 MiB of doubles */
    MPI_Datatype all, column, piece;
    int sizes[2] = {ROWS, COLS}, subs[2] = {ROWS, 3}, starts[2] = {0, COLS - 3};
    size_t n = (size_t)ROWS * COLS;
    double *big, *buf = malloc(n * sizeof *buf), got[ROWS * 3];
    MPI_Win w;
    MPI_Win_allocate((MPI_Aint)(n * sizeof *big), sizeof *big, MPI_INFO_NULL, MPI_COMM_WORLD, &big,
                     &w);
    MPI_Type_contiguous(ROWS * COLS, MPI_DOUBLE, &all);
    MPI_Type_create_subarray(2, sizes, subs, starts, MPI_ORDER_C, MPI_DOUBLE, &column);
    MPI_Type_vector(ROWS, 1, COLS, MPI_DOUBLE, &piece);
    MPI_Type_commit(&all);
    MPI_Type_commit(&column);
    MPI_Type_commit(&piece);
    for (size_t i = 0; i < n; i++)
        buf[i] = (double)i;
    MPI_Win_fence(0, w);
    MPI_Put(buf, 1, all, right, 0, 1, all, w);
    MPI_Win_fence(0, w);
    CHECK(big[0] == 0 && big[n - 1] == (double)(n - 1) && big[n / 2 + 5] == (double)(n / 2 + 5));
    MPI_Accumulate(buf, 1, piece, right, 1, 1, piece, MPI_SUM, w);
    MPI_Put(buf, 1, piece, right, 2, 1, piece, w);
    MPI_Get(got, 3 * ROWS, MPI_DOUBLE, right, 0, 1, column, w);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w);
    for (int i = 0; i < ROWS; i++) {
        double row = (double)i * COLS;
        CHECK(big[i * COLS + 1] == 2 * row + 1 && big[i * COLS + 2] == row &&
              big[i * COLS + 3] == row + 3);
        CHECK(got[3 * i] == row + COLS - 3 && got[3 * i + 2] == row + COLS - 1);
    }
    MPI_Type_free(&all);
    MPI_Type_free(&column);
    MPI_Type_free(&piece);
    MPI_Win_free(&w);
    free(buf);
}

/* The holes of a pair in the window do not change, nor do those of a result. */
static void holes(int right)
{
    struct {
        double v;
        int i, other;
    } * p, x[3] = {{1, 1, -1}, {2, 2, -1}, {3, 3, -1}}, old[3] = {{0, 0, 7}, {0, 0, 8}, {0, 0, 9}};
    MPI_Win w;
    MPI_Win_allocate(3 * sizeof *p, sizeof *p, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &w);
    for (int i = 0; i < 3; i++)
        p[i].v = p[i].i = p[i].other = 10 + i;
    MPI_Win_fence(0, w);
    MPI_Accumulate(x, 2, MPI_DOUBLE_INT, right, 0, 2, MPI_DOUBLE_INT, MPI_REPLACE, w);
    MPI_Win_fence(0, w);
    MPI_Fetch_and_op(&x[2], &old[2], MPI_DOUBLE_INT, right, 2, MPI_REPLACE, w);
    MPI_Put(x, 1, MPI_DOUBLE_INT, right, 1, 1, MPI_DOUBLE_INT, w);
    MPI_Win_fence(0, w);
    CHECK(p[0].v == 1 && p[1].v == 1 && p[2].v == 3 && p[2].i == 3 && old[2].i == 12);
    MPI_Win_fence(0, w);
    MPI_Fetch_and_op(NULL, &old[0], MPI_DOUBLE_INT, right, 2, MPI_NO_OP, w);
    MPI_Get_accumulate(x, 2, MPI_DOUBLE_INT, &old[1], 2, MPI_DOUBLE_INT, right, 0, 2,
                       MPI_DOUBLE_INT, MPI_MAXLOC, w);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w);
    CHECK(old[0].v == 3 && old[1].v == 1 && old[2].v == 1 && p[0].v == 1 && p[1].v == 2);
    for (int i = 0; i < 3; i++)
        CHECK(p[i].other == 10 + i && old[i].other == 7 + i);
    MPI_Win_free(&w);
}

/* Others combine with a pair while a third rank puts into its hole: what it has put stays there. */
#define PAIR_IS_BUSY(MEMBERS, TYPE)                                                              \
    do {                                                                                         \
        struct pair {                                                                            \
            MEMBERS                                                                              \
        } first = {.v = 3, .i = 2}, x = {.v = 5, .i = 1}, old = {.other = 77};                   \
        char *mine; /* it need not be aligned for a long double */                               \
        __typeof__(first.other) put = 0, got = 0;                                                \
        int of = (me + 1) % np, n = (int)sizeof put;                                             \
        MPI_Aint at = offsetof(struct pair, other);                                              \
        MPI_Win w;                                                                               \
        MPI_Win_allocate(sizeof first, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &w);             \
        memcpy(mine, &first, sizeof first);                                                      \
        MPI_Barrier(MPI_COMM_WORLD);                                                             \
        MPI_Win_lock_all(0, w);                                                                  \
        for (int k = 0; k < 200; k++) {                                                          \
            put++;                                                                               \
            MPI_Put(&put, n, MPI_BYTE, of, at, n, MPI_BYTE, w);                                  \
            MPI_Win_flush(of, w);                                                                \
            MPI_Fetch_and_op(&x, &old, TYPE, (me + 2) % np, 0, k % 3 ? MPI_MAXLOC : MPI_REPLACE, \
                             w);                                                                 \
            MPI_Get(&got, n, MPI_BYTE, of, at, n, MPI_BYTE, w);                                  \
            MPI_Win_flush_all(w);                                                                \
            CHECK(got == put && old.other == 77 && old.v >= 3);                                  \
        }                                                                                        \
        MPI_Win_unlock_all(w);                                                                   \
        MPI_Win_free(&w);                                                                        \
    } while (0)

static void busy_pairs(void)
{
    PAIR_IS_BUSY(double v; int i; int other;, MPI_DOUBLE_INT);
    PAIR_IS_BUSY(long v; int i; int other;, MPI_LONG_INT);
    PAIR_IS_BUSY(short v; short other; int i;, MPI_SHORT_INT);
    PAIR_IS_BUSY(long double v; int i; int other;, MPI_LONG_DOUBLE_INT);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int right = (me + 1) % np, left = (me + np - 1) % np;
    MPI_Win_allocate(64 * sizeof *mem, sizeof *mem, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
    memset(mem, 0, 64 * sizeof *mem);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    completions(right, left);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    shapes();
    holes(right);
    busy_pairs();
    large(right);
    return finish();
}
