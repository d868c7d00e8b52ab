/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rma_layouts.c - accesses with random derived datatypes (MPI-3.1, 4.1 and 11.3): all constructors,
 * nested, holes of any kind, different at origin and target. The expected contents of the window
 * are computed here by packing and unpacking.
 */
#include <float.h>
#include <time.h>

#include "errors.h"

static unsigned long long state;
static unsigned rnd(unsigned n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state >> 20) % n;
}

/* A new type of elements of t. Those of a type for a target must not overlap: so far apart that
 * they cannot. */
static MPI_Datatype make(MPI_Datatype t, int depth)
{
    MPI_Datatype inner = t, out;
    MPI_Aint lb, extent, tlb, text, at[8];
    int n = 1 + (int)rnd(4), len[8], disp[8], i;

    if (depth > 0)
        inner = make(t, depth - 1);
    MPI_Type_get_extent(inner, &lb, &extent);
    MPI_Type_get_true_extent(inner, &tlb, &text);
    if (extent < text) { /* elements of it would overlap */
        MPI_Datatype wide;
        MPI_Type_create_resized(inner, lb, text, &wide);
        if (inner != t)
            MPI_Type_free(&inner);
        inner = wide;
        extent = text;
    }
    for (i = 0; i < n; i++) {
        len[i] = (int)rnd(3);
        disp[i] = (i ? disp[i - 1] + len[i - 1] : (int)rnd(3)) + (int)rnd(2);
        at[i] = disp[i] * extent;
    }
    len[0] += 1;
    for (i = 1; i < n; i++)
        at[i] += extent, disp[i]++;
    if (rnd(3) == 0 && n > 1) { /* not in the order of addresses */
        int l = len[0], d = disp[0];
        MPI_Aint a = at[0];
        len[0] = len[n - 1], disp[0] = disp[n - 1], at[0] = at[n - 1];
        len[n - 1] = l, disp[n - 1] = d, at[n - 1] = a;
    }
    switch (rnd(12)) {
    case 0: MPI_Type_contiguous(n, inner, &out); break;
    case 1: MPI_Type_vector(n, 1 + (int)rnd(2), 2 + (int)rnd(2), inner, &out); break;
    case 2: MPI_Type_create_hvector(n, 2, -(2 + (MPI_Aint)rnd(3)) * extent, inner, &out); break;
    case 3: MPI_Type_indexed(n, len, disp, inner, &out); break;
    case 4: MPI_Type_create_hindexed(n, len, at, inner, &out); break;
    case 5:
        for (i = 0; i < n; i++)
            disp[i] = 2 * (n - i) - 3;
        MPI_Type_create_indexed_block(n, 1 + (int)rnd(2), disp, inner, &out);
        break;
    case 6:
        for (i = 0; i < n; i++)
            at[i] = (2 * i - 1) * extent;
        MPI_Type_create_hindexed_block(n, 1 + (int)rnd(2), at, inner, &out);
        break;
    case 7: {
        MPI_Datatype parts[8];
        for (i = 0; i < n; i++)
            parts[i] = inner;
        MPI_Type_create_struct(n, len, at, parts, &out);
        break;
    }
    case 8: {
        int sizes[3] = {3, 1 + (int)rnd(3), 4}, subs[3] = {2, sizes[1], 1 + (int)rnd(2)},
            starts[3] = {(int)rnd(2), 0, (int)rnd(3)};
        MPI_Type_create_subarray(3, sizes, subs, starts, rnd(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN,
                                 inner, &out);
        break;
    }
    case 9: {
        int g[2] = {4, 5}, d[2], a[2], p[2] = {2, 2};
        for (i = 0; i < 2; i++) {
            d[i] = rnd(2) ? MPI_DISTRIBUTE_BLOCK : MPI_DISTRIBUTE_CYCLIC;
            a[i] = d[i] == MPI_DISTRIBUTE_CYCLIC && rnd(2) ? 2 : MPI_DISTRIBUTE_DFLT_DARG;
        }
        if (rnd(3) == 0) {
            d[0] = MPI_DISTRIBUTE_NONE;
            a[0] = MPI_DISTRIBUTE_DFLT_DARG;
            p[0] = 1;
            p[1] = 4;
            g[1] = 9;
        }
        MPI_Type_create_darray(4, (int)rnd(4), 2, g, d, a, p,
                               rnd(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, inner, &out);
        break;
    }
    case 10: {
        MPI_Aint step = t == MPI_LONG_DOUBLE ? sizeof(long double) : 8; /* see same() */
        MPI_Type_create_resized(inner, lb - (MPI_Aint)rnd(3) * step,
                                extent + (MPI_Aint)rnd(5) * step, &out);
        break;
    }
    default: MPI_Type_dup(inner, &out); break;
    }
    if (inner != t)
        MPI_Type_free(&inner);
    int size;
    MPI_Type_size(out, &size);
    if (size == 0) { /* darray, of a process without a part */
        MPI_Type_free(&out);
        return make(t, depth);
    }
    return out;
}

enum { ROOM = 1 << 17, MIDDLE = ROOM / 2 };
static MPI_Win win;
static char *mem, mine[ROOM], theirs[ROOM], want[ROOM], packed[ROOM], other[ROOM];

static int pack(const void *from, int n, MPI_Datatype t, void *to)
{
    int end = 0;
    MPI_Pack(from, n, t, to, ROOM, &end, MPI_COMM_SELF);
    return end;
}

static void unpack(const void *from, int bytes, int n, MPI_Datatype t, void *to)
{
    int end = 0;
    MPI_Unpack(from, bytes, &end, to, n, t, MPI_COMM_SELF);
}

static int fits(MPI_Datatype t, int n)
{
    MPI_Aint lb, extent, tlb, text;
    MPI_Type_get_extent(t, &lb, &extent);
    MPI_Type_get_true_extent(t, &tlb, &text);
    MPI_Aint from = tlb, to = tlb + text, far = (n - 1) * extent;
    return (far < 0 ? from + far : from) > -MIDDLE && (far > 0 ? to + far : to) < MIDDLE &&
           extent >= text;
}

static void numbers(char *buf, MPI_Datatype basic, unsigned seed)
{
    int size;
    MPI_Type_size(basic, &size);
    for (int i = 0; i < ROOM / size; i++)
        if (basic == MPI_DOUBLE)
            ((double *)(void *)buf)[i] = (i * 7 + seed) % 1000;
        else if (basic == MPI_INT)
            ((int *)(void *)buf)[i] = (int)((unsigned)i * 7 + seed) % 1000;
        else if (basic == MPI_LONG_DOUBLE)
            ((long double *)(void *)buf)[i] = (i * 7 + seed) % 1000;
        else if (basic == MPI_SHORT)
            ((short *)(void *)buf)[i] = (short)(((unsigned)i * 7 + seed) % 1000);
        else
            buf[i] = (char)(((unsigned)i * 7 + seed) % 60);
}

/* A long double has ten bytes, and a host may pack those only: the others do not count. All lie at
 * multiples of their size. */
static int same(const char *a, const char *b, MPI_Datatype basic)
{
    enum { SIZE = sizeof(long double), USED = SIZE > 10 && LDBL_MANT_DIG == 64 ? 10 : SIZE };
    int used = basic == MPI_LONG_DOUBLE ? USED : SIZE;

    for (int i = 0; i < ROOM; i += SIZE)
        if (memcmp(a + i, b + i, (size_t)used))
            return 0;
    return 1;
}

enum call { PUT, GET, RPUT, RGET, ACC, GACC, RACC, RGACC, NOOP, CALLS };
static const char *calls[] = {"put", "get", "rput", "rget", "acc", "gacc", "racc", "rgacc", "noop"};

static void one(int target, MPI_Datatype basic, MPI_Datatype ot, int on, MPI_Datatype tt, int tn,
                enum call call)
{
    MPI_Request q = MPI_REQUEST_NULL;
    MPI_Op op = rnd(2) ? MPI_SUM : MPI_REPLACE;
    int esize;

    MPI_Type_size(basic, &esize);
    numbers(mine, basic, rnd(1000));
    numbers(theirs, basic, rnd(1000));
    MPI_Put(theirs, ROOM, MPI_BYTE, target, 0, ROOM, MPI_BYTE, win);
    MPI_Win_flush(target, win);
    memset(other, 0x33, ROOM);
    memcpy(want, theirs, ROOM);
    int bytes = pack(mine + MIDDLE, on, ot, packed);
    char *o = mine + MIDDLE, *r = other + MIDDLE;
    static char before[ROOM], result[ROOM];
    int tbytes = pack(theirs + MIDDLE, tn, tt, before);
    CHECK(bytes == tbytes);
    switch (call) {
    case PUT: MPI_Put(o, on, ot, target, MIDDLE, tn, tt, win); break;
    case RPUT: MPI_Rput(o, on, ot, target, MIDDLE, tn, tt, win, &q); break;
    case GET: MPI_Get(r, on, ot, target, MIDDLE, tn, tt, win); break;
    case RGET: MPI_Rget(r, on, ot, target, MIDDLE, tn, tt, win, &q); break;
    case ACC: MPI_Accumulate(o, on, ot, target, MIDDLE, tn, tt, op, win); break;
    case RACC: MPI_Raccumulate(o, on, ot, target, MIDDLE, tn, tt, op, win, &q); break;
    case GACC: MPI_Get_accumulate(o, on, ot, r, on, ot, target, MIDDLE, tn, tt, op, win); break;
    case RGACC:
        MPI_Rget_accumulate(o, on, ot, r, on, ot, target, MIDDLE, tn, tt, op, win, &q);
        break;
    default:
        MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, r, on, ot, target, MIDDLE, tn, tt, MPI_NO_OP,
                           win);
        break;
    }
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Win_flush(target, win);
    if (call != GET && call != RGET && call != NOOP) {
        if (call == PUT || call == RPUT || op == MPI_REPLACE) {
            unpack(packed, bytes, tn, tt, want + MIDDLE);
        } else {
            memcpy(result, before, (size_t)tbytes);
            MPI_Reduce_local(packed, result, bytes / esize, basic, MPI_SUM);
            unpack(result, bytes, tn, tt, want + MIDDLE);
        }
    }
    static char now[ROOM];
    MPI_Get(now, ROOM, MPI_BYTE, target, 0, ROOM, MPI_BYTE, win);
    MPI_Win_flush(target, win);
    if (!same(now, want, basic))
        fprintf(stderr, "%s, %s\n", calls[call], op == MPI_SUM ? "MPI_SUM" : "MPI_REPLACE");
    CHECK(same(now, want, basic));
    memset(want, 0x33, ROOM);
    if (call == GET || call == RGET || call == GACC || call == RGACC || call == NOOP)
        unpack(before, bytes, on, ot, want + MIDDLE);
    if (!same(other, want, basic))
        fprintf(stderr, "%s\n", calls[call]);
    CHECK(same(other, want, basic));
}

static void random_accesses(int target, int times)
{
    const MPI_Datatype basics[] = {MPI_DOUBLE, MPI_INT, MPI_SHORT, MPI_LONG_DOUBLE,
                                   MPI_SIGNED_CHAR};

    for (int i = 0; i < times;) {
        MPI_Datatype basic = basics[rnd(5)], ot = make(basic, (int)rnd(3)),
                     tt = make(basic, (int)rnd(3));
        MPI_Type_commit(&ot);
        MPI_Type_commit(&tt);
        int bs, os, ts, x, y;
        MPI_Type_size(ot, &os);
        MPI_Type_size(tt, &ts);
        for (x = os, y = ts; y;) { /* greatest common divisor */
            int m = x % y;
            x = y;
            y = m;
        }
        if (fits(ot, ts / x) && fits(tt, os / x)) {
            one(target, basic, ot, ts / x, tt, os / x, (enum call)(i % CALLS));
            MPI_Type_size(basic, &bs);
            one(target, basic, basic, ts / bs, tt, 1, (enum call)(i % CALLS));
            i++;
        }
        MPI_Type_free(&ot);
        MPI_Type_free(&tt);
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    const char *seed = getenv("FTRMA_TEST_SEED");
    unsigned long long s = seed ? strtoull(seed, NULL, 10) : (unsigned long long)time(NULL);
    MPI_Bcast(&s, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
    if (me == 0)
        fprintf(stderr, "FTRMA_TEST_SEED=%llu\n", s);
    state = (s + (unsigned)me) * 0x9E3779B97F4A7C15ull | 1;
    MPI_Win_allocate(ROOM, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
    int target = (me + 1) % np;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
    random_accesses(target, 100);
    MPI_Win_unlock(target, win);
    MPI_Win_free(&win);
    return finish();
}
