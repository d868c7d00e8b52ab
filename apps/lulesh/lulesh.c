/* SPDX-License-Identifier: BSD-3-Clause
 *
 * lulesh - the hydrodynamics of LLNL's proxy LULESH with a fixed time step: a blast wave from a
 * corner of a cube. Forces and masses of nodes go to 26 neighbours, gradients to 6; there is no
 * collective communication in the loop.
 *
 * An ordinary MPI program; what makes it outlive lost processes are the lines with FTRMA_ in this
 * file. Protected are what lives from one cycle to the next and the number of the cycle; constants
 * are made again by setup, and the rest is filled by each cycle.
 */
#include "lulesh.h"
#include "hash.h"

#include <errno.h>
#include <ftrma.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char usage[] =
    "usage: lulesh [-s SIZE] [-i CYCLES] [-d DT]\n"
    "  -s SIZE       elements along each edge of a rank's part, 1 to 500; default 10\n"
    "  -i CYCLES     time steps; default 20\n"
    "  -d DT         length of each; default what the blast needs for about half an element\n"
    "The number of ranks is the cube of a number.\n";

struct state {
    long cycle; /* the next */
    uint64_t sent;
};

struct run {
    int rank, size;
    long cycles;
    struct domain d;
    struct state st;
};

static bool parse_value(char option, const char *text, struct run *r)
{
    char *end;

    errno = 0;
    if (option == 'd') {
        r->d.dt = strtod(text, &end);
        return end != text && *end == '\0' && r->d.dt > 0 && r->d.dt < 1;
    }
    long v = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || v < 1)
        return false;
    if (option == 's')
        r->d.n = (int)(v <= 500 ? v : 0);
    else
        r->cycles = v;
    return option == 's' ? r->d.n > 0 : option == 'i';
}

/* Returns 0, or the index of the argument that makes no sense. */
static int parse(int argc, char **argv, struct run *r, bool *help)
{
    r->d.n = 10;
    r->cycles = 20;
    for (int i = 1; i < argc; i++) {
        const char *a = argv[i];
        if (!strcmp(a, "--help"))
            *help = true;
        else if (a[0] != '-' || a[1] == '\0' || a[2] != '\0' || i + 1 == argc ||
                 !parse_value(a[1], argv[i + 1], r))
            return i;
        else
            i++;
    }
    return 0;
}

static const char *one_cycle(struct domain *d)
{
    const char *why = move_nodes(d);
    if (!why)
        why = move_elements(d);
    if (!why)
        why = viscosity(d);
    if (!why)
        energy(d);
    return why;
}

static void body(void *arg)
{
    struct run *r = arg;

    for (; r->st.cycle < r->cycles; r->st.cycle++) {
        FTRMA_Safepoint();
        const char *why = one_cycle(&r->d);
        if (why) {
            fprintf(stderr, "lulesh: rank %d, cycle %ld: %s\n", r->rank, r->st.cycle, why);
            MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
        }
    }
}

static void setup(struct run *r)
{
    struct domain *d = &r->d;
    d->halo.sent = &r->st.sent;
    bool ok = domain_create(d);
    r->st.sent = 0; /* the cycles' alone */
    ok = ok && FTRMA_Protect(&r->st, sizeof r->st) == MPI_SUCCESS;
    ok = ok && FTRMA_Protect(d->x[X], d->state_bytes) == MPI_SUCCESS;
    FTRMA_Unprotect(d->scratch, d->scratch_bytes); /* said, so that nobody takes it for forgotten */
    FTRMA_Unprotect(d->halo.own, d->halo.bytes);
    if (!ok) {
        fprintf(stderr, "lulesh: rank %d: no memory for %d^3 elements\n", r->rank, d->n);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    if (r->rank == 0) {
        printf("lulesh: %d ranks of %d^3 elements, %ld cycles of %.17g\n", r->size, d->n, r->cycles,
               d->dt);
        fflush(stdout);
    }
}

/* The messages of a process in a cycle: DIMS fields of the nodes that it shares, and across
 * faces. */
static uint64_t sent_in_cycle(const struct domain *d)
{
    uint64_t numbers = 0;

    for (int o = 0; o < AROUND; o++) {
        int off = (o % 3 != 1) + (o / 3 % 3 != 1) + (o / 9 != 1); /* 1: a face, 3: a corner */
        if (d->halo.at[o].rank < 0)
            continue;
        numbers += DIMS * (uint64_t)pow(d->n + 1, DIMS - off);
        numbers += off == 1 ? DIMS * (uint64_t)d->n * (uint64_t)d->n : 0;
    }
    return numbers * sizeof(double);
}

/* The blast looks the same along all axes: the greatest relative difference in plane 0. */
static double asymmetry(const struct domain *d)
{
    double most = 0;
    for (int j = 0; j < d->n; j++)
        for (int i = 0; i < j; i++) {
            double a = d->e[i + j * d->n], b = d->e[j + i * d->n];
            if (a != b)
                most = fmax(most, fabs(a - b) / fmax(fabs(a), fabs(b)));
        }
    return most;
}

/* Rank 0 says how it went. Returns the exit status. */
static int report(struct run *r, double seconds)
{
    const struct domain *d = &r->d;
    bool sent = r->st.sent == (uint64_t)r->cycles * sent_in_cycle(d);
    uint64_t mine[2] = {hash(HASH_START, d->x[X], d->state_bytes), sent};
    uint64_t *all = malloc((size_t)r->size * sizeof mine);

    if (!all)
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    MPI_Gather(mine, 2, MPI_UINT64_T, all, 2, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    for (int k = 0; r->rank == 0 && k < r->size; k++)
        sent = sent && all[2 * k + 1];
    double e = d->e[0], skew = asymmetry(d);
    bool good = sent && isfinite(e) && e > 0 && skew < 1e-8;
    if (r->rank == 0) {
        printf("time: %.6f s\n", seconds);
        printf("final origin energy: %12.6e (%a)\n", e, e);
        printf("asymmetry: %.1e\n", skew);
        printf("sent: rank 0 %llu bytes a cycle, %s\n",
               (unsigned long long)(r->st.sent / (uint64_t)r->cycles),
               sent ? "at all ranks what the surfaces of their parts give"
                    : "which is NOT what the surface of its part gives");
        printf("result: %016llx\nVerification: %s\n",
               (unsigned long long)hash(HASH_START, all, (size_t)r->size * sizeof mine),
               good ? "SUCCESSFUL" : "FAILED");
    }
    free(all);
    return r->rank != 0 || good ? EXIT_SUCCESS : EXIT_FAILURE;
}

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
    int bad = parse(argc, argv, &r, &help), side = (int)lround(cbrt(r.size));
    if (bad || help || side * side * side != r.size) {
        if (r.rank == 0 && bad)
            fprintf(stderr, "lulesh: bad argument '%s', or its value\n%s", argv[bad], usage);
        else if (r.rank == 0 && help)
            fputs(usage, stdout);
        else if (r.rank == 0)
            fprintf(stderr, "lulesh: %d ranks: their number must be a cube (1, 8, 27, ..)\n",
                    r.size);
        MPI_Finalize();
        return help && !bad ? EXIT_SUCCESS : 2;
    }
    r.d.side = side;
    r.d.rank = r.rank;
    setup(&r);
    double seconds = solve(&r);
    int status = report(&r, seconds);
    domain_destroy(&r.d);
    MPI_Finalize();
    return status;
}
