/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rma_atomics.c - fetch_and_op, compare_and_swap, accumulate with all operations on the basic types
 * against a serial reference, get_accumulate with MPI_NO_OP and MPI_REPLACE.
 */
#include <stdint.h>

#include "check.h"

enum { TIMES = 300, N = 7 };

static void *mem;
static MPI_Win win;

static void clear(void)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, win);
    memset(mem, 0, 4096);
    MPI_Win_unlock(me, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
}

static void done(void)
{
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Each value of the counter is given out once: the sum of what all got tells. */
#define COUNTER(ctype, mpitype)                                             \
    do {                                                                    \
        ctype one = 1, was, last = 0;                                       \
        double mine = 0, all;                                               \
        clear();                                                            \
        for (int i = 0; i < TIMES / np / 5; i++) {                          \
            MPI_Fetch_and_op(&one, &was, mpitype, 0, 1, MPI_SUM, win);      \
            MPI_Win_flush(0, win);                                          \
            CHECK(i == 0 || was > last);                                    \
            last = was;                                                     \
            mine += (double)was;                                            \
        }                                                                   \
        done();                                                             \
        double n = (double)(TIMES / np / 5 * np);                           \
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); \
        CHECK(all == n * (n - 1) / 2);                                      \
    } while (0)

static void counters(void)
{
    COUNTER(int8_t, MPI_INT8_T);
    COUNTER(uint8_t, MPI_UINT8_T);
    COUNTER(int16_t, MPI_INT16_T);
    COUNTER(uint16_t, MPI_UINT16_T);
    COUNTER(int32_t, MPI_INT32_T);
    COUNTER(uint32_t, MPI_UINT32_T);
    COUNTER(int64_t, MPI_INT64_T);
    COUNTER(uint64_t, MPI_UINT64_T);
    COUNTER(float, MPI_FLOAT);
    COUNTER(double, MPI_DOUBLE);
}

/* Replace and no-op: a token is handed out once. */
static void swaps(void)
{
    int64_t token = 77, none = 0, got, seen, winners, mine;

    clear();
    if (me == 0)
        MPI_Put(&token, 1, MPI_INT64_T, np - 1, 0, 1, MPI_INT64_T, win);
    MPI_Win_flush_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Fetch_and_op(NULL, &seen, MPI_INT64_T, np - 1, 0, MPI_NO_OP, win);
    MPI_Win_flush(np - 1, win);
    CHECK(seen == token);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Fetch_and_op(&none, &got, MPI_INT64_T, np - 1, 0, MPI_REPLACE, win);
    done();
    CHECK(got == token || got == 0);
    mine = got == token;
    MPI_Allreduce(&mine, &winners, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK(winners == 1);
}

/* A lock made of compare-and-swap guards a plain counter. */
#define SPINLOCK(ctype, mpitype)                                              \
    do {                                                                      \
        ctype mine = (ctype)(me + 1), none = 0, was;                          \
        long v;                                                               \
        clear();                                                              \
        for (int i = 0; i < 20; i++) {                                        \
            do {                                                              \
                MPI_Compare_and_swap(&mine, &none, &was, mpitype, 0, 0, win); \
                MPI_Win_flush(0, win);                                        \
            } while (was != none);                                            \
            MPI_Get(&v, 1, MPI_LONG, 0, 2, 1, MPI_LONG, win);                 \
            MPI_Win_flush(0, win);                                            \
            v++;                                                              \
            MPI_Put(&v, 1, MPI_LONG, 0, 2, 1, MPI_LONG, win);                 \
            MPI_Win_flush(0, win);                                            \
            MPI_Compare_and_swap(&none, &mine, &was, mpitype, 0, 0, win);     \
            MPI_Win_flush(0, win);                                            \
            CHECK(was == mine);                                               \
        }                                                                     \
        done();                                                               \
        CHECK(me != 0 || ((long *)mem)[2] == 20L * np);                       \
        MPI_Barrier(MPI_COMM_WORLD);                                          \
    } while (0)

/* Everybody pushes nodes to a list whose head is swapped in; the list must hold them all. */
static void list(void)
{
    enum { EACH = 20 };
    int64_t head, was;

    clear();
    for (int i = 1; i <= EACH; i++) {
        int64_t node = (int64_t)me * EACH + i;
        MPI_Fetch_and_op(NULL, &head, MPI_INT64_T, 0, 0, MPI_NO_OP, win);
        MPI_Win_flush(0, win);
        for (;;) {
            MPI_Put(&head, 1, MPI_INT64_T, 0, (MPI_Aint)node, 1, MPI_INT64_T, win);
            MPI_Win_flush(0, win);
            MPI_Compare_and_swap(&node, &head, &was, MPI_INT64_T, 0, 0, win);
            MPI_Win_flush(0, win);
            if (was == head)
                break;
            head = was;
        }
    }
    done();
    if (me == 0) {
        int n = 0;
        for (int64_t at = ((int64_t *)mem)[0]; at; at = ((int64_t *)mem)[at])
            CHECK(++n <= EACH * np);
        CHECK(n == EACH * np);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Every rank combines N elements into rank 0's, in turn; rank 0 does the same with
 * MPI_Reduce_local. */
#define COMBINE(ctype, mpitype, op, value)                                  \
    do {                                                                    \
        ctype ref[N], from[N];                                              \
        memset(ref, 0, sizeof ref);                                         \
        memset(from, 0, sizeof from);                                       \
        clear();                                                            \
        for (int turn = 0; turn <= np; turn++) {                            \
            for (int i = 0; i < N; i++) {                                   \
                int k = (turn * 5 + i * 3) % 11;                            \
                (void)k;                                                    \
                from[i] = (ctype)value;                                     \
            }                                                               \
            MPI_Op o = turn == 0 ? MPI_REPLACE : (op);                      \
            if (me == turn % np)                                            \
                MPI_Accumulate(from, N, mpitype, 0, 0, N, mpitype, o, win); \
            MPI_Win_flush_all(win);                                         \
            MPI_Barrier(MPI_COMM_WORLD);                                    \
            if (turn == 0)                                                  \
                memcpy(ref, from, sizeof ref);                              \
            else                                                            \
                MPI_Reduce_local(from, ref, N, mpitype, op);                \
        }                                                                   \
        done();                                                             \
        CHECK(me != 0 || memcmp(ref, mem, sizeof ref) == 0);                \
        MPI_Barrier(MPI_COMM_WORLD);                                        \
    } while (0)
#define ARITHMETIC(ctype, mpitype)                      \
    do {                                                \
        COMBINE(ctype, mpitype, MPI_SUM, k);            \
        COMBINE(ctype, mpitype, MPI_PROD, (k % 3 + 1)); \
        COMBINE(ctype, mpitype, MPI_MAX, k);            \
        COMBINE(ctype, mpitype, MPI_MIN, k);            \
    } while (0)
#define INTEGER(ctype, mpitype)                     \
    do {                                            \
        ARITHMETIC(ctype, mpitype);                 \
        COMBINE(ctype, mpitype, MPI_LAND, k);       \
        COMBINE(ctype, mpitype, MPI_LOR, (k % 2));  \
        COMBINE(ctype, mpitype, MPI_LXOR, k);       \
        COMBINE(ctype, mpitype, MPI_BAND, (k | 4)); \
        COMBINE(ctype, mpitype, MPI_BOR, k);        \
        COMBINE(ctype, mpitype, MPI_BXOR, k);       \
    } while (0)
/* structs are filled member by member, so that holes are equal */
#define PAIR(type, mpitype)                                                                   \
    do {                                                                                      \
        struct {                                                                              \
            type v;                                                                           \
            int i;                                                                            \
        } from[N], *at = mem;                                                                 \
        for (int max = 0; max < 2; max++) {                                                   \
            clear();                                                                          \
            for (int i = 0; i < N; i++) {                                                     \
                from[i].v = (type)(max ? (me * 7 + i) % 5 : 20 - (me * 7 + i) % 5);           \
                from[i].i = me;                                                               \
            }                                                                                 \
            if (me == 0)                                                                      \
                MPI_Accumulate(from, N, mpitype, 0, 0, N, mpitype, MPI_REPLACE, win);         \
            MPI_Win_flush(0, win);                                                            \
            MPI_Barrier(MPI_COMM_WORLD);                                                      \
            MPI_Accumulate(from, N, mpitype, 0, 0, N, mpitype, max ? MPI_MAXLOC : MPI_MINLOC, \
                           win);                                                              \
            done();                                                                           \
            for (int i = 0; me == 0 && i < N; i++) {                                          \
                int best = 0;                                                                 \
                for (int r = 1; r < np; r++)                                                  \
                    if ((r * 7 + i) % 5 > (best * 7 + i) % 5)                                 \
                        best = r;                                                             \
                CHECK(at[i].i == best &&                                                      \
                      at[i].v == (type)(max ? (best * 7 + i) % 5 : 20 - (best * 7 + i) % 5)); \
            }                                                                                 \
            MPI_Barrier(MPI_COMM_WORLD);                                                      \
        }                                                                                     \
    } while (0)

static void combine(void)
{
    INTEGER(signed char, MPI_SIGNED_CHAR);
    INTEGER(unsigned char, MPI_UNSIGNED_CHAR);
    INTEGER(short, MPI_SHORT);
    INTEGER(unsigned short, MPI_UNSIGNED_SHORT);
    INTEGER(int, MPI_INT);
    INTEGER(unsigned, MPI_UNSIGNED);
    INTEGER(long, MPI_LONG);
    INTEGER(unsigned long, MPI_UNSIGNED_LONG);
    INTEGER(long long, MPI_LONG_LONG);
    ARITHMETIC(float, MPI_FLOAT);
    ARITHMETIC(double, MPI_DOUBLE);
    ARITHMETIC(long double, MPI_LONG_DOUBLE);
    COMBINE(unsigned char, MPI_BYTE, MPI_BXOR, k);
    COMBINE(_Bool, MPI_C_BOOL, MPI_LXOR, (k & 1));
    COMBINE(double _Complex, MPI_C_DOUBLE_COMPLEX, MPI_SUM, k);
    COMBINE(double _Complex, MPI_C_DOUBLE_COMPLEX, MPI_PROD, (k % 3 + 1));
    PAIR(float, MPI_FLOAT_INT);
    PAIR(double, MPI_DOUBLE_INT);
    PAIR(long, MPI_LONG_INT);
    PAIR(int, MPI_2INT);
    PAIR(short, MPI_SHORT_INT);
    PAIR(long double, MPI_LONG_DOUBLE_INT);
}

/* More elements than go into one piece of the engine's; who adds what is seen by who reads. */
static void get_accumulate(void)
{
    enum { MANY = 480 };
    int64_t add[MANY], old[MANY], now[MANY];

    clear();
    for (int i = 0; i < MANY; i++)
        add[i] = i + 1;
    MPI_Get_accumulate(add, MANY, MPI_INT64_T, old, MANY, MPI_INT64_T, 0, 0, MANY, MPI_INT64_T,
                       MPI_SUM, win);
    MPI_Win_flush(0, win);
    for (int i = 0; i < MANY; i++)
        CHECK(old[i] % (i + 1) == 0 && old[i] / (i + 1) < np);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, now, MANY, MPI_INT64_T, 0, 0, MANY, MPI_INT64_T,
                       MPI_NO_OP, win);
    MPI_Win_flush(0, win);
    for (int i = 0; i < MANY; i++)
        CHECK(now[i] == (int64_t)np * (i + 1));
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == np - 1) {
        MPI_Get_accumulate(add, MANY, MPI_INT64_T, old, MANY, MPI_INT64_T, 0, 0, MANY, MPI_INT64_T,
                           MPI_REPLACE, win);
        MPI_Win_flush(0, win);
        CHECK(memcmp(old, now, sizeof old) == 0);
    }
    done();
    CHECK(me != 0 || memcmp(mem, add, sizeof add) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Win_allocate(4096, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
    counters();
    swaps();
    SPINLOCK(int32_t, MPI_INT32_T);
    SPINLOCK(uint64_t, MPI_UINT64_T);
    list();
    combine();
    get_accumulate();
    MPI_Win_free(&win);
    return finish();
}
