/* SPDX-License-Identifier: BSD-3-Clause
 *
 * cg.h - what the files of npb_cg share: the problem classes, the part of the matrix that a
 * process holds, and the grid of processes with what it sends.
 *
 * From the specification: D. Bailey et al., "The NAS Parallel Benchmarks", kernel CG, and its
 * random numbers x' = 5^13 x mod 2^46.
 */
#ifndef NPB_CG_H
#define NPB_CG_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cg_class {
    char name;
    int na, nonzer, niter;
    double shift, zeta;
};

/* Rows row0 <= i < row1 and columns col0 <= j < col1, compressed by rows; columns count from col0.
 */
struct cg_matrix {
    int row0, row1, col0, col1;
    size_t *start; /* of each row, and the end of the last */
    int *col;
    double *value;
};

/* Sets m->start, col and value; the bounds stand in m. false: no memory. */
bool cg_matrix_make(struct cg_matrix *m, const struct cg_class *cls);
void cg_matrix_free(struct cg_matrix *m);

/*
 * nprows x npcols processes, npcols = nprows or 2 nprows; the process in row r and column c is rank
 * r npcols + c. na is cut into npcols blocks. Process (r, c) has the columns of block c, and the
 * rows of block r, or of blocks 2r and 2r + 1 if there are twice as many columns:
 *
 *          c = 0   1   2   3             Vectors are cut by columns: all of column c have block c.
 *   r = 0  | 0   0 | 0   0 |  rows       A product w = A p leaves a part of the sum for the rows r
 *          | 1   1 | 1   1 |  of the     at each process of row r. They add them up among
 *   r = 1  | 2   2 | 2   2 |  product    themselves; the transpose partner has the block c of the
 *          | 3   3 | 3   3 |             sum and wants the one that is here.
 */
struct cg_grid {
    int rank, size, nprows, npcols, log2npcols, row, col, partner;
    int keep0, keep1;       /* of the rows, from row0: what is added up here and goes to partner */
    uint64_t vectors, sums; /* bytes sent so far: parts of vectors, and single numbers */
};

/* false: size is no power of two, or there are more columns of processes than of the matrix. */
bool cg_grid_init(struct cg_grid *g, struct cg_matrix *m, int na, int rank, int size);
/* In: a part of A p at each process. Out: q, this process's block of A p. room: as long as w. */
void cg_grid_product(struct cg_grid *g, const struct cg_matrix *m, double *w, double *room,
                     double *q);
/* The sum of what the processes of a row have, the same bits everywhere. */
double cg_grid_sum(struct cg_grid *g, double mine);
/* The bytes of vectors that a process sends for each product. exact: this is the published
 * (log2 npcols + 1) na / npcols * 8, and the same for each process. */
uint64_t cg_grid_formula(const struct cg_grid *g, const struct cg_matrix *m, int na, bool *exact);

#endif
