/* SPDX-License-Identifier: BSD-3-Clause
 *
 * neighbor.c - collectives among neighbours of grids (with edges, and dimensions of one and two
 * processes that close on themselves), graphs and distributed graphs (with several edges between
 * the same two, edges to oneself, and nobody's neighbours).
 */
#include "check.h"

enum { MOST = 16, WORDS = 3 };
enum kind { TORUS, SHEET, TUBE, GRAPH, DIST, KINDS };

/* The ranks from which a rank receives, and to which it sends, in the order of its buffers. */
struct lists {
    int nin, in[MOST], nout, out[MOST];
};

static void shape(enum kind kind, int *dims, int *periods)
{
    dims[0] = np == 4 ? 2 : 1;
    dims[1] = np / dims[0];
    periods[0] = kind != SHEET;
    periods[1] = kind == TORUS;
}

static void grid(enum kind kind, int rank, struct lists *l)
{
    int dims[2], periods[2], at[2];
    shape(kind, dims, periods);
    for (int k = 0; k < 4; k++) {
        int d = k / 2, n = dims[d];
        at[0] = rank / dims[1];
        at[1] = rank % dims[1];
        at[d] += k % 2 ? 1 : -1;
        int out = at[d] < 0 || at[d] >= n;
        at[d] = (at[d] + n) % n;
        l->in[k] = l->out[k] = out && !periods[d] ? MPI_PROC_NULL : at[0] * dims[1] + at[1];
    }
    l->nin = l->nout = 4;
}

/* A ring both ways with a second edge forward, and rank 0 has two to itself. Symmetric, as MPI
 * demands. */
static void graph(int rank, struct lists *l)
{
    int n = 0;
    for (int twice = 0; rank == 0 && twice < 2; twice++)
        l->out[n++] = 0;
    l->out[n++] = (rank + 1) % np;
    l->out[n++] = (rank + np - 1) % np;
    l->out[n++] = (rank + 1) % np;
    l->out[n++] = (rank + np - 1) % np;
    l->nin = l->nout = n;
    memcpy(l->in, l->out, sizeof l->in);
}

/* From each to all larger ones but one, to the next one twice more, and from the last one to
 * itself: not symmetric. */
static void dist(int rank, struct lists *l)
{
    l->nin = l->nout = 0;
    for (int r = rank + 2; r < np; r++)
        l->out[l->nout++] = r;
    for (int r = rank - 2; r >= 0; r--)
        l->in[l->nin++] = r;
    for (int twice = 0; rank + 1 < np && twice < 2; twice++)
        l->out[l->nout++] = rank + 1;
    for (int twice = 0; rank > 0 && twice < 2; twice++)
        l->in[l->nin++] = rank - 1;
    if (rank == np - 1)
        l->in[l->nin++] = l->out[l->nout++] = rank;
}

static struct lists lists_of(enum kind kind, int rank)
{
    struct lists l = {0};
    if (kind == GRAPH)
        graph(rank, &l);
    else if (kind == DIST)
        dist(rank, &l);
    else
        grid(kind, rank, &l);
    return l;
}

static MPI_Comm make(enum kind kind)
{
    int dims[2], periods[2], index[8], edges[64], n = 0;
    int *volatile unweighted =
        MPI_UNWEIGHTED; /* gcc takes the constant for an array that is too short */
    struct lists l;
    MPI_Comm c;

    switch (kind) {
    case GRAPH:
        for (int r = 0; r < np; r++) {
            l = lists_of(kind, r);
            memcpy(edges + n, l.out, (size_t)l.nout * sizeof *edges);
            index[r] = n += l.nout;
        }
        MPI_Graph_create(MPI_COMM_WORLD, np, index, edges, 0, &c);
        break;
    case DIST:
        l = lists_of(kind, me);
        MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, l.nin, l.in, unweighted, l.nout, l.out,
                                       unweighted, MPI_INFO_NULL, 0, &c);
        break;
    default: shape(kind, dims, periods); MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &c);
    }
    return c;
}

/* The index, in its sender's list, of the edge that comes in here as the i-th. */
static int matching(enum kind kind, const struct lists *mine, int i)
{
    if (kind < GRAPH) /* what goes down arrives from above */
        return i ^ 1;
    struct lists theirs = lists_of(kind, mine->in[i]);
    int before = 0;
    for (int k = 0; k < i; k++)
        before += mine->in[k] == mine->in[i];
    for (int k = 0; k < theirs.nout; k++)
        if (theirs.out[k] == me && before-- == 0)
            return k;
    CHECK(!"an edge without a beginning");
    return -1;
}

static int word(int rank, int k, int j) { return 1000 * rank + 10 * k + j; }
static int words(int rank, int k)
{
    return (rank + k) % (WORDS + 1);
} /* of the varying forms; none is among them */

static int *row(int *table, int i) { return table + i * WORDS; }
static void blank(int *in)
{
    for (int i = 0; i < MOST * WORDS; i++)
        in[i] = -1;
}

/* Part i is what src sent over its edge k, n words; the rest is unchanged. */
static void check_row(const int *in, int src, int k, int n)
{
    for (int j = 0; j < WORDS; j++)
        CHECK(in[j] == (src != MPI_PROC_NULL && j < n ? word(src, k, j) : -1));
}

static void equal(enum kind kind, MPI_Comm c, const struct lists *l)
{
    int out[MOST * WORDS], in[MOST * WORDS];
    for (int k = 0; k < l->nout; k++)
        for (int j = 0; j < WORDS; j++)
            row(out, k)[j] = word(me, k, j);
    blank(in);
    MPI_Neighbor_alltoall(out, WORDS, MPI_INT, in, WORDS, MPI_INT, c);
    for (int i = 0; i < l->nin; i++)
        check_row(row(in, i), l->in[i], l->in[i] == MPI_PROC_NULL ? 0 : matching(kind, l, i),
                  WORDS);
    for (int j = 0; j < WORDS; j++)
        out[j] = word(me, 7, j);
    blank(in);
    MPI_Neighbor_allgather(out, WORDS, MPI_INT, in, WORDS, MPI_INT, c);
    for (int i = 0; i < l->nin; i++)
        check_row(row(in, i), l->in[i], 7, WORDS);
}

static void varying(enum kind kind, MPI_Comm c, const struct lists *l)
{
    int out[MOST * WORDS], in[MOST * WORDS], scounts[MOST], sdispls[MOST], rcounts[MOST],
        rdispls[MOST], from[MOST];
    for (int k = 0; k < l->nout; k++) {
        scounts[k] = words(me, k);
        sdispls[k] = k * WORDS;
        for (int j = 0; j < WORDS; j++)
            row(out, k)[j] = word(me, k, j);
    }
    for (int i = 0; i < l->nin; i++) { /* laid down backwards */
        from[i] = l->in[i] == MPI_PROC_NULL ? 0 : matching(kind, l, i);
        rcounts[i] = l->in[i] == MPI_PROC_NULL ? 2 : words(l->in[i], from[i]);
        rdispls[i] = (l->nin - 1 - i) * WORDS;
    }
    blank(in);
    MPI_Neighbor_alltoallv(out, scounts, sdispls, MPI_INT, in, rcounts, rdispls, MPI_INT, c);
    for (int i = 0; i < l->nin; i++)
        check_row(in + rdispls[i], l->in[i], from[i], rcounts[i]);
    for (int i = 0; i < l->nin; i++)
        rcounts[i] = l->in[i] == MPI_PROC_NULL ? 1 : words(l->in[i], 2);
    blank(in);
    MPI_Neighbor_allgatherv(row(out, l->nout > 2 ? 2 : 0), l->nout ? words(me, 2) : 0, MPI_INT, in,
                            rcounts, rdispls, MPI_INT, c);
    for (int i = 0; i < l->nin; i++) {
        struct lists theirs = lists_of(kind, l->in[i] == MPI_PROC_NULL ? 0 : l->in[i]);
        check_row(in + rdispls[i], l->in[i], theirs.nout > 2 ? 2 : 0, rcounts[i]);
    }
}

/* Every other word of a matrix; what is contiguous here has holes there. */
static void typed(enum kind kind, MPI_Comm c, const struct lists *l)
{
    MPI_Datatype holes, stypes[MOST], rtypes[MOST];
    MPI_Aint sdispls[MOST], rdispls[MOST];
    int out[MOST * 2 * WORDS], in[MOST * 2 * WORDS], scounts[MOST], rcounts[MOST];
    MPI_Type_vector(WORDS, 1, 2, MPI_INT, &holes);
    MPI_Type_commit(&holes);
    for (int k = 0; k < l->nout; k++) {
        stypes[k] = k % 2 ? holes : MPI_INT;
        scounts[k] = k % 2 ? 1 : WORDS;
        sdispls[k] = (MPI_Aint)(k * 2 * WORDS * (int)sizeof(int));
        for (int j = 0; j < WORDS; j++)
            out[k * 2 * WORDS + (k % 2 ? 2 * j : j)] = word(me, k, j);
    }
    for (int i = 0; i < l->nin; i++) {
        rtypes[i] = i % 2 ? MPI_INT : holes;
        rcounts[i] = i % 2 ? WORDS : 1;
        rdispls[i] = (MPI_Aint)(i * 2 * WORDS * (int)sizeof(int));
    }
    memset(in, -1, sizeof in);
    MPI_Neighbor_alltoallw(out, scounts, sdispls, stypes, in, rcounts, rdispls, rtypes, c);
    for (int i = 0; i < l->nin; i++) {
        int got[WORDS], *part = in + i * 2 * WORDS;
        for (int j = 0; j < WORDS; j++)
            got[j] = part[i % 2 ? j : 2 * j];
        check_row(got, l->in[i], l->in[i] == MPI_PROC_NULL ? 0 : matching(kind, l, i), WORDS);
        CHECK(part[i % 2 ? WORDS : 1] == -1);
    }
    MPI_Type_free(&holes);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    for (enum kind kind = 0; kind < KINDS; kind++) {
        struct lists l = lists_of(kind, me);
        MPI_Comm c = make(kind), dup;
        MPI_Comm_dup(c, &dup);
        MPI_Comm_free(&c);
        for (int again = 0; again < 2; again++) {
            equal(kind, dup, &l);
            varying(kind, dup, &l);
            typed(kind, dup, &l);
        }
        MPI_Comm_free(&dup);
    }
    return finish();
}
