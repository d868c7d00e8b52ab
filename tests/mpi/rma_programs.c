/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rma_programs.c - small versions of typical uses of windows: locks built from atomics, a hash
 * table, a work queue, a ring with flags, linked lists, global arrays, SUMMA, halos. Each result
 * shows whether something was lost or done twice.
 */
#include "check.h"

static long *words(MPI_Win *win, int n)
{
    long *mem;
    MPI_Win_allocate((MPI_Aint)(n * sizeof *mem), sizeof *mem, MPI_INFO_NULL, MPI_COMM_WORLD, &mem,
                     win);
    memset(mem, 0, (size_t)n * sizeof *mem);
    MPI_Barrier(MPI_COMM_WORLD);
    return mem;
}

static long fetch_add(MPI_Win win, int target, int at, long by)
{
    long old;
    MPI_Fetch_and_op(&by, &old, MPI_LONG, target, at, by ? MPI_SUM : MPI_NO_OP, win);
    MPI_Win_flush(target, win);
    return old;
}

static long swap_if(MPI_Win win, int target, int at, long was, long new)
{
    long old;
    MPI_Compare_and_swap(&new, &was, &old, MPI_LONG, target, at, win);
    MPI_Win_flush(target, win);
    return old;
}

/* Increments at rank 0 that are safe only under a lock. */
static void increment(MPI_Win win)
{
    long v;
    MPI_Get(&v, 1, MPI_LONG, 0, 2, 1, MPI_LONG, win);
    MPI_Win_flush(0, win);
    v++;
    MPI_Put(&v, 1, MPI_LONG, 0, 2, 1, MPI_LONG, win);
    MPI_Win_flush(0, win);
}

static void ticket_lock(int rounds)
{
    MPI_Win win;
    long *mem = words(&win, 4);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    for (int i = 0; i < rounds; i++) {
        long mine = fetch_add(win, 0, 0, 1);
        while (fetch_add(win, 0, 1, 0) != mine)
            ;
        increment(win);
        fetch_add(win, 0, 1, 1);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(me || (mem[0] == (long)np * rounds && mem[1] == mem[0] && mem[2] == mem[0]));
    MPI_Win_free(&win);
}

/* Words: 0 next + 1, 1 blocked, 2 the counter, 3 (at rank 0) tail + 1. */
static void mcs_lock(int rounds)
{
    MPI_Win win;
    long *mem = words(&win, 4), id = me + 1, zero = 0, one = 1, old;
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < rounds; i++) {
        MPI_Accumulate(&zero, 1, MPI_LONG, me, 0, 1, MPI_LONG, MPI_REPLACE, win);
        MPI_Accumulate(&one, 1, MPI_LONG, me, 1, 1, MPI_LONG, MPI_REPLACE, win);
        MPI_Win_flush(me, win);
        MPI_Fetch_and_op(&id, &old, MPI_LONG, 0, 3, MPI_REPLACE, win);
        MPI_Win_flush(0, win);
        if (old) {
            MPI_Accumulate(&id, 1, MPI_LONG, (int)old - 1, 0, 1, MPI_LONG, MPI_REPLACE, win);
            MPI_Win_flush((int)old - 1, win);
            while (fetch_add(win, me, 1, 0))
                ;
        }
        increment(win);
        if (fetch_add(win, me, 0, 0) == 0 && swap_if(win, 0, 3, id, 0) == id)
            continue;
        long next;
        while ((next = fetch_add(win, me, 0, 0)) == 0)
            ;
        MPI_Accumulate(&zero, 1, MPI_LONG, (int)next - 1, 1, 1, MPI_LONG, MPI_REPLACE, win);
        MPI_Win_flush((int)next - 1, win);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(me || (mem[2] == (long)np * rounds && mem[3] == 0));
    MPI_Win_free(&win);
}

/* Keys (never 0) in open addressing over all ranks: two ranks insert each of them, and it is in the
 * table once. */
static void hash_table(int keys)
{
    enum { SLOTS = 256 };
    MPI_Win win;
    long *mem = words(&win, 2 * SLOTS), in = 0, sum = 0, all[2], mine[2], one = 1;
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 2 * keys; i++) {
        long key = 1 + (long)(me * keys + i) % (np * keys);
        unsigned at = (unsigned)key * 2654435761u % (unsigned)(SLOTS * np);
        for (;; at = (at + 1) % (unsigned)(SLOTS * np)) {
            long was = swap_if(win, (int)(at / SLOTS), (int)(at % SLOTS), 0, key);
            in += was == 0;
            if (was == 0 || was == key)
                break;
        }
        MPI_Accumulate(&one, 1, MPI_LONG, (int)(at / SLOTS), (int)(at % SLOTS) + SLOTS, 1, MPI_LONG,
                       MPI_SUM, win);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win);
    for (int i = 0; i < SLOTS; i++) {
        CHECK(mem[i] == 0 ? mem[SLOTS + i] == 0 : mem[SLOTS + i] == 2);
        sum += mem[i];
    }
    MPI_Win_unlock(me, win);
    mine[0] = in;
    mine[1] = sum;
    MPI_Allreduce(mine, all, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    long n = (long)np * keys;
    CHECK(all[0] == n && all[1] == n * (n + 1) / 2);
    MPI_Win_free(&win);
}

/* Each takes its own tasks first and then the others'. */
static void work_stealing(int tasks)
{
    MPI_Win win;
    long *mem = words(&win, 1), done[2] = {0, 0}, all[2];
    (void)mem;
    MPI_Win_lock_all(0, win);
    for (int k = 0; k < np; k++) {
        int victim = (me + k) % np;
        for (long t; (t = fetch_add(win, victim, 0, 1)) < tasks;) {
            done[0]++;
            done[1] += victim * tasks + t;
        }
    }
    MPI_Win_unlock_all(win);
    MPI_Allreduce(done, all, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    long n = (long)np * tasks;
    CHECK(all[0] == n && all[1] == n * (n - 1) / 2);
    MPI_Win_free(&win);
}

/* Messages through a ring of SLOTS in the right neighbour's window: data by Put, the flag after a
 * flush, free room reported back. The reader polls its own memory, every other time by an
 * atomic. */
static void ring(int messages)
{
    enum { SLOTS = 4, LEN = 5 };
    MPI_Win win;
    volatile long *mem = words(&win, SLOTS * LEN + 2);
    int right = (me + 1) % np, left = (me + np - 1) % np;
    long sent = 0, got = 0, data[LEN];
    MPI_Win_lock_all(0, win);
    while (sent < messages || got < messages) {
        if (sent < messages && sent - fetch_add(win, me, SLOTS * LEN + 1, 0) < SLOTS) {
            for (int i = 0; i < LEN; i++)
                data[i] = sent * 10 + i;
            MPI_Put(data, LEN, MPI_LONG, right, sent % SLOTS * LEN, LEN, MPI_LONG, win);
            MPI_Win_flush(right, win);
            fetch_add(win, right, SLOTS * LEN, 1);
            sent++;
        }
        MPI_Win_sync(win);
        if ((got % 2 ? mem[SLOTS * LEN] : fetch_add(win, me, SLOTS * LEN, 0)) > got) {
            MPI_Win_sync(win);
            for (int i = 0; i < LEN; i++)
                CHECK(mem[got % SLOTS * LEN + i] == got * 10 + i);
            got++;
            fetch_add(win, left, SLOTS * LEN + 1, 1);
        }
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

/* A list whose elements lie with their makers: pushed at rank 0's head by compare-and-swap, walked
 * by all. */
static void linked_list(int each)
{
    MPI_Win win;
    long *mem = words(&win, 2 * each + 1), head, n = 0, sum = 0;
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < each; i++) {
        long id = 1 + (long)me * each + i;
        head = fetch_add(win, 0, 2 * each, 0);
        for (long seen;; head = seen) {
            MPI_Put(&head, 1, MPI_LONG, me, 2 * i, 1, MPI_LONG, win);
            MPI_Put(&id, 1, MPI_LONG, me, 2 * i + 1, 1, MPI_LONG, win);
            MPI_Win_flush(me, win);
            if ((seen = swap_if(win, 0, 2 * each, head, id)) == head)
                break;
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (head = fetch_add(win, 0, 2 * each, 0); head; n++) {
        long e[2];
        MPI_Get(e, 2, MPI_LONG, (int)((head - 1) / each), 2 * ((head - 1) % each), 2, MPI_LONG,
                win);
        MPI_Win_flush((int)((head - 1) / each), win);
        sum += e[1];
        head = e[0];
    }
    CHECK(n == (long)np * each && sum == n * (n + 1) / 2);
    MPI_Win_unlock_all(win);
    (void)mem;
    MPI_Win_free(&win);
}

/* A matrix in row blocks: all ranks add to overlapping patches, then read others back by pipelined
 * Rgets of sub-blocks. */
static void global_array(void)
{
    enum { N = 24, P = 8 };
    int rows = N / np + (N % np != 0), sizes[2] = {rows, N};
    double *mem, patch[P * P], all[N * N], want = 0, sum = 0;
    MPI_Request q[N];
    MPI_Win win;
    MPI_Win_allocate((MPI_Aint)((size_t)rows * N * sizeof *mem), sizeof *mem, MPI_INFO_NULL,
                     MPI_COMM_WORLD, &mem, &win);
    memset(mem, 0, (size_t)rows * N * sizeof *mem);
    MPI_Win_fence(0, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < P * P; i++)
        patch[i] = me + 1;
    for (int r0 = 0; r0 + P <= N; r0 += 4)
        for (int owner = r0 / rows; owner <= (r0 + P - 1) / rows; owner++) {
            int from = r0 > owner * rows ? r0 : owner * rows,
                to = r0 + P < (owner + 1) * rows ? r0 + P : (owner + 1) * rows;
            int sub[2] = {to - from, P}, start[2] = {from - owner * rows, (r0 * 3) % (N - P)};
            MPI_Datatype t;
            MPI_Type_create_subarray(2, sizes, sub, start, MPI_ORDER_C, MPI_DOUBLE, &t);
            MPI_Type_commit(&t);
            MPI_Accumulate(patch, sub[0] * P, MPI_DOUBLE, owner, 0, 1, t, MPI_SUM, win);
            MPI_Type_free(&t);
            want += sub[0] * P;
        }
    MPI_Win_flush_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < N; i++)
        MPI_Rget(all + i * N, N, MPI_DOUBLE, i / rows, i % rows * N, N, MPI_DOUBLE, win, &q[i]);
    for (int left = N, which; left > 0; left--) {
        MPI_Waitany(N, q, &which, MPI_STATUS_IGNORE);
        CHECK(which >= 0 && which < N);
        for (int i = 0; i < N; i++)
            sum += all[which * N + i];
    }
    CHECK(sum == want * np * (np + 1) / 2);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

/* C = A B by columns of blocks: each gets what it needs of the others' rows of B. */
static void summa(void)
{
    enum { B = 6 };
    int n = B * np;
    double *b, *a = malloc((size_t)(B * n) * sizeof *a), *c = calloc((size_t)(B * n), sizeof *c),
               *part = malloc((size_t)(B * n) * sizeof *part);
    MPI_Win win;
    MPI_Win_allocate((MPI_Aint)(B * n * (int)sizeof *b), sizeof *b, MPI_INFO_NULL, MPI_COMM_WORLD,
                     &b, &win);
    for (int i = 0; i < B; i++)
        for (int j = 0; j < n; j++) {
            a[i * n + j] = me * B + i + 1 + j % 3;
            b[i * n + j] = (me * B + i == j ? 2 : 0) + (j == 0);
        }
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    for (int k = 0; k < np; k++) {
        int from = (me + k) % np;
        MPI_Get(part, B * n, MPI_DOUBLE, from, 0, B * n, MPI_DOUBLE, win);
        MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOPUT, win);
        for (int i = 0; i < B; i++)
            for (int j = 0; j < n; j++)
                for (int l = 0; l < B; l++)
                    c[i * n + j] += a[i * n + from * B + l] * part[l * n + j];
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    for (int i = 0; i < B; i++) {
        double row = 0;
        for (int j = 0; j < n; j++)
            row += a[i * n + j];
        for (int j = 0; j < n; j++)
            CHECK(c[i * n + j] == 2 * a[i * n + j] + (j == 0 ? row : 0));
    }
    free(a);
    free(c);
    free(part);
    MPI_Win_free(&win);
}

/* A torus in stripes of columns, halo columns put by strided types; the sum is kept by an averaging
 * step that conserves it. */
static void stencil(int steps)
{
    enum { R = 12, C = 6, W = C + 2 };
    double *u, next[R][W], sum = 0, all;
    MPI_Win win;
    MPI_Datatype column;
    MPI_Win_allocate((MPI_Aint)(R * W * sizeof *u), sizeof *u, MPI_INFO_NULL, MPI_COMM_WORLD, &u,
                     &win);
    MPI_Type_vector(R, 1, W, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    for (int i = 0; i < R * W; i++)
        u[i] = 64 * ((me * 7 + i) % 5);
    for (int i = 0; i < R; i++)
        for (int j = 1; j <= C; j++)
            sum += u[i * W + j];
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    int left = (me + np - 1) % np, right = (me + 1) % np;
    for (int s = 0; s < steps; s++) {
        MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
        MPI_Put(u + 1, 1, column, left, W - 1, 1, column, win);
        MPI_Put(u + C, 1, column, right, 0, 1, column, win);
        MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOSUCCEED, win);
        for (int i = 0; i < R; i++)
            for (int j = 1; j <= C; j++)
                next[i][j] = (2 * u[i * W + j] + u[i * W + j - 1] + u[i * W + j + 1]) / 4;
        for (int i = 0; i < R; i++)
            memcpy(u + i * W + 1, &next[i][1], C * sizeof *u);
    }
    all = 0;
    for (int i = 0; i < R; i++)
        for (int j = 1; j <= C; j++)
            all += u[i * W + j];
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all > sum * (1 - 1e-12) && all < sum * (1 + 1e-12));
    MPI_Type_free(&column);
    MPI_Win_free(&win);
}

/* Elements change atomically, in the order of issue: MPI_REPLACE and MPI_SUM from all ranks on an
 * array longer than any piece; readers never see half of an element. */
static void atomic_elements(void)
{
    enum { N = 20000 };
    double _Complex *mem, *v = malloc(N * sizeof *v), *got = malloc(N * sizeof *got);
    MPI_Win win;
    MPI_Win_allocate((MPI_Aint)(N * sizeof *mem), sizeof *mem, MPI_INFO_NULL, MPI_COMM_WORLD, &mem,
                     &win);
    for (int i = 0; i < N; i++)
        mem[i] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (int k = 1; k <= 4; k++) {
        for (int i = 0; i < N; i++)
            v[i] = k * (1 + 1.0i);
        MPI_Accumulate(v, N, MPI_C_DOUBLE_COMPLEX, 0, 0, N, MPI_C_DOUBLE_COMPLEX, MPI_REPLACE, win);
        MPI_Get_accumulate(v, N, MPI_C_DOUBLE_COMPLEX, got, N, MPI_C_DOUBLE_COMPLEX, 0, 0, N,
                           MPI_C_DOUBLE_COMPLEX, MPI_SUM, win);
        MPI_Win_flush_local(0, win);
        for (int i = 0; i < N; i++)
            CHECK(__real__ got[i] == __imag__ got[i] && (np > 1 || __real__ got[i] == k));
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
    free(v);
    free(got);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    ticket_lock(40);
    mcs_lock(40);
    hash_table(60);
    work_stealing(200);
    ring(60);
    linked_list(30);
    global_array();
    summa();
    stencil(30);
    atomic_elements();
    return finish();
}
