/* SPDX-License-Identifier: BSD-3-Clause
 *
 * halo.c - all messages of lulesh: sums at nodes that several processes have, and the gradients on
 * the other side of a face.
 */
#include "lulesh.h"

#include <stdlib.h>
#include <string.h>

enum { TAG_NODES = 0, TAG_PLANES = AROUND };

/* Along an axis the shared nodes lie at one end (-1, 1) or everywhere (0). */
static int first(int n, int d) { return d == 1 ? n : 0; }
static int last(int n, int d) { return d == -1 ? 0 : n; }

static bool list_nodes(struct neighbour *b, int n, const int by[DIMS])
{
    int along = n + 1;
    size_t most = 1;

    for (int a = 0; a < DIMS; a++)
        most *= by[a] == 0 ? (size_t)along : 1;
    b->node = malloc(most * sizeof *b->node);
    if (!b->node)
        return false;
    for (int k = first(n, by[Z]); k <= last(n, by[Z]); k++)
        for (int j = first(n, by[Y]); j <= last(n, by[Y]); j++)
            for (int i = first(n, by[X]); i <= last(n, by[X]); i++)
                b->node[b->count++] = i + along * (j + along * k);
    return true;
}

static bool list_surface(struct halo *h, int n)
{
    int along = n + 1;
    size_t most = (size_t)(along * along * along);

    h->node = malloc(most * sizeof *h->node);
    if (!h->node)
        return false;
    for (int k = 0; k < along; k++)
        for (int j = 0; j < along; j++)
            for (int i = 0; i < along; i++)
                if (i % n == 0 || j % n == 0 || k % n == 0)
                    h->node[h->shared++] = i + along * (j + along * k);
    return true;
}

/* One piece for all values. */
static bool allocate(struct halo *h)
{
    size_t total = DIMS * (size_t)h->shared;

    for (int o = 0; o < AROUND; o++)
        total += 2 * DIMS * (size_t)h->at[o].count;
    h->bytes = total * sizeof *h->own;
    h->own = malloc(h->bytes);
    if (!h->own)
        return false;
    double *at = h->own + DIMS * (size_t)h->shared;
    for (int o = 0; o < AROUND; o++) {
        h->at[o].in = at;
        h->at[o].out = at += DIMS * (size_t)h->at[o].count;
        at += DIMS * (size_t)h->at[o].count;
    }
    return true;
}

bool halo_create(struct domain *d)
{
    struct halo *h = &d->halo;

    for (int o = 0; o < AROUND; o++) {
        int by[DIMS] = {o % 3 - 1, o / 3 % 3 - 1, o / 9 - 1}, there = 0;
        h->at[o].rank = -1;
        for (int a = DIMS - 1; a >= 0; a--) {
            int pos = d->pos[a] + by[a];
            there = pos < 0 || pos >= d->side || there < 0 ? -1 : there * d->side + pos;
        }
        if (there < 0 || o == SELF)
            continue;
        h->at[o].rank = there;
        if (!list_nodes(&h->at[o], d->n, by))
            return false;
    }
    return list_surface(h, d->n) && allocate(h);
}

void halo_destroy(struct halo *h)
{
    for (int o = 0; o < AROUND; o++)
        free(h->at[o].node);
    free(h->node);
    free(h->own);
}

static void start(struct halo *h, double *in, double *out, size_t count, int rank, int tag_in,
                  int tag_out, MPI_Request reqs[], int *n)
{
    MPI_Irecv(in, (int)count, MPI_DOUBLE, rank, tag_in, MPI_COMM_WORLD, &reqs[(*n)++]);
    send_doubles(h->sender, out, (int)count, rank, tag_out, &reqs[(*n)++]);
    *h->sent += count * sizeof(double);
}

static void exchange_nodes(struct domain *d, double *const field[], int fields)
{
    MPI_Request reqs[2 * AROUND];
    int n = 0;

    for (int o = 0; o < AROUND; o++) {
        struct neighbour *b = &d->halo.at[o];
        if (b->rank < 0)
            continue;
        for (int f = 0; f < fields; f++)
            for (int i = 0; i < b->count; i++)
                b->out[f * b->count + i] = field[f][b->node[i]];
        /* where this process lies, seen from there, is the opposite: AROUND - 1 - o */
        start(&d->halo, b->in, b->out, (size_t)fields * (size_t)b->count, b->rank,
              TAG_NODES + AROUND - 1 - o, TAG_NODES + o, reqs, &n);
    }
    MPI_Waitall(n, reqs, MPI_STATUSES_IGNORE);
}

/* Neighbours are numbered in the order of their ranks, and SELF is in its place among them. */
void halo_sum(struct domain *d, double *const field[], int fields)
{
    struct halo *h = &d->halo;

    exchange_nodes(d, field, fields);
    for (int f = 0; f < fields; f++) {
        double *own = h->own + (size_t)f * (size_t)h->shared;
        for (int i = 0; i < h->shared; i++) {
            own[i] = field[f][h->node[i]];
            field[f][h->node[i]] = 0;
        }
        for (int o = 0; o < AROUND; o++) {
            const struct neighbour *b = &h->at[o];
            const int *node = o == SELF ? h->node : b->node;
            const double *part = o == SELF ? own : b->in + (size_t)f * (size_t)b->count;
            int count = o == SELF ? h->shared : b->count;
            for (int i = 0; i < count; i++)
                field[f][node[i]] += part[i];
        }
    }
}

/* All three gradients go across each face, as LULESH has it, though only the one along the axis of
 * the face is used there. */
static void pack_plane(struct domain *d, int face)
{
    int n = d->n, axis = face / 2, stride[DIMS] = {1, n, n * n};
    int from = face % 2 ? (n - 1) * stride[axis] : 0;
    int s1 = stride[axis == X ? Y : X], s2 = stride[axis == Z ? Y : Z];
    double *to = d->plane[face];

    for (int f = 0; f < DIMS; f++)
        for (int b = 0; b < n; b++)
            for (int a = 0; a < n; a++)
                *to++ = d->dv[f][from + a * s1 + b * s2];
}

void halo_planes(struct domain *d)
{
    static const int neighbour_of[FACES] = {12, 14, 10, 16, 4, 22};
    MPI_Request reqs[2 * FACES];
    int n = 0;

    for (int face = 0; face < FACES; face++) {
        int rank = d->halo.at[neighbour_of[face]].rank;
        if (rank < 0)
            continue;
        pack_plane(d, face);
        start(&d->halo, d->ghost[face], d->plane[face], DIMS * (size_t)d->n * (size_t)d->n, rank,
              TAG_PLANES + (face ^ 1), TAG_PLANES + face, reqs, &n);
    }
    MPI_Waitall(n, reqs, MPI_STATUSES_IGNORE);
}
