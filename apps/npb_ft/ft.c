/* SPDX-License-Identifier: BSD-3-Clause
 *
 * npb_ft - the NAS Parallel Benchmark FT over MPI-3 one-sided communication.
 *
 * An ordinary MPI program; what makes it outlive lost processes are the FTRMA_ calls in this file.
 * Protected is the spectrum (one of three arrays of the size of the field), as long as there is
 * something in it that is needed, and a small struct of state; everything else is scratch, the
 * window too, or made again by setup. When an iteration is computed again without ftrun, its
 * checksum line is printed again.
 */
#include "ft.h"

#include <ftrma.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "hash.h"

static const char usage[] =
    "usage: npb_ft [CLASS | --class CLASS] [--iters N]\n"
    "  CLASS         S (64x64x64, 6 iterations), W (128x128x32, 6), A (256x256x128, 6),\n"
    "                B (512x256x256, 20) or C (512x512x512, 20); default S\n"
    "  --iters N     number of iterations; those that the class knows are verified\n";

/* The part of body's past that it needs later. Protected, so that body can be entered again. */
struct state {
    int phase;         /* 0: u holds nothing yet, 1: u is the spectrum */
    int iter;          /* next iteration */
    int mismatches;    /* checksums that are not NPB's; rank 0 */
    uint64_t sums;     /* hash of all checksums so far; rank 0 */
    uint64_t solution; /* hash of my part of the last iteration's field */
};

struct run {
    const struct ft_class *cls;
    int niter, rank, size;
    struct ft_pencil pencil;
    void *room; /* scratch of rank 0: sizeof(cplx) from each rank */
    struct state st;
};

/* Returns 0, or the index of the argument that makes no sense. */
static int parse(int argc, char **argv, struct run *r, bool *help)
{
    r->cls = ft_class_find("S");
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        const struct ft_class *cls = ft_class_find(strcmp(argv[i], "--class") ? argv[i] : value);
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

/* NPB's checksum: 1024 points all over the grid. Added in rank order by rank 0, where alone the
 * result is valid: no bit of it depends on how an MPI library arranges its reductions. */
static cplx checksum(const struct run *r, const cplx *u)
{
    const struct ft_class *cls = r->cls;
    const struct ft_pencil *p = &r->pencil;
    cplx *parts = r->room, mine = 0.0, sum = 0.0;
    for (int j = 1; j <= 1024; j++) {
        int x = j % cls->nx, y = 3 * j % cls->ny - p->y0, z = 5 * j % cls->nz - p->z0;
        if (y >= 0 && y < p->ly1 && z >= 0 && z < p->lz)
            mine += u[((size_t)z * (size_t)p->ly1 + (size_t)y) * (size_t)cls->nx + (size_t)x];
    }
    MPI_Gather(&mine, 1, MPI_C_DOUBLE_COMPLEX, parts, 1, MPI_C_DOUBLE_COMPLEX, 0, MPI_COMM_WORLD);
    for (int k = 0; r->rank == 0 && k < r->size; k++)
        sum += parts[k];
    return sum / ((double)cls->nx * cls->ny * cls->nz);
}

static void body(void *arg)
{
    struct run *r = arg;
    struct state *st = &r->st;
    const struct ft_pencil *p = &r->pencil;
    if (st->phase == 0) {
        ft_initial_field(r->cls, p->u, p->y0, p->ly1, p->z0, p->lz);
        ft_pencil_transform(&r->pencil, false);
    }
    st->phase = 1;
    FTRMA_Protect(p->u, p->local * sizeof(cplx)); /* from here on */
    for (; st->iter <= r->niter; st->iter++) {
        FTRMA_Safepoint();
        const cplx *field = ft_pencil_transform(&r->pencil, true);
        cplx sum = checksum(r, field);
        if (r->rank == 0) {
            st->mismatches += st->iter <= r->cls->niter && !ft_class_verify(r->cls, st->iter, sum);
            st->sums = hash(st->sums, &sum, sizeof sum);
            printf("iteration %4d  checksum %20.12e %20.12e\n", st->iter, creal(sum), cimag(sum));
            fflush(stdout);
        }
        if (st->iter ==
            r->niter) /* here, because the field itself is scratch that no checkpoint holds */
            st->solution = hash(HASH_START, field, p->local * sizeof(cplx));
    }
    FTRMA_Unprotect(p->u,
                    p->local * sizeof(cplx)); /* the checkpoint of body's end need not hold it */
}

static void setup(struct run *r, int p1, int p2)
{
    const struct ft_class *cls = r->cls;
    r->st = (struct state){.iter = 1, .sums = HASH_START};
    bool ok = ft_pencil_init(&r->pencil, cls, r->rank, p1, p2);
    r->room = malloc((size_t)r->size * sizeof(cplx));
    ok = ok && r->room;
    int refused = ok ? FTRMA_Protect(&r->st, sizeof r->st) : MPI_SUCCESS;
    if (ok && refused == MPI_SUCCESS)
        refused = FTRMA_Protect(r->pencil.u, r->pencil.local * sizeof(cplx));
    FTRMA_Unprotect(r->pencil.u, r->pencil.local * sizeof(cplx)); /* body fills it */
    FTRMA_Unprotect(r->pencil.win_base, r->pencil.win_points * sizeof(cplx));
    if (!ok || refused != MPI_SUCCESS) {
        if (ok)
            fprintf(stderr, "npb_ft: rank %d: FTRMA_Protect returned %d\n", r->rank, refused);
        else
            fprintf(stderr, "npb_ft: rank %d: no memory for class %c\n", r->rank, cls->name);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (r->rank == 0) {
        printf("npb_ft: class %c, grid %dx%dx%d, %d iterations, %d ranks as %dx%d pencils\n",
               cls->name, cls->nx, cls->ny, cls->nz, r->niter, r->size, p1, p2);
        fflush(stdout);
    }
}

/* The seconds that it takes. As NPB counts: the starting field, the forward transform and the
 * iterations. */
static double solve(struct run *r)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    if (FTRMA_Run(body, r) != MPI_SUCCESS) /* it has said why */
        MPI_Abort(MPI_COMM_WORLD, 1);
    return MPI_Wtime() - start;
}

/* Rank 0 says how it went. Returns the exit status. */
static int report(const struct run *r, double seconds)
{
    uint64_t mine = r->st.solution;
    MPI_Gather(&mine, 1, MPI_UINT64_T, r->room, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (r->rank != 0)
        return EXIT_SUCCESS;
    uint64_t result = hash(r->st.sums, r->room, (size_t)r->size * sizeof mine);
    double points = (double)r->cls->nx * r->cls->ny * r->cls->nz;
    double flops = points * (14.8157 + 7.19641 * log(points) +
                             (5.23518 + 7.21113 * log(points)) * r->niter); /* NPB's count */
    bool verified = r->st.mismatches == 0;
    printf("time: %.6f s\nMop/s: %.2f\nresult: %016llx\nVerification: %s\n", seconds,
           1.0e-6 * flops / seconds, (unsigned long long)result,
           verified ? "SUCCESSFUL" : "FAILED");
    return verified ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    static struct run r; /* static: part of it is protected */
    bool help = false;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &r.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &r.size);

    int bad = parse(argc, argv, &r, &help);
    int p1 = ft_pencil_choose(r.cls, r.size);
    if (bad || help || p1 == 0) {
        if (r.rank == 0 && bad)
            fprintf(stderr, "npb_ft: bad argument '%s', or its value\n%s", argv[bad], usage);
        else if (r.rank == 0 && help)
            fputs(usage, stdout);
        else if (r.rank == 0)
            fprintf(stderr,
                    "npb_ft: %d ranks are no P1 x P2 that cuts %dx%dx%d (P1 divides the first two, "
                    "P2 the last two)\n",
                    r.size, r.cls->nx, r.cls->ny, r.cls->nz);
        MPI_Finalize();
        return help && !bad ? EXIT_SUCCESS : 2;
    }

    setup(&r, p1, r.size / p1);
    int status = report(&r, solve(&r));
    ft_pencil_finish(&r.pencil);
    free(r.room);
    MPI_Finalize();
    return status;
}
