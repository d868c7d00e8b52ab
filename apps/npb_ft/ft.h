/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ft.h - what the files of npb_ft share: the problem classes, the starting field, and the
 * distributed transform.
 *
 * The NAS Parallel Benchmark FT solves du/dt = alpha * laplace(u) on a periodic grid of nx x ny x
 * nz complex points: one forward transform of a random field, then per iteration a damping of every
 * wave and one inverse transform.
 */
#ifndef NPB_FT_H
#define NPB_FT_H

#include <complex.h> /* before fftw3.h: makes fftw_complex the compiler's own complex type */
#include <fftw3.h>
#include <mpi.h>
#include <stdbool.h>

typedef double complex cplx;

/* ---- problem.c: what is computed ---- */
struct ft_class {
    char name;
    int nx, ny, nz, niter;
    const double (*reference)[2]; /* NPB's published checksum of each of the niter iterations: real,
                                     imaginary */
};

/* NULL when there is no class of that name. Lower case will do. */
const struct ft_class *ft_class_find(const char *name);
/* Is sum NPB's checksum of iteration iter (1..niter)? */
bool ft_class_verify(const struct ft_class *cls, int iter, cplx sum);
/* The random starting field in rows of x: u[rows_z][rows_y][nx], the part that begins at row (y0,
 * z0) of the grid. */
void ft_initial_field(const struct ft_class *cls, cplx *u, int y0, int rows_y, int z0, int rows_z);

/* ---- pencil.c: the distributed transform ----
 *
 * p1 x p2 ranks, rank = i1 * p2 + i2. A transform needs its axis undivided, so the field has three
 * distributions:
 *
 *   x-pencil   x whole       y chunk i1    z chunk i2     u[z][y][x]     the field in space
 *   y-pencil   x chunk i1    y whole       z chunk i2                    only on its way
 *   z-pencil   x chunk i1    y chunk i2    z whole        u[x][y][z]     the spectrum
 *
 * x <-> y exchanges blocks among the p1 ranks of one i2, y <-> z among the p2 ranks of one i1.
 */

/* The ranks among whom one exchange goes: member k is rank first + k * stride. */
struct ft_group {
    int size, me, first, stride;
};

/* One pass of 1-D transforms over the local part of the field; see pencil.c for the layouts. */
struct ft_stage {
    int n; /* length of a transform */
    int nt,
        nc; /* extents of the other two axes: the one that tiles are cut from, and the fixed one */
    int tile; /* lines in a tile; divides nt */
    const struct ft_group *in,
        /* the ranks whose blocks it reads, and for which it writes blocks; NULL: complete lines */
        *out;
    bool swap; /* the next stage keeps this one's tile axis fixed, and not its fixed axis */
    fftw_plan plan;
};

struct ft_pencil {
    int lx, ly1, ly2, lz; /* chunks: nx/p1, ny/p1, ny/p2, nz/p2 */
    int y0, z0;           /* where my x-pencil begins */
    size_t local;         /* points of the field per rank */
    struct ft_group g1, g2;
    struct ft_stage forward[3], inverse[3];
    cplx *u;                /* the field, or its spectrum: the only thing here that has a past */
    cplx *buf[2];           /* scratch: what a stage writes, and what the stage before it wrote */
    cplx *gathered, *lines; /* one tile in cache, before and after its transform */
    double *damp_x, *damp_y,
        *damp_z; /* factors of one time step, per wave number of my part of the spectrum */
    cplx *win_base;
    size_t win_points;
    MPI_Win win; /* receives the blocks of others; scratch between two exchanges */
};

/* P1 of the P1 x P2 = size that divides the grid and is nearest to a square; 0 when there is none.
 */
int ft_pencil_choose(const struct ft_class *cls, int size);
/* Collective over MPI_COMM_WORLD, of p1 * p2 ranks as chosen. No one-sided communication. False: no
 * memory here. */
bool ft_pencil_init(struct ft_pencil *p, const struct ft_class *cls, int rank, int p1, int p2);
void ft_pencil_finish(struct ft_pencil *p);
/* Collective. Forward, in place: p->u from space (x-pencil) to spectrum (z-pencil). Inverse: one
 * time step of the spectrum p->u, then its inverse transform, not scaled, to an x-pencil in scratch
 * memory, valid until the next call. Returns the result. */
const cplx *ft_pencil_transform(struct ft_pencil *p, bool inverse);

#endif /* NPB_FT_H */
