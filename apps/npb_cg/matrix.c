/* SPDX-License-Identifier: BSD-3-Clause
 *
 * matrix.c - the sparse matrix of NPB CG: the sum of na outer products x x' of sparse random
 * vectors, weighted by a geometric series from 1 to RCOND, and a shifted diagonal.
 *
 * Each process draws all vectors and keeps what lies in its rows and columns. They are drawn twice:
 * to count, and to fill in.
 */
#include "cg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RCOND 0.1
#define SEED UINT64_C(314159265)
#define FACTOR UINT64_C(1220703125) /* 5^13 */

static double draw(uint64_t *x)
{
    *x = *x * FACTOR & ((UINT64_C(1) << 46) - 1); /* mod 2^64 first does no harm */
    return (double)*x * 0x1p-46;
}

struct vector {
    int n;
    int *at;
    double *value;
    int *drawn; /* [na]: the last vector that has an element there, from 1 */
};

/* The next vector: nonzer different places, and 1/2 at its own. */
static void next_vector(struct vector *v, const struct cg_class *cls, int own, uint64_t *x)
{
    int pow2 = 1;
    while (pow2 < cls->na)
        pow2 *= 2;
    v->n = 0;
    while (v->n < cls->nonzer) {
        double value = draw(x);
        int at = (int)(pow2 * draw(x));
        if (at >= cls->na || v->drawn[at] == own + 1)
            continue;
        v->drawn[at] = own + 1;
        v->at[v->n] = at;
        v->value[v->n++] = value;
    }
    int i = 0;
    while (i < v->n && v->at[i] != own)
        i++;
    v->at[i] = own;
    v->value[i] = 0.5;
    v->n += i == v->n;
}

static bool is_in(int at, int from, int to) { return at >= from && at < to; }

/* Goes through the elements of all outer products. fill: they are put where their row's m->start
 * says, which moves on; else m->start[row + 1] counts them. */
static void outer_products(struct cg_matrix *m, const struct cg_class *cls, struct vector *v,
                           bool fill)
{
    uint64_t x = SEED;
    double size = 1.0, ratio = pow(RCOND, 1.0 / cls->na);

    draw(&x);
    memset(v->drawn, 0, (size_t)cls->na * sizeof *v->drawn);
    for (int own = 0; own < cls->na; own++, size *= ratio) {
        next_vector(v, cls, own, &x);
        for (int j = 0; j < v->n; j++) {
            if (!is_in(v->at[j], m->col0, m->col1))
                continue;
            for (int i = 0; i < v->n; i++) {
                if (!is_in(v->at[i], m->row0, m->row1))
                    continue;
                if (!fill) {
                    m->start[v->at[i] - m->row0 + 1]++;
                    continue;
                }
                size_t at = m->start[v->at[i] - m->row0]++;
                m->col[at] = v->at[j] - m->col0;
                m->value[at] = size * v->value[j] * v->value[i];
                if (v->at[i] == own && v->at[j] == own)
                    m->value[at] += RCOND - cls->shift;
            }
        }
    }
}

/* Adds up the elements of a row that have the same place, in the order in which they were drawn.
 * place[]: of a column, where its element is among the merged ones, if that is in this row. */
static void merge_rows(struct cg_matrix *m, size_t *place)
{
    size_t rows = (size_t)(m->row1 - m->row0), from = 0, to = 0;

    for (int j = 0; j < m->col1 - m->col0; j++)
        place[j] = SIZE_MAX;
    for (size_t r = 0; r < rows; r++) {
        size_t end = m->start[r], first = to; /* fill has moved start to the end of its row */
        for (size_t i = from; i < end; i++) {
            size_t *p = &place[m->col[i]];
            if (*p != SIZE_MAX && *p >= first) {
                m->value[*p] += m->value[i];
                continue;
            }
            *p = to;
            m->col[to] = m->col[i];
            m->value[to++] = m->value[i];
        }
        from = end;
        m->start[r] = first;
    }
    m->start[rows] = to;
}

static bool make(struct cg_matrix *m, const struct cg_class *cls, struct vector *v, size_t *place)
{
    size_t rows = (size_t)(m->row1 - m->row0);

    outer_products(m, cls, v, false);
    for (size_t r = 0; r < rows; r++)
        m->start[r + 1] += m->start[r];
    size_t n = m->start[rows] + 1; /* malloc of nothing may be NULL */
    m->col = malloc(n * sizeof *m->col);
    m->value = malloc(n * sizeof *m->value);
    if (!m->col || !m->value)
        return false;
    outer_products(m, cls, v, true);
    merge_rows(m, place);
    return true;
}

bool cg_matrix_make(struct cg_matrix *m, const struct cg_class *cls)
{
    size_t longest = (size_t)cls->nonzer + 1;
    struct vector v = {.at = malloc(longest * sizeof *v.at),
                       .value = malloc(longest * sizeof *v.value),
                       .drawn = malloc((size_t)cls->na * sizeof *v.drawn)};
    size_t *place = malloc((size_t)(m->col1 - m->col0) * sizeof *place);

    m->start = calloc((size_t)(m->row1 - m->row0) + 1, sizeof *m->start);
    bool ok = v.at && v.value && v.drawn && place && m->start && make(m, cls, &v, place);
    free(v.at);
    free(v.value);
    free(v.drawn);
    free(place);
    return ok;
}

void cg_matrix_free(struct cg_matrix *m)
{
    free(m->start);
    free(m->col);
    free(m->value);
}
