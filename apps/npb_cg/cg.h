/* SPDX-License-Identifier: BSD-3-Clause
 *
 * cg.h - what the files of npb_cg share: the problem classes, the part of the matrix that a
 * process holds, the grid of processes with what it sends, and the solver. kernels_log has another
 * program of the same solver.
 *
 * From the specification: D. Bailey et al., "The NAS Parallel Benchmarks", kernel CG, and its
 * random numbers x' = 5^13 x mod 2^46.
 */
#ifndef NPB_CG_H
#define NPB_CG_H

#include "sender.h"

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
    int keep0, keep1;      /* of the rows, from row0: what is added up here and goes to partner */
    struct cg_sent *sent;  /* is counted there */
    struct sender *sender; /* NULL: MPI */
};

struct cg_sent {
    uint64_t vectors, sums; /* bytes so far: parts of vectors, and single numbers */
};

/* false: size is no power of two, or there are more columns of processes than of the matrix. sent
 * and sender are not given yet. */
bool cg_grid_init(struct cg_grid *g, struct cg_matrix *m, int na, int rank, int size);
/* In: a part of A p at each process. Out: q, this process's block of A p. room: as long as w. */
void cg_grid_product(const struct cg_grid *g, const struct cg_matrix *m, double *w, double *room,
                     double *q);
/* The sum of what the processes of a row have, the same bits everywhere. */
double cg_grid_sum(const struct cg_grid *g, double mine);
/* The bytes of vectors that a process sends for each product. exact: this is the published
 * (log2 npcols + 1) na / npcols * 8, and the same for each process. */
uint64_t cg_grid_formula(const struct cg_grid *g, const struct cg_matrix *m, int na, bool *exact);

enum { CG_STEPS = 25 }; /* in an iteration */

/* What of the past a later step needs, besides the vectors. */
struct cg_state {
    int iter, step; /* the next ones */
    double rho, zeta;
    uint64_t zetas;    /* hash of all of them */
    uint64_t products; /* of the matrix and a vector */
    struct cg_sent sent;
};

struct cg_run {
    const char *name; /* of the program */
    const struct cg_class *cls;
    int niter, rank, size;
    struct cg_matrix m;
    struct cg_grid grid;
    double *x, *z, *p, *r; /* this process's blocks; one allocation, the state of the run with st */
    double *q, *w, *room;  /* scratch of a step; one allocation */
    struct cg_state st;
};

/* Reads the arguments. -1, or the status with which the program is to end, as rank 0 has said;
 * more: of the usage, for options that were taken out of argv. */
int cg_start(struct cg_run *r, const char *name, int argc, char **argv, const char *more);
/* Memory, the matrix, and how everything begins. Does not return if there is no memory. */
void cg_create(struct cg_run *r);
void cg_destroy(struct cg_run *r);
size_t cg_vector_bytes(const struct cg_run *r);  /* of x, z, p and r */
size_t cg_scratch_bytes(const struct cg_run *r); /* of q, w and room */
/* The next step, with what comes before the first and after the last of an iteration. */
void cg_step(struct cg_run *r);
/* Rank 0 says how it went. Returns the exit status. */
int cg_report(struct cg_run *r, double seconds);

#endif
