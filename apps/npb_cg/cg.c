/* SPDX-License-Identifier: BSD-3-Clause
 *
 * npb_cg - the NAS Parallel Benchmark CG over two-sided MPI: the greatest eigenvalue's neighbour of
 * a sparse matrix by the inverse power method, 25 steps of conjugate gradients an iteration.
 *
 * An ordinary MPI program; what makes it outlive lost processes are the lines with FTRMA_ in this
 * file. Protected are the vectors that live from one step to the next (x, z, p, r) and a small
 * struct of state; the matrix is made again by setup, and w, q and room are filled by each step.
 */
#include "cg.h"
#include "arguments.h"
#include "hash.h"

#include <ftrma.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 25 };

static const char usage[] =
    "usage: npb_cg [CLASS | --class CLASS] [--iters N]\n"
    "  CLASS         S (na 1400, 15 iterations), W (7000, 15), A (14000, 15), B (75000, 75),\n"
    "                C (150000, 75) or D (1500000, 100); default S\n"
    "  --iters N     number of iterations; zeta is verified if there are as many as in the class\n"
    "The number of ranks is a power of two.\n";

static const struct cg_class classes[] = {
    {'S', 1400, 7, 15, 10, 8.5971775078648},     {'W', 7000, 8, 15, 12, 10.362595087124},
    {'A', 14000, 11, 15, 20, 17.130235054029},   {'B', 75000, 13, 75, 60, 22.712745482631},
    {'C', 150000, 15, 75, 110, 28.973605592845}, {'D', 1500000, 21, 100, 500, 52.514532105794},
};

/* The part of body's past that it needs later. Protected, so that body can be entered again. */
struct state {
    int iter, step; /* the next ones */
    double rho, zeta;
    uint64_t zetas;      /* hash of all of them */
    uint64_t products;   /* of the matrix and a vector */
    struct cg_grid grid; /* counts the bytes */
};

struct run {
    const struct cg_class *cls;
    int niter, rank, size;
    struct cg_matrix m;
    double *x, *z, *p, *r; /* this process's blocks; one allocation */
    double *q, *w, *room;  /* scratch of a step; one allocation */
    struct state st;
};

static int columns(const struct run *r) { return r->m.col1 - r->m.col0; }

static const struct cg_class *find_class(const char *name)
{
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
        if (name[0] == classes[i].name && name[1] == '\0')
            return &classes[i];
    return NULL;
}

/* Returns 0, or the index of the argument that makes no sense. */
static int parse(int argc, char **argv, struct run *r, bool *help)
{
    r->cls = find_class("S");
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        const struct cg_class *cls = find_class(strcmp(argv[i], "--class") ? argv[i] : value);
        if (!strcmp(argv[i], "--help"))
            *help = true;
        else if (!strcmp(argv[i], "--iters") && (r->niter = parse_count(value)) > 0)
            i++;
        else if (cls)
            i += !strcmp(argv[i], "--class");
        else
            return i;
        r->cls = cls ? cls : r->cls;
    }
    if (r->niter == 0)
        r->niter = r->cls->niter;
    return 0;
}

/* q = A v, of which each process gets its block. */
static void multiply(struct run *r, const double *v)
{
    const struct cg_matrix *m = &r->m;

    for (int i = 0; i < m->row1 - m->row0; i++) {
        double sum = 0;
        for (size_t k = m->start[i]; k < m->start[i + 1]; k++)
            sum += m->value[k] * v[m->col[k]];
        r->w[i] = sum;
    }
    cg_grid_product(&r->st.grid, m, r->w, r->room, r->q);
    r->st.products++;
}

static double dot(struct run *r, const double *a, const double *b)
{
    double mine = 0;
    for (int i = 0; i < columns(r); i++)
        mine += a[i] * b[i];
    return cg_grid_sum(&r->st.grid, mine);
}

/* The first guess at A z = x is z = 0, and x is its residual. */
static void begin_steps(struct run *r)
{
    for (int i = 0; i < columns(r); i++) {
        r->z[i] = 0;
        r->r[i] = r->p[i] = r->x[i];
    }
    r->st.rho = dot(r, r->r, r->r);
}

static void step(struct run *r)
{
    multiply(r, r->p);
    double alpha = r->st.rho / dot(r, r->p, r->q);
    for (int i = 0; i < columns(r); i++) {
        r->z[i] += alpha * r->p[i];
        r->r[i] -= alpha * r->q[i];
    }
    double rho = dot(r, r->r, r->r), beta = rho / r->st.rho;
    r->st.rho = rho;
    for (int i = 0; i < columns(r); i++)
        r->p[i] = r->r[i] + beta * r->p[i];
}

/* The residual that is left, the estimate of the eigenvalue, and z at length 1 as the next x. */
static void end_steps(struct run *r)
{
    struct state *st = &r->st;

    multiply(r, r->z);
    for (int i = 0; i < columns(r); i++)
        r->r[i] = r->x[i] - r->q[i];
    double residual = sqrt(dot(r, r->r, r->r));
    st->zeta = r->cls->shift + 1.0 / dot(r, r->x, r->z);
    double scale = 1.0 / sqrt(dot(r, r->z, r->z));
    for (int i = 0; i < columns(r); i++)
        r->x[i] = scale * r->z[i];
    st->zetas = hash(st->zetas, &st->zeta, sizeof st->zeta);
    if (r->rank == 0) {
        printf("iteration %4d  residual %20.14e  zeta %20.14e\n", st->iter, residual, st->zeta);
        fflush(stdout);
    }
}

static void body(void *arg)
{
    struct run *r = arg;
    struct state *st = &r->st;

    for (; st->iter <= r->niter; st->iter++, st->step = 0) {
        for (; st->step < STEPS; st->step++) {
            FTRMA_Safepoint();
            if (st->step == 0)
                begin_steps(r);
            step(r);
        }
        end_steps(r);
    }
}

static size_t scratch_bytes(const struct run *r)
{
    return ((size_t)columns(r) + 2 * (size_t)(r->m.row1 - r->m.row0)) * sizeof(double);
}

static bool allocate(struct run *r)
{
    size_t n = (size_t)columns(r), rows = (size_t)(r->m.row1 - r->m.row0);

    r->x = calloc(4 * n, sizeof *r->x);
    r->q = calloc(1, scratch_bytes(r));
    if (!r->x || !r->q || !cg_matrix_make(&r->m, r->cls))
        return false;
    r->z = r->x + n;
    r->p = r->z + n;
    r->r = r->p + n;
    r->w = r->q + n;
    r->room = r->w + rows;
    for (size_t i = 0; i < n; i++)
        r->x[i] = 1.0;
    return true;
}

static void setup(struct run *r)
{
    const struct cg_class *cls = r->cls;

    r->st.iter = 1;
    r->st.zetas = HASH_START;
    bool ok = allocate(r);
    ok = ok && FTRMA_Protect(&r->st, sizeof r->st) == MPI_SUCCESS;
    ok = ok && FTRMA_Protect(r->x, 4 * (size_t)columns(r) * sizeof *r->x) == MPI_SUCCESS;
    FTRMA_Unprotect(r->q, scratch_bytes(r)); /* said, so that nobody takes it for forgotten */
    if (!ok) {
        fprintf(stderr, "npb_cg: rank %d: no memory for class %c\n", r->rank, cls->name);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    if (r->rank == 0) {
        printf("npb_cg: class %c, na %d, %d iterations of %d steps, %d ranks as %d x %d\n",
               cls->name, cls->na, r->niter, STEPS, r->size, r->st.grid.nprows, r->st.grid.npcols);
        fflush(stdout);
    }
}

/* Data that a process has sent, for all products of the matrix and a vector. */
static bool sent_as_computed(const struct run *r, bool *exact)
{
    const struct cg_grid *g = &r->st.grid;
    uint64_t one = cg_grid_formula(g, &r->m, r->cls->na, exact);
    uint64_t formula = (uint64_t)(g->log2npcols + 1) * (uint64_t)(r->cls->na / g->npcols) * 8;

    return r->st.products == (uint64_t)r->niter * (STEPS + 1) &&
           g->vectors == r->st.products * one && (!*exact || one == formula);
}

/* Rank 0 says how it went. Returns the exit status. */
static int report(struct run *r, double seconds)
{
    const struct cg_class *cls = r->cls;
    const struct state *st = &r->st;
    bool exact, sent = sent_as_computed(r, &exact);
    uint64_t mine[2] = {hash(HASH_START, r->x, (size_t)columns(r) * sizeof *r->x), sent};
    uint64_t *all = malloc((size_t)r->size * sizeof mine);

    if (!all)
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    MPI_Gather(mine, 2, MPI_UINT64_T, all, 2, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    bool zeta = fabs(st->zeta - cls->zeta) / cls->zeta <= 1e-10;
    for (int k = 0; r->rank == 0 && k < r->size; k++)
        sent = sent && all[2 * k + 1];
    bool good = sent && (zeta || r->niter != cls->niter);
    if (r->rank == 0) {
        double nz = (double)cls->nonzer * (cls->nonzer + 1);
        double flops = 2.0 * r->niter * cls->na * (3 + nz + STEPS * (5 + nz) + 3); /* NPB's count */
        printf("time: %.6f s\nMop/s: %.2f\n", seconds, 1e-6 * flops / seconds);
        printf("zeta: %.15g, NPB's is %.15g%s\n", st->zeta, cls->zeta,
               r->niter == cls->niter ? "" : " after another number of iterations");
        printf("sent: rank 0 %llu bytes of vectors a step and process, %s; and %llu in single "
               "numbers in all\n",
               (unsigned long long)(st->grid.vectors / st->products),
               !sent   ? "which is NOT what the sizes of its blocks give"
               : exact ? "exactly (log2 npcols + 1) * na / npcols * 8"
                       : "as the sizes of its blocks give",
               (unsigned long long)st->grid.sums);
        printf("result: %016llx\nVerification: %s\n",
               (unsigned long long)hash(st->zetas, all, (size_t)r->size * sizeof mine),
               good ? "SUCCESSFUL" : "FAILED");
    }
    free(all);
    return r->rank != 0 || good ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* The seconds that it takes; as NPB counts, without making the matrix. */
static double solve(struct run *r)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    if (FTRMA_Run(body, r) != MPI_SUCCESS) /* it has said why */
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    return MPI_Wtime() - start;
}

int main(int argc, char **argv)
{
    static struct run r; /* static: part of it is protected */
    bool help = false;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &r.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &r.size);
    int bad = parse(argc, argv, &r, &help);
    bool fits = cg_grid_init(&r.st.grid, &r.m, r.cls->na, r.rank, r.size);
    if (bad || help || !fits) {
        if (r.rank == 0 && bad)
            fprintf(stderr, "npb_cg: bad argument '%s', or its value\n%s", argv[bad], usage);
        else if (r.rank == 0 && help)
            fputs(usage, stdout);
        else if (r.rank == 0)
            fprintf(stderr, "npb_cg: %d ranks: their number must be a power of two\n", r.size);
        MPI_Finalize();
        return help && !bad ? EXIT_SUCCESS : 2;
    }
    setup(&r);
    double seconds = solve(&r);
    int status = report(&r, seconds);
    cg_matrix_free(&r.m);
    free(r.x);
    free(r.q);
    MPI_Finalize();
    return status;
}
