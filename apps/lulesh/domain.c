/* SPDX-License-Identifier: BSD-3-Clause
 *
 * domain.c - a process's part of the mesh: its memory, and how everything begins.
 */
#include "lulesh.h"

#include <math.h>
#include <stdlib.h>

#define EDGE 1.125        /* of the mesh */
#define BLAST 3.948746e+7 /* energy of the element at the origin when an edge has 45 elements */

static size_t state_fields_of_nodes(void) { return 2 * DIMS; }
static size_t state_fields_of_elems(void) { return 5; }

size_t domain_state_bytes(const struct domain *d)
{
    return sizeof(double) *
           (state_fields_of_nodes() * d->nodes + state_fields_of_elems() * d->elems);
}

/* The state first, in one piece. */
static bool allocate(struct domain *d)
{
    size_t plane = DIMS * (size_t)d->n * (size_t)d->n;
    size_t nodes = 3 * DIMS + 1, elems = 5 + 1 + 5 + 2 * DIMS;

    d->memory = calloc(nodes * d->nodes + elems * d->elems + 2 * FACES * plane, sizeof(double));
    if (!d->memory)
        return false;
    double **of_nodes[] = {&d->x[X], &d->x[Y], &d->x[Z], &d->v[X], &d->v[Y],
                           &d->v[Z], &d->f[X], &d->f[Y], &d->f[Z], &d->node_mass};
    double **of_elems[] = {&d->e,     &d->p,     &d->q,     &d->vol,   &d->ss,   &d->volume0,
                           &d->vnew,  &d->dvol,  &d->vdov,  &d->ql,    &d->qq,   &d->dx[X],
                           &d->dx[Y], &d->dx[Z], &d->dv[X], &d->dv[Y], &d->dv[Z]};
    double *at = d->memory;
    size_t state_nodes = state_fields_of_nodes();
    for (size_t i = 0; i < state_nodes; i++, at += d->nodes)
        *of_nodes[i] = at;
    for (size_t i = 0; i < elems; i++, at += d->elems)
        *of_elems[i] = at;
    for (size_t i = state_nodes; i < nodes; i++, at += d->nodes)
        *of_nodes[i] = at;
    for (int face = 0; face < FACES; face++, at += 2 * plane) {
        d->ghost[face] = at;
        d->plane[face] = at + plane;
    }
    return true;
}

static void place_nodes(struct domain *d)
{
    int along = d->n + 1;
    size_t at = 0;

    for (int k = 0; k < along; k++)
        for (int j = 0; j < along; j++)
            for (int i = 0; i < along; i++, at++) {
                int index[DIMS] = {i, j, k};
                for (int a = 0; a < DIMS; a++)
                    d->x[a][at] = EDGE * (d->pos[a] * d->n + index[a]) / (d->side * d->n);
            }
}

/* An eighth of an element's mass is at each of its corners. */
static void fill_elements(struct domain *d)
{
    double x[DIMS][CORNERS];
    size_t along = (size_t)d->n + 1;

    for (size_t e = 0; e < d->elems; e++) {
        gather(d, d->x, e, x);
        d->volume0[e] = element_volume(x);
        d->vol[e] = 1.0;
        size_t i = e % (size_t)d->n, j = e / (size_t)d->n % (size_t)d->n;
        size_t k = e / ((size_t)d->n * (size_t)d->n);
        size_t node = i + along * (j + along * k);
        for (size_t c = 0; c < CORNERS; c++)
            d->node_mass[node + (c & 1) + along * (c >> 1 & 1) + along * along * (c >> 2)] +=
                d->volume0[e] / 8.0;
    }
}

bool domain_create(struct domain *d)
{
    size_t n = (size_t)d->n;

    d->pos[X] = d->rank % d->side;
    d->pos[Y] = d->rank / d->side % d->side;
    d->pos[Z] = d->rank / (d->side * d->side);
    d->elems = n * n * n;
    d->nodes = (n + 1) * (n + 1) * (n + 1);
    if (!allocate(d) || !halo_create(d))
        return false;
    place_nodes(d);
    fill_elements(d);
    double scale = d->n * d->side / 45.0, blast = BLAST * scale * scale * scale;
    if (d->rank == 0)
        d->e[0] = blast;
    if (d->dt <= 0) /* the time that the blast needs for half an element, or so */
        d->dt = 0.5 * EDGE / (d->n * d->side) / sqrt(2.0 * blast);
    halo_sum(d, (double *[]){d->node_mass}, 1);
    return true;
}

void domain_destroy(struct domain *d)
{
    halo_destroy(&d->halo);
    free(d->memory);
}
