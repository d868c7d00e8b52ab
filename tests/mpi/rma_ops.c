/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rma_ops.c - every predefined operation on every predefined type (MPI-3.1, 5.9.2
 * and 5.9.4, 11.3.4): what is allowed gives what MPI_Reduce_local gives, through each call that
 * combines and each form of target; what is not is MPI_ERR_OP and does nothing.
 */
#include <float.h>

#include "errors.h"

enum {
    INT = 1,
    FINT = 2,
    FLT = 4,
    LOG = 8,
    CPX = 16,
    BYTE = 32,
    MULTI = 64,
    PAIR = 128,
    NONE = 256
};
enum {
    U8 = 1,
    I16,
    I32,
    I64,
    F32,
    F64,
    F80,
    C32,
    C64,
    C80,
    P_II,
    P_FI,
    P_DI,
    P_LI,
    P_SI,
    P_LDI,
    P_FF,
    P_DD
};
#define T(t, class, form)  \
    {                      \
        t, #t, class, form \
    }
static struct type {
    MPI_Datatype t;
    const char *name;
    int class, form;
} types[] = {
    T(MPI_INT, INT, I32),
    T(MPI_LONG, INT, I64),
    T(MPI_SHORT, INT, I16),
    T(MPI_UNSIGNED_SHORT, INT, I16),
    T(MPI_UNSIGNED, INT, I32),
    T(MPI_UNSIGNED_LONG, INT, I64),
    T(MPI_LONG_LONG, INT, I64),
    T(MPI_UNSIGNED_LONG_LONG, INT, I64),
    T(MPI_SIGNED_CHAR, INT, U8),
    T(MPI_UNSIGNED_CHAR, INT, U8),
    T(MPI_INT8_T, INT, U8),
    T(MPI_INT16_T, INT, I16),
    T(MPI_INT32_T, INT, I32),
    T(MPI_INT64_T, INT, I64),
    T(MPI_UINT8_T, INT, U8),
    T(MPI_UINT16_T, INT, I16),
    T(MPI_UINT32_T, INT, I32),
    T(MPI_UINT64_T, INT, I64),
    T(MPI_INTEGER, FINT, I32),
    T(MPI_INTEGER1, FINT, U8),
    T(MPI_INTEGER2, FINT, I16),
    T(MPI_INTEGER4, FINT, I32),
    T(MPI_INTEGER8, FINT, I64),
    T(MPI_FLOAT, FLT, F32),
    T(MPI_DOUBLE, FLT, F64),
    T(MPI_LONG_DOUBLE, FLT, F80),
    T(MPI_REAL, FLT, F32),
    T(MPI_DOUBLE_PRECISION, FLT, F64),
    T(MPI_REAL4, FLT, F32),
    T(MPI_REAL8, FLT, F64),
    T(MPI_C_BOOL, LOG, U8),
    T(MPI_CXX_BOOL, LOG, U8),
    T(MPI_LOGICAL, LOG, I32),
    T(MPI_COMPLEX, CPX, C32),
    T(MPI_DOUBLE_COMPLEX, CPX, C64),
    T(MPI_C_COMPLEX, CPX, C32),
    T(MPI_C_FLOAT_COMPLEX, CPX, C32),
    T(MPI_C_DOUBLE_COMPLEX, CPX, C64),
    T(MPI_C_LONG_DOUBLE_COMPLEX, CPX, C80),
    T(MPI_CXX_FLOAT_COMPLEX, CPX, C32),
    T(MPI_CXX_DOUBLE_COMPLEX, CPX, C64),
    T(MPI_CXX_LONG_DOUBLE_COMPLEX, CPX, C80),
    T(MPI_COMPLEX8, CPX, C32),
    T(MPI_COMPLEX16, CPX, C64),
    T(MPI_BYTE, BYTE, U8),
    T(MPI_AINT, MULTI, I64),
    T(MPI_OFFSET, MULTI, I64),
    T(MPI_COUNT, MULTI, I64),
    T(MPI_2INT, PAIR, P_II),
    T(MPI_FLOAT_INT, PAIR, P_FI),
    T(MPI_DOUBLE_INT, PAIR, P_DI),
    T(MPI_LONG_INT, PAIR, P_LI),
    T(MPI_SHORT_INT, PAIR, P_SI),
    T(MPI_LONG_DOUBLE_INT, PAIR, P_LDI),
    T(MPI_2INTEGER, PAIR, P_II),
    T(MPI_2REAL, PAIR, P_FF),
    T(MPI_2DOUBLE_PRECISION, PAIR, P_DD),
    T(MPI_CHAR, NONE, U8),
    T(MPI_WCHAR, NONE, I32),
    T(MPI_CHARACTER, NONE, U8),
    T(MPI_PACKED, NONE, U8),
};
/* by size, as named by MPI_Type_create_f90_*; and those that not every host has */
static int more(struct type *t)
{
    int n = 0;
    MPI_Datatype d;
    MPI_Type_create_f90_real(6, 30, &d);
    t[n++] = (struct type){d, "f90 real(6,30)", FLT, F32};
    MPI_Type_create_f90_real(15, MPI_UNDEFINED, &d);
    t[n++] = (struct type){d, "f90 real(15)", FLT, F64};
    MPI_Type_create_f90_integer(9, &d);
    t[n++] = (struct type){d, "f90 integer(9)", FINT, I32};
    MPI_Type_create_f90_integer(4, &d);
    t[n++] = (struct type){d, "f90 integer(4)", FINT, I16};
    MPI_Type_create_f90_complex(15, MPI_UNDEFINED, &d);
    t[n++] = (struct type){d, "f90 complex(15)", CPX, C64};
    MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &d);
    t[n++] = (struct type){d, "match real 8", FLT, F64};
#ifdef MPI_LOGICAL1
    t[n++] = (struct type)T(MPI_LOGICAL1, LOG, U8);
#endif
#ifdef MPI_LOGICAL2
    t[n++] = (struct type)T(MPI_LOGICAL2, LOG, I16);
#endif
#ifdef MPI_LOGICAL4
    t[n++] = (struct type)T(MPI_LOGICAL4, LOG, I32);
#endif
#ifdef MPI_LOGICAL8
    t[n++] = (struct type)T(MPI_LOGICAL8, LOG, I64);
#endif
    return n;
}

/* never: where every implementation must refuse; what is in neither set is not allowed either, but
 * Open MPI's operations take bytes, characters and logical operations on all integers, and programs
 * have come to use that. */
#define O(o, classes, never)  \
    {                         \
        o, #o, classes, never \
    }
static struct {
    MPI_Op op;
    const char *name;
    int classes, never;
} ops[] = {
    O(MPI_MAX, INT | FINT | FLT | MULTI, LOG | CPX | PAIR),
    O(MPI_MIN, INT | FINT | FLT | MULTI, LOG | CPX | PAIR),
    O(MPI_SUM, INT | FINT | FLT | CPX | MULTI, LOG | PAIR),
    O(MPI_PROD, INT | FINT | FLT | CPX | MULTI, LOG | PAIR),
    O(MPI_LAND, INT | LOG, FLT | CPX | PAIR),
    O(MPI_LOR, INT | LOG, FLT | CPX | PAIR),
    O(MPI_LXOR, INT | LOG, FLT | CPX | PAIR),
    O(MPI_BAND, INT | FINT | BYTE | MULTI, FLT | LOG | CPX | PAIR),
    O(MPI_BOR, INT | FINT | BYTE | MULTI, FLT | LOG | CPX | PAIR),
    O(MPI_BXOR, INT | FINT | BYTE | MULTI, FLT | LOG | CPX | PAIR),
    O(MPI_MINLOC, PAIR, ~PAIR),
    O(MPI_MAXLOC, PAIR, ~PAIR),
    O(MPI_REPLACE, -1, 0),
    O(MPI_NO_OP, -1, 0),
};

enum { N = 5, ROOM = 32 * N };

static void put_element(int form, void *at, int v)
{
    switch (form) {
#define S(F, type) \
    case F: *(type *)at = (type)v; break;
        S(U8, signed char)
        S(I16, short)
        S(I32, int)
        S(I64, long)
        S(F32, float) S(F64, double) S(F80, long double)
#define C(F, type)                       \
    case F:                              \
        ((type *)at)[0] = (type)v;       \
        ((type *)at)[1] = (type)(v + 1); \
        break;
            C(C32, float) C(C64, double) C(C80, long double) C(P_FF, float) C(P_DD, double)
                C(P_II, int)
#define P(F, type)      \
    case F: {           \
        struct {        \
            type v;     \
            int i;      \
        } *p = at;      \
        p->v = (type)v; \
        p->i = v * 3;   \
        break;          \
    }
                    P(P_FI, float) P(P_DI, double) P(P_LI, long) P(P_SI, short)
                        P(P_LDI, long double)
    }
}

static void fill(const struct type *t, char *buf, int seed)
{
    MPI_Aint lb, extent;
    MPI_Type_get_extent(t->t, &lb, &extent);
    memset(buf, 0x55, ROOM);
    for (int i = 0; i < N; i++)
        put_element(t->form, buf + i * extent,
                    t->class == LOG ? (seed + i) % 2 : (seed * (i + 1)) % 11);
}

/* Packed bytes that no number is in: a long double has ten, and a host may pack those only. */
static int is_padding(int form, int at)
{
    enum { SIZE = sizeof(long double), USED = SIZE > 10 && LDBL_MANT_DIG == 64 ? 10 : SIZE };

    if (form == P_LDI)
        return at % (SIZE + (int)sizeof(int)) >= USED && at % (SIZE + (int)sizeof(int)) < SIZE;
    return (form == F80 || form == C80) && at % SIZE >= USED;
}

/* holes apart */
static int same(const struct type *t, const char *a, const char *b, int n)
{
    char pa[ROOM], pb[ROOM];
    int ea = 0, eb = 0;
    MPI_Pack(a, n, t->t, pa, ROOM, &ea, MPI_COMM_SELF);
    MPI_Pack(b, n, t->t, pb, ROOM, &eb, MPI_COMM_SELF);
    for (int i = 0; i < ea && ea == eb; i++)
        if (pa[i] != pb[i] && !is_padding(t->form, i))
            return 0;
    return ea == eb;
}

static char *mem;
static MPI_Win win;

static void put(const char *from, int n, MPI_Datatype t, int target)
{
    MPI_Put(from, n, t, target, 0, n, t, win);
    MPI_Win_flush(target, win);
}

static void get(char *to, int n, MPI_Datatype t, int target)
{
    MPI_Win_flush(target, win);
    MPI_Get(to, n, t, target, 0, n, t, win);
    MPI_Win_flush(target, win);
}

static void expect(const struct type *t, int o, const char *what, const char *got, const char *want,
                   int n)
{
    if (!same(t, got, want, n))
        fprintf(stderr, "%s: %s, %s\n", what, ops[o].name, t->name);
    CHECK(same(t, got, want, n));
}

/* Every second element of the target, and of the result. */
static void try_strided(const struct type *t, int o, int target, const char *a, const char *b,
                        const char *want)
{
    char got[ROOM], twice[2 * ROOM];
    MPI_Datatype vec;
    MPI_Aint lb, extent;

    MPI_Type_get_extent(t->t, &lb, &extent);
    MPI_Type_vector(N, 1, 2, t->t, &vec);
    MPI_Type_commit(&vec);
    MPI_Put(b, N, t->t, target, 0, 1, vec, win);
    MPI_Win_flush(target, win);
    MPI_Get_accumulate(a, N, t->t, twice, 1, vec, target, 0, 1, vec, ops[o].op, win);
    MPI_Win_flush(target, win);
    MPI_Get(got, N, t->t, target, 0, 1, vec, win);
    MPI_Win_flush(target, win);
    expect(t, o, "strided MPI_Get_accumulate", got, want, N);
    for (int i = 0; i < N; i++)
        expect(t, o, "strided result", twice + 2 * i * extent, b + i * extent, 1);
    MPI_Type_free(&vec);
}

static void try(const struct type *t, int o, int target)
{
    char a[ROOM], b[ROOM], want[ROOM], old[ROOM], got[ROOM];
    MPI_Op op = ops[o].op;
    MPI_Aint lb, extent;

    MPI_Type_get_extent(t->t, &lb, &extent);
    fill(t, a, 3);
    fill(t, b, 7);
    memcpy(want, op == MPI_REPLACE ? a : b, ROOM);
    if (op != MPI_NO_OP && op != MPI_REPLACE)
        CHECK(MPI_Reduce_local(a, want, N, t->t, op) == MPI_SUCCESS);
    if (op != MPI_NO_OP) {
        put(b, N, t->t, target);
        MPI_Accumulate(a, N, t->t, target, 0, N, t->t, op, win);
        get(got, N, t->t, target);
        expect(t, o, "MPI_Accumulate", got, want, N);
    }
    put(b, N, t->t, target);
    MPI_Get_accumulate(a, N, t->t, old, N, t->t, target, 0, N, t->t, op, win);
    get(got, N, t->t, target);
    expect(t, o, "MPI_Get_accumulate", got, want, N);
    expect(t, o, "its result", old, b, N);
    put(b, N, t->t, target);
    MPI_Fetch_and_op(a, old, t->t, target, 0, op, win);
    get(got, N, t->t, target);
    expect(t, o, "MPI_Fetch_and_op", got, want, 1);
    expect(t, o, "what lies behind it", got + extent, b + extent, N - 1);
    expect(t, o, "its result", old, b, 1);
    try_strided(t, o, target, a, b, want);
}

static void refused(const struct type *t, int o, int target)
{
    char a[ROOM], b[ROOM], got[ROOM];

    fill(t, a, 3);
    fill(t, b, 7);
    put(b, N, t->t, target);
    WRONG(MPI_Accumulate(a, N, t->t, target, 0, N, t->t, ops[o].op, win), MPI_ERR_OP);
    WRONG(MPI_Get_accumulate(a, N, t->t, got, N, t->t, target, 0, N, t->t, ops[o].op, win),
          MPI_ERR_OP);
    WRONG(MPI_Fetch_and_op(a, got, t->t, target, 0, ops[o].op, win), MPI_ERR_OP);
    get(got, N, t->t, target);
    expect(t, o, "what was refused", got, b, N);
}

static void pair(const struct type *t, int o, int target)
{
    int size;
    MPI_Type_size(t->t, &size);
    if (size == 0) /* not on this host */
        return;
    if (ops[o].classes & t->class)
        try(t, o, target);
    else if (ops[o].never & t->class)
        refused(t, o, target);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Win_allocate(4 * ROOM, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int target = (me + 1) % np;
    struct type rare[16];
    int nrare = more(rare);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
    for (size_t o = 0; o < sizeof ops / sizeof *ops; o++) {
        for (size_t i = 0; i < sizeof types / sizeof *types; i++)
            pair(&types[i], (int)o, target);
        for (int i = 0; i < nrare; i++)
            if (ops[o].classes & rare[i].class)
                try(&rare[i], (int)o, target);
    }
    MPI_Win_unlock(target, win);
    MPI_Win_free(&win);
    return finish();
}
