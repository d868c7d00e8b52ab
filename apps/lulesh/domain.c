/* SPDX-License-Identifier: BSD-3-Clause
 *
 * domain.c - a process's part of the mesh: its memory, and how everything begins.
 */
#include "lulesh.h"

#include <math.h>
#include <stdlib.h>

#define EDGE 1.125        /* of the mesh */
#define BLAST 3.948746e+7 /* energy of the element at the origin when an edge has 45 elements */

enum { STATE = 2 * DIMS + 5, CONSTANT = 2 };

/* The state first, in one piece; then what is constant, then scratch. */
static bool allocate(struct domain *d)
{
    const size_t nodes = d->nodes, elems = d->elems, plane = DIMS * (size_t)d->n * (size_t)d->n;
    const struct {
        double **field;
        size_t count;
    } fields[] = {
        {&d->x[X], nodes},      {&d->x[Y], nodes},  {&d->x[Z], nodes},  {&d->v[X], nodes},
        {&d->v[Y], nodes},      {&d->v[Z], nodes},  {&d->e, elems},     {&d->p, elems},
        {&d->q, elems},         {&d->vol, elems},   {&d->ss, elems},    {&d->volume0, elems},
        {&d->node_mass, nodes}, {&d->f[X], nodes},  {&d->f[Y], nodes},  {&d->f[Z], nodes},
        {&d->vnew, elems},      {&d->dvol, elems},  {&d->vdov, elems},  {&d->ql, elems},
        {&d->qq, elems},        {&d->dx[X], elems}, {&d->dx[Y], elems}, {&d->dx[Z], elems},
        {&d->dv[X], elems},     {&d->dv[Y], elems}, {&d->dv[Z], elems},
    };
    const size_t n = sizeof fields / sizeof fields[0];
    size_t total = 2 * FACES * plane, at = 0;

    for (size_t i = 0; i < n; i++)
        total += fields[i].count;
    d->memory = calloc(total, sizeof(double));
    if (!d->memory)
        return false;
    for (size_t i = 0; i < n; i++) {
        *fields[i].field = d->memory + at;
        at += fields[i].count;
        if (i + 1 == STATE)
            d->state_bytes = at * sizeof(double);
        if (i + 1 == STATE + CONSTANT) {
            d->scratch = d->memory + at;
            d->scratch_bytes = (total - at) * sizeof(double);
        }
    }
    for (int face = 0; face < FACES; face++, at += 2 * plane) {
        d->ghost[face] = d->memory + at;
        d->plane[face] = d->ghost[face] + plane;
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
