/* SPDX-License-Identifier: BSD-3-Clause
 *
 * run.c - a run of lulesh: its arguments, its cycles and what it prints.
 */
#include "hash.h"
#include "lulesh.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char usage[] =
    "usage: %s [-s SIZE] [-i CYCLES] [-d DT]\n"
    "  -s SIZE       elements along each edge of a rank's part, 1 to 500; default 10\n"
    "  -i CYCLES     time steps; default 20\n"
    "  -d DT         length of each; default what the blast needs for about half an element\n"
    "%s"
    "The number of ranks is the cube of a number.\n";

static bool parse_value(char option, const char *text, struct lulesh_run *r)
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
static int parse(int argc, char **argv, struct lulesh_run *r, bool *help)
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

void lulesh_cycle(struct lulesh_run *r)
{
    const char *why = one_cycle(&r->d);

    if (why) {
        fprintf(stderr, "%s: rank %d, cycle %ld: %s\n", r->name, r->rank, r->st.cycle, why);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    r->st.cycle++;
}

void lulesh_create(struct lulesh_run *r)
{
    struct domain *d = &r->d;

    d->halo.sent = &r->st.sent;
    if (!domain_create(d)) {
        fprintf(stderr, "%s: rank %d: no memory for %d^3 elements\n", r->name, r->rank, d->n);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    r->st.sent = 0; /* the cycles' alone */
    if (r->rank == 0) {
        printf("%s: %d ranks of %d^3 elements, %ld cycles of %.17g\n", r->name, r->size, d->n,
               r->cycles, d->dt);
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

int lulesh_report(struct lulesh_run *r, double seconds)
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

int lulesh_start(struct lulesh_run *r, const char *name, int argc, char **argv, const char *more)
{
    bool help = false;

    r->name = name;
    MPI_Comm_rank(MPI_COMM_WORLD, &r->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &r->size);
    int bad = parse(argc, argv, r, &help), side = (int)lround(cbrt(r->size));
    r->d.side = side;
    r->d.rank = r->rank;
    if (!bad && !help && side * side * side == r->size)
        return -1;
    if (r->rank == 0 && bad) {
        fprintf(stderr, "%s: bad argument '%s', or its value\n", name, argv[bad]);
        fprintf(stderr, usage, name, more);
    } else if (r->rank == 0 && help) {
        printf(usage, name, more);
    } else if (r->rank == 0) {
        fprintf(stderr, "%s: %d ranks: their number must be a cube (1, 8, 27, ..)\n", name,
                r->size);
    }
    return help && !bad ? EXIT_SUCCESS : 2;
}
