/* SPDX-License-Identifier: BSD-3-Clause
 *
 * grid.c - the grid of processes of NPB CG, and all its messages. Partners exchange what they have,
 * and both compute the same sum of two numbers: the bits of a result are the same at all processes
 * of a row, and in each run.
 */
#include "cg.h"

#include <assert.h>

enum { TAG_HALVE = 1, TAG_ADD, TAG_TRANSPOSE, TAG_SUM };

static int bound(int na, int blocks, int b) { return (int)((int64_t)na * b / blocks); }

bool cg_grid_init(struct cg_grid *g, struct cg_matrix *m, int na, int rank, int size)
{
    *g = (struct cg_grid){.rank = rank, .size = size, .nprows = 1, .npcols = 1};
    while (g->nprows * g->npcols < size) {
        if (g->npcols == g->nprows) {
            g->npcols *= 2;
            g->log2npcols++;
        } else {
            g->nprows *= 2;
        }
    }
    if (g->nprows * g->npcols != size || g->npcols > na)
        return false;
    int wide = g->npcols / g->nprows; /* blocks in a row of processes */
    g->row = rank / g->npcols;
    g->col = rank % g->npcols;
    m->col0 = bound(na, g->npcols, g->col);
    m->col1 = bound(na, g->npcols, g->col + 1);
    m->row0 = bound(na, g->npcols, g->row * wide);
    m->row1 = bound(na, g->npcols, (g->row + 1) * wide);
    int kept = g->row * wide + g->col % wide; /* the block whose sum comes to be here */
    g->keep0 = bound(na, g->npcols, kept) - m->row0;
    g->keep1 = bound(na, g->npcols, kept + 1) - m->row0;
    g->partner = g->col / wide * g->npcols + kept; /* whose partner this process is in turn */
    return true;
}

static void exchange(const struct cg_grid *g, const double *out, int nout, double *in, int nin,
                     int with, int tag)
{
    MPI_Request req;

    MPI_Irecv(in, nin, MPI_DOUBLE, with, tag, MPI_COMM_WORLD, &req);
    send_doubles(g->sender, out, nout, with, tag, NULL);
    MPI_Wait(&req, MPI_STATUS_IGNORE);
}

static void exchange_vectors(const struct cg_grid *g, const double *out, int nout, double *in,
                             int nin, int with, int tag)
{
    exchange(g, out, nout, in, nin, with, tag);
    g->sent->vectors += (uint64_t)nout * sizeof *out;
}

void cg_grid_product(const struct cg_grid *g, const struct cg_matrix *m, double *w, double *room,
                     double *q)
{
    int rows = m->row1 - m->row0, n = g->keep1 - g->keep0, first = 1;
    double *mine = w + g->keep0;

    if (g->npcols > g->nprows) { /* halves: mine for the other's */
        int other = g->keep0 > 0 ? 0 : g->keep1;
        exchange_vectors(g, w + other, rows - n, room, n, g->rank ^ 1, TAG_HALVE);
        for (int i = 0; i < n; i++)
            mine[i] += room[i];
        first = 2;
    }
    for (int bit = first; bit < g->npcols; bit *= 2) {
        exchange_vectors(g, mine, n, room, n, g->rank ^ bit, TAG_ADD);
        for (int i = 0; i < n; i++)
            mine[i] += room[i];
    }
    int cols = m->col1 - m->col0;
    if (g->size > 1) { /* also when the partner is this process itself */
        exchange_vectors(g, mine, n, q, cols, g->partner, TAG_TRANSPOSE);
        return;
    }
    assert(n == cols);
    for (int i = 0; i < n; i++)
        q[i] = mine[i];
}

double cg_grid_sum(const struct cg_grid *g, double mine)
{
    for (int bit = 1; bit < g->npcols; bit *= 2) {
        double theirs;
        exchange(g, &mine, 1, &theirs, 1, g->rank ^ bit, TAG_SUM);
        g->sent->sums += sizeof mine;
        mine += theirs;
    }
    return mine;
}

uint64_t cg_grid_formula(const struct cg_grid *g, const struct cg_matrix *m, int na, bool *exact)
{
    uint64_t n = (uint64_t)(g->keep1 - g->keep0), stages = (uint64_t)g->log2npcols;
    uint64_t rest = (uint64_t)(m->row1 - m->row0) - n; /* of the halves, the other's */

    *exact = g->size > 1 && na % g->npcols == 0;
    if (g->size == 1)
        return 0;
    return ((g->npcols > g->nprows ? rest + (stages - 1) * n : stages * n) + n) * sizeof(double);
}
