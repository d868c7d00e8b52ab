/* SPDX-License-Identifier: BSD-3-Clause
 *
 * padding.c - values that do not fill their bytes: an x87 long double uses 10 of 16, pairs have
 * holes. The other bytes are different in each process here, as they may be in any program. They
 * hold no values, so a replay that differs in them has not diverged.
 */
#include <complex.h>
#include <unistd.h>

#include "../program.h"

#define ROUNDS 12
#define N 3

typedef long double _Complex ldc;
struct ld_int {
    long double v;
    int i;
};
struct d_int {
    double v;
    int i;
};
struct s_int {
    short v;
    int i;
};
struct mixed {
    char c;
    long double v[2];
};
/* A window of each rank. Operands of MPI_REPLACE and of another operation lie in different
 * places. */
struct all {
    long double ld[2][N], word[2];
    ldc c[2][N];
    struct ld_int l[2][N];
    struct d_int d[2][N];
    struct s_int s[2][N];
    long double put[N];
    struct mixed m;
};

static uint64_t noise;

/* Memory whose bytes say which process this is. */
static void *dirty(void *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        noise = mix(noise + 1);
        ((volatile unsigned char *)p)[i] = (unsigned char)noise;
    }
    return p;
}

/* The value alone, into memory that keeps its other bytes. */
static void set(long double *at, long double v)
{
    memcpy(at, &v, sizeof v == 16 && __LDBL_MANT_DIG__ == 64 ? 10 : sizeof v);
}

static double value(int round, int k)
{
    return 1 + (double)(mix((uint64_t)(me * 1000 + round * 10 + k)) % 1000) / 8;
}

static void fill(struct all *a, int round)
{
    dirty(a, sizeof *a);
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < N; k++) {
            double v = value(round, k + N * i);
            set(&a->ld[i][k], v);
            set((long double *)&a->c[i][k], v);
            set((long double *)&a->c[i][k] + 1, -v);
            set(&a->l[i][k].v, v);
            a->l[i][k].i = round + k;
            a->d[i][k].v = v;
            a->d[i][k].i = round + k;
            a->s[i][k].v = (short)v;
            a->s[i][k].i = round + k;
        }
        set(&a->word[i], value(round, 7 + i));
    }
    for (int k = 0; k < N; k++)
        set(&a->put[k], value(round, 20 + k));
    a->m.c = (char)round;
    set(&a->m.v[0], round);
    set(&a->m.v[1], -round);
}

static uint64_t add(uint64_t h, long double v) { return mix(h ^ mix((uint64_t)(int64_t)(v * 8))); }

static uint64_t hash(const struct all *a, uint64_t h)
{
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < N; k++) {
            h = add(add(add(h, a->ld[i][k]), creall(a->c[i][k])), cimagl(a->c[i][k]));
            h = add(add(add(h, a->l[i][k].v), a->d[i][k].v), a->s[i][k].v);
            h = mix(h ^ (uint64_t)(a->l[i][k].i + 100 * a->d[i][k].i + 10000 * a->s[i][k].i));
        }
        h = add(h, a->word[i]);
    }
    for (int k = 0; k < N; k++)
        h = add(h, a->put[k]);
    return h;
}

#define AT(field) ((MPI_Aint)offsetof(struct all, field))

static void combine(MPI_Win w, int to, const struct all *a, struct all *found, int round)
{
    static const struct {
        MPI_Datatype t;
        size_t at[2];
        MPI_Op op;
    } list[] = {
        {MPI_LONG_DOUBLE, {offsetof(struct all, ld[0]), offsetof(struct all, ld[1])}, MPI_SUM},
        {MPI_C_LONG_DOUBLE_COMPLEX,
         {offsetof(struct all, c[0]), offsetof(struct all, c[1])},
         MPI_SUM},
        {MPI_LONG_DOUBLE_INT, {offsetof(struct all, l[0]), offsetof(struct all, l[1])}, MPI_MAXLOC},
        {MPI_DOUBLE_INT, {offsetof(struct all, d[0]), offsetof(struct all, d[1])}, MPI_MINLOC},
        {MPI_SHORT_INT, {offsetof(struct all, s[0]), offsetof(struct all, s[1])}, MPI_MAXLOC},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        for (int k = 0; k < 2; k++) {
            MPI_Op op = k ? list[i].op : MPI_REPLACE;
            const char *from = (const char *)a + list[i].at[k];
            char *into = (char *)found + list[i].at[k];
            if (round % 2)
                MPI_Accumulate(from, N, list[i].t, to, (MPI_Aint)list[i].at[k], N, list[i].t, op,
                               w);
            else
                MPI_Get_accumulate(from, N, list[i].t, into, N, list[i].t, to,
                                   (MPI_Aint)list[i].at[k], N, list[i].t, op, w);
        }
    MPI_Fetch_and_op(&a->word[0], &found->word[0], MPI_LONG_DOUBLE, to, AT(word[0]), MPI_REPLACE,
                     w);
    MPI_Fetch_and_op(&a->word[1], &found->word[1], MPI_LONG_DOUBLE, to, AT(word[1]),
                     round % 3 ? MPI_SUM : MPI_NO_OP, w);
    MPI_Put(a->put, N, MPI_LONG_DOUBLE, to, AT(put), N, MPI_LONG_DOUBLE, w);
}

static void first_of_both(void *in, void *inout, int *n, MPI_Datatype *t)
{
    const struct mixed *a = in;
    struct mixed *b = inout;
    (void)t;
    for (int i = 0; i < *n; i++) {
        b[i].c = (char)(b[i].c + a[i].c);
        for (int k = 0; k < 2; k++)
            b[i].v[k] += a[i].v[k];
    }
}

static MPI_Datatype mixed_type(void)
{
    MPI_Datatype t, sized;
    MPI_Type_create_struct(2, (int[]){1, 2}, (MPI_Aint[]){0, offsetof(struct mixed, v)},
                           (MPI_Datatype[]){MPI_CHAR, MPI_LONG_DOUBLE}, &t);
    MPI_Type_create_resized(t, 0, sizeof(struct mixed), &sized);
    MPI_Type_commit(&sized);
    MPI_Type_free(&t);
    return sized;
}

static uint64_t talk(const struct all *a, MPI_Datatype mixed, MPI_Op op, uint64_t h)
{
    struct all in, sum;
    int next = (me + 1) % np, before = (me + np - 1) % np;
    dirty(&in, sizeof in);
    dirty(&sum, sizeof sum);
    MPI_Sendrecv(a->ld, 2 * N, MPI_LONG_DOUBLE, next, 1, in.ld, 2 * N, MPI_LONG_DOUBLE, before, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&a->m, 1, mixed, next, 2, &in.m, 1, mixed, before, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Allreduce(a->ld, sum.ld, 2 * N, MPI_LONG_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(a->d, sum.d, 2 * N, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    MPI_Allreduce(&a->m, &sum.m, 1, mixed, op, MPI_COMM_WORLD);
    for (int k = 0; k < N; k++)
        h = add(add(add(h, in.ld[1][k]), sum.ld[0][k]), sum.d[1][k].v);
    return add(add(mix(h ^ (uint64_t)(unsigned char)in.m.c), in.m.v[1]), sum.m.v[0]);
}

int main(int argc, char **argv)
{
    struct all *mine, a, found;
    MPI_Win w;
    MPI_Op op;
    uint64_t h = 0;
    noise = (uint64_t)getpid();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &np);
    MPI_Datatype mixed = mixed_type();
    MPI_Op_create(first_of_both, 1, &op);
    MPI_Win_allocate(sizeof *mine, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &w);
    memset(mine, 0, sizeof *mine);
    memset(&found, 0, sizeof found);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Win_fence(0, w);
        fill(&a, round);
        combine(w, (me + 1 + round % (np - 1)) % np, &a, &found, round);
        MPI_Win_fence(0, w);
        h = hash(&found, hash(mine, h));
        h = talk(&a, mixed, op, h);
    }
    MPI_Op_free(&op);
    MPI_Type_free(&mixed);
    MPI_Win_free(&w);
    return finish(h);
}
