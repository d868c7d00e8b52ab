/* SPDX-License-Identifier: BSD-3-Clause
 *
 * coll_inter.c - collectives over an intercommunicator of the first ranks (group 0) and the others,
 * which are one more if the number is odd: with one root in either group, and both ways at once.
 */
#include "errors.h"

enum { WORDS = 3, MOST = 8 };
static MPI_Comm half, inter;
static int side, mine, mysize, others;

static int word(int group, int rank, int to, int j)
{
    return 100000 * (group + 1) + 1000 * rank + 10 * to + j;
}

/* The value of `root` in this process for the root of group g with rank r. */
static int name_of(int g, int r) { return g != side ? r : r == mine ? MPI_ROOT : MPI_PROC_NULL; }

static void fill(int *out, int to) /* WORDS for each of `to` */
{
    for (int i = 0; i < to; i++)
        for (int j = 0; j < WORDS; j++)
            out[i * WORDS + j] = word(side, mine, i, j);
}

static void rooted(int g, int r)
{
    int root = name_of(g, r), out[MOST * WORDS], in[MOST * 2 * WORDS], counts[MOST], displs[MOST];
    MPI_Datatype holes;

    fill(out, MOST);
    MPI_Barrier(inter);
    memset(in, -1, sizeof in);
    if (root == MPI_ROOT)
        MPI_Bcast(out, WORDS, MPI_INT, root, inter);
    else
        MPI_Bcast(in, WORDS, MPI_INT, root, inter);
    for (int j = 0; j < WORDS; j++)
        CHECK(in[j] == (side == g ? -1 : word(g, r, 0, j)));

    memset(in, -1, sizeof in);
    MPI_Gather(out, WORDS, MPI_INT, in, WORDS, MPI_INT, root, inter);
    for (int i = 0; i < others * WORDS; i++)
        CHECK(in[i] == (root == MPI_ROOT ? word(!g, i / WORDS, 0, i % WORDS) : -1));

    MPI_Type_vector(WORDS, 1, 2, MPI_INT, &holes); /* every other word */
    MPI_Type_commit(&holes);
    for (int i = 0; i < others; i++) {
        counts[i] = 1;
        displs[i] = others - 1 - i;
    }
    memset(in, -1, sizeof in);
    MPI_Type_create_resized(holes, 0, 2 * WORDS * (MPI_Aint)sizeof(int), &holes);
    MPI_Type_commit(&holes);
    MPI_Gatherv(out, WORDS, MPI_INT, in, counts, displs, holes, root, inter);
    for (int i = 0; i < others * WORDS; i++)
        CHECK(in[2 * WORDS * (others - 1 - i / WORDS) + 2 * (i % WORDS)] ==
              (root == MPI_ROOT ? word(!g, i / WORDS, 0, i % WORDS) : -1));

    memset(in, -1, sizeof in);
    MPI_Scatter(out, WORDS, MPI_INT, in, 1, holes, root, inter);
    for (int j = 0; j < WORDS; j++)
        CHECK(in[2 * j] == (side == g ? -1 : word(g, r, mine, j)) && in[2 * j + 1] == -1);
    memset(in, -1, sizeof in);
    for (int i = 0; i < others; i++) {
        counts[i] = i % WORDS;
        displs[i] = (others - 1 - i) * WORDS;
    }
    MPI_Scatterv(out, counts, displs, MPI_INT, in, mine % WORDS, MPI_INT, root, inter);
    for (int j = 0; j < WORDS; j++)
        CHECK(in[j] == (side == g || j >= mine % WORDS ? -1 : word(g, r, mysize - 1 - mine, j)));
    MPI_Type_free(&holes);
}

static void both_ways(void)
{
    int out[MOST * WORDS], in[MOST * WORDS], scounts[MOST], sdispls[MOST], rcounts[MOST],
        rdispls[MOST];
    MPI_Datatype types[MOST];

    fill(out, MOST);
    MPI_Allgather(out, WORDS, MPI_INT, in, WORDS, MPI_INT, inter);
    for (int i = 0; i < others * WORDS; i++)
        CHECK(in[i] == word(!side, i / WORDS, 0, i % WORDS));
    MPI_Alltoall(out, WORDS, MPI_INT, in, WORDS, MPI_INT, inter);
    for (int i = 0; i < others * WORDS; i++)
        CHECK(in[i] == word(!side, i / WORDS, mine, i % WORDS));

    for (int i = 0; i < others; i++) {
        scounts[i] = (mine + i) % (WORDS + 1);
        rcounts[i] = (mine + i) % (WORDS + 1);
        sdispls[i] = i * WORDS;
        rdispls[i] = (others - 1 - i) * WORDS;
        types[i] = MPI_INT;
    }
    memset(in, -1, sizeof in);
    MPI_Alltoallv(out, scounts, sdispls, MPI_INT, in, rcounts, rdispls, MPI_INT, inter);
    for (int i = 0; i < others * WORDS; i++)
        CHECK(in[rdispls[i / WORDS] + i % WORDS] ==
              (i % WORDS < rcounts[i / WORDS] ? word(!side, i / WORDS, mine, i % WORDS) : -1));
    memset(in, -1, sizeof in);
    for (int i = 0; i < others; i++)
        rcounts[i] = (i + 1 + side) % WORDS;
    MPI_Allgatherv(out, (mine + 1 + !side) % WORDS, MPI_INT, in, rcounts, rdispls, MPI_INT, inter);
    for (int i = 0; i < others * WORDS; i++)
        CHECK(in[rdispls[i / WORDS] + i % WORDS] ==
              (i % WORDS < rcounts[i / WORDS] ? word(!side, i / WORDS, 0, i % WORDS) : -1));
    for (int i = 0; i < others; i++) {
        rcounts[i] = scounts[i];
        sdispls[i] *= (int)sizeof(int);
        rdispls[i] *= (int)sizeof(int);
    }
    memset(in, -1, sizeof in);
    MPI_Alltoallw(out, scounts, sdispls, types, in, rcounts, rdispls, types, inter);
    for (int i = 0; i < others * WORDS; i++)
        CHECK(in[rdispls[i / WORDS] / (int)sizeof(int) + i % WORDS] ==
              (i % WORDS < rcounts[i / WORDS] ? word(!side, i / WORDS, mine, i % WORDS) : -1));
}

/* The left operand: does not commute, so the order of ranks shows. */
static void left(void *in, void *inout, int *n, MPI_Datatype *t)
{
    (void)t;
    memcpy(inout, in, (size_t)*n * sizeof(int));
}

static void combine(void)
{
    int n = mysize * others * WORDS, sums = 0, *out = calloc((size_t)n, sizeof *out),
        *in = calloc((size_t)n, sizeof *in);
    int counts[MOST] = {0};
    struct {
        double value;
        int where;
    } loc = {(double)(mine * 7 % 3), mine}, least;
    MPI_Op first;

    MPI_Op_create(left, 0, &first);
    for (int i = 0; i < n; i++)
        out[i] = (1 + side) * (mine + 1) * (i + 1);
    for (int i = 1; i <= others; i++)
        sums += (1 + !side) * i;
    for (int g = 0; g < 2; g++) {
        for (int r = 0; r < (g == side ? mysize : others); r++) {
            int root = name_of(g, r);
            memset(in, -1, (size_t)n * sizeof *in);
            MPI_Reduce(out, in, n, MPI_INT, MPI_SUM, root, inter);
            for (int i = 0; i < n; i++)
                CHECK(in[i] == (root == MPI_ROOT ? sums * (i + 1) : -1));
            MPI_Reduce(out, in, n, MPI_INT, first, root, inter);
            for (int i = 0; i < n; i++)
                CHECK(in[i] == (root == MPI_ROOT ? (1 + !side) * (i + 1) : -1));
        }
    }
    MPI_Allreduce(out, in, n, MPI_INT, MPI_SUM, inter);
    for (int i = 0; i < n; i++)
        CHECK(in[i] == sums * (i + 1));
    MPI_Allreduce(out, in, n, MPI_INT, first, inter);
    for (int i = 0; i < n; i++)
        CHECK(in[i] == (1 + !side) * (i + 1));
    MPI_Allreduce(&loc, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, inter); /* with holes */
    CHECK(least.value == 0.0 && least.where == 0);

    MPI_Reduce_scatter_block(out, in, others * WORDS, MPI_INT, MPI_SUM, inter);
    for (int i = 0; i < others * WORDS; i++)
        CHECK(in[i] == sums * (mine * others * WORDS + i + 1));
    for (int i = 0, rest = n; i < mysize; rest -= counts[i++])
        counts[i] = i == mysize - 1 ? rest : rest / 3;
    MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, inter);
    int before = 0;
    for (int i = 0; i < mine; i++)
        before += counts[i];
    for (int i = 0; i < counts[mine]; i++)
        CHECK(in[i] == sums * (before + i + 1));
    MPI_Op_free(&first);
    free(in);
    free(out);
}

static void wrong(void)
{
    int a = 0;
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    WRONG(MPI_Bcast(&a, 1, MPI_INT, others, inter), MPI_ERR_ROOT);
    WRONG(MPI_Bcast(&a, 1, MPI_INT, -99, inter), MPI_ERR_ROOT);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    if (np == 1)
        return finish();
    side = me >= np / 2;
    MPI_Comm_split(MPI_COMM_WORLD, side, me, &half);
    MPI_Comm_rank(half, &mine);
    MPI_Comm_size(half, &mysize);
    others = np - mysize;
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, side ? 0 : np / 2, 1, &inter);
    for (int g = 0; g < 2; g++)
        for (int r = 0; r < (g == side ? mysize : others); r++)
            rooted(g, r);
    for (int again = 0; again < 2; again++)
        both_ways();
    combine();
    wrong();
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    return finish();
}
