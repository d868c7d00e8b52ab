/* SPDX-License-Identifier: BSD-3-Clause
 *
 * solver.c - the inverse power method of NPB CG, 25 steps of conjugate gradients an iteration: its
 * arguments, its steps and what it prints.
 */
#include "arguments.h"
#include "cg.h"
#include "hash.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char usage[] =
    "usage: %s [CLASS | --class CLASS] [--iters N]\n"
    "  CLASS         S (na 1400, 15 iterations), W (7000, 15), A (14000, 15), B (75000, 75),\n"
    "                C (150000, 75) or D (1500000, 100); default S\n"
    "  --iters N     number of iterations; zeta is verified if there are as many as in the class\n"
    "%s"
    "The number of ranks is a power of two.\n";

static const struct cg_class classes[] = {
    {'S', 1400, 7, 15, 10, 8.5971775078648},     {'W', 7000, 8, 15, 12, 10.362595087124},
    {'A', 14000, 11, 15, 20, 17.130235054029},   {'B', 75000, 13, 75, 60, 22.712745482631},
    {'C', 150000, 15, 75, 110, 28.973605592845}, {'D', 1500000, 21, 100, 500, 52.514532105794},
};

static int columns(const struct cg_run *r) { return r->m.col1 - r->m.col0; }

static const struct cg_class *find_class(const char *name)
{
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
        if (name[0] == classes[i].name && name[1] == '\0')
            return &classes[i];
    return NULL;
}

/* Returns 0, or the index of the argument that makes no sense. */
static int parse(int argc, char **argv, struct cg_run *r, bool *help)
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
static void multiply(struct cg_run *r, const double *v)
{
    const struct cg_matrix *m = &r->m;

    for (int i = 0; i < m->row1 - m->row0; i++) {
        double sum = 0;
        for (size_t k = m->start[i]; k < m->start[i + 1]; k++)
            sum += m->value[k] * v[m->col[k]];
        r->w[i] = sum;
    }
    cg_grid_product(&r->grid, m, r->w, r->room, r->q);
    r->st.products++;
}

static double dot(struct cg_run *r, const double *a, const double *b)
{
    double mine = 0;
    for (int i = 0; i < columns(r); i++)
        mine += a[i] * b[i];
    return cg_grid_sum(&r->grid, mine);
}

/* The first guess at A z = x is z = 0, and x is its residual. */
static void begin_steps(struct cg_run *r)
{
    for (int i = 0; i < columns(r); i++) {
        r->z[i] = 0;
        r->r[i] = r->p[i] = r->x[i];
    }
    r->st.rho = dot(r, r->r, r->r);
}

static void step(struct cg_run *r)
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
static void end_steps(struct cg_run *r)
{
    struct cg_state *st = &r->st;

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

void cg_step(struct cg_run *r)
{
    struct cg_state *st = &r->st;

    if (st->step == 0)
        begin_steps(r);
    step(r);
    if (++st->step < CG_STEPS)
        return;
    end_steps(r);
    st->iter++;
    st->step = 0;
}

size_t cg_vector_bytes(const struct cg_run *r) { return 4 * (size_t)columns(r) * sizeof *r->x; }

size_t cg_scratch_bytes(const struct cg_run *r)
{
    return ((size_t)columns(r) + 2 * (size_t)(r->m.row1 - r->m.row0)) * sizeof(double);
}

static bool allocate(struct cg_run *r)
{
    size_t n = (size_t)columns(r), rows = (size_t)(r->m.row1 - r->m.row0);

    r->x = calloc(4 * n, sizeof *r->x);
    r->q = calloc(1, cg_scratch_bytes(r));
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

void cg_create(struct cg_run *r)
{
    const struct cg_class *cls = r->cls;

    r->st.iter = 1;
    r->st.zetas = HASH_START;
    r->grid.sent = &r->st.sent;
    if (!allocate(r)) {
        fprintf(stderr, "%s: rank %d: no memory for class %c\n", r->name, r->rank, cls->name);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    if (r->rank == 0) {
        printf("%s: class %c, na %d, %d iterations of %d steps, %d ranks as %d x %d\n", r->name,
               cls->name, cls->na, r->niter, CG_STEPS, r->size, r->grid.nprows, r->grid.npcols);
        fflush(stdout);
    }
}

void cg_destroy(struct cg_run *r)
{
    cg_matrix_free(&r->m);
    free(r->x);
    free(r->q);
}

/* Data that a process has sent, for all products of the matrix and a vector. */
static bool sent_as_computed(const struct cg_run *r, bool *exact)
{
    const struct cg_grid *g = &r->grid;
    uint64_t one = cg_grid_formula(g, &r->m, r->cls->na, exact);
    uint64_t formula = (uint64_t)(g->log2npcols + 1) * (uint64_t)(r->cls->na / g->npcols) * 8;

    return r->st.products == (uint64_t)r->niter * (CG_STEPS + 1) &&
           r->st.sent.vectors == r->st.products * one && (!*exact || one == formula);
}

int cg_report(struct cg_run *r, double seconds)
{
    const struct cg_class *cls = r->cls;
    const struct cg_state *st = &r->st;
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
        double flops =
            2.0 * r->niter * cls->na * (3 + nz + CG_STEPS * (5 + nz) + 3); /* NPB's count */
        printf("time: %.6f s\nMop/s: %.2f\n", seconds, 1e-6 * flops / seconds);
        printf("zeta: %.15g, NPB's is %.15g%s\n", st->zeta, cls->zeta,
               r->niter == cls->niter ? "" : " after another number of iterations");
        printf("sent: rank 0 %llu bytes of vectors a step and process, %s; and %llu in single "
               "numbers in all\n",
               (unsigned long long)(st->sent.vectors / st->products),
               !sent   ? "which is NOT what the sizes of its blocks give"
               : exact ? "exactly (log2 npcols + 1) * na / npcols * 8"
                       : "as the sizes of its blocks give",
               (unsigned long long)st->sent.sums);
        printf("result: %016llx\nVerification: %s\n",
               (unsigned long long)hash(st->zetas, all, (size_t)r->size * sizeof mine),
               good ? "SUCCESSFUL" : "FAILED");
    }
    free(all);
    return r->rank != 0 || good ? EXIT_SUCCESS : EXIT_FAILURE;
}

int cg_start(struct cg_run *r, const char *name, int argc, char **argv, const char *more)
{
    bool help = false;

    r->name = name;
    MPI_Comm_rank(MPI_COMM_WORLD, &r->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &r->size);
    int bad = parse(argc, argv, r, &help);
    if (!bad && !help && cg_grid_init(&r->grid, &r->m, r->cls->na, r->rank, r->size))
        return -1;
    if (r->rank == 0 && bad) {
        fprintf(stderr, "%s: bad argument '%s', or its value\n", name, argv[bad]);
        fprintf(stderr, usage, name, more);
    } else if (r->rank == 0 && help) {
        printf(usage, name, more);
    } else if (r->rank == 0) {
        fprintf(stderr, "%s: %d ranks: their number must be a power of two\n", name, r->size);
    }
    return help && !bad ? EXIT_SUCCESS : 2;
}
