/* SPDX-License-Identifier: BSD-3-Clause
 *
 * lulesh.h - what the files of lulesh share: the part of the mesh that a process has, what it
 * exchanges with its neighbours, and the run. kernels_log has another program of the same run.
 *
 * From the description of the physics in "Hydrodynamics Challenge Problem" (LLNL-TR-490254): a
 * Sedov blast wave on a Lagrangian mesh of hexahedra, with nodal velocities and zonal energy.
 */
#ifndef LULESH_H
#define LULESH_H

#include "sender.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { X, Y, Z, DIMS };
enum { CORNERS = 8, AROUND = 27, SELF = 13, FACES = 6 };

/*
 * The corners of an element. Axes xi, eta and zeta of the element go along x, y and z of the mesh.
 *
 *         7-------6        Element (i, j, k) is number i + n (j + n k), and node (i, j, k) is
 *        /|      /|        number i + (n + 1) (j + (n + 1) k).
 *       4-------5 |
 *       | 3-----|-2   z y
 *       |/      |/    |/
 *       0-------1     +--x
 */
extern const double corner_sign[DIMS][CORNERS]; /* the side on which it lies along an axis */
extern const int face_corner[FACES][4];         /* counter-clockwise, seen from outside */

/* The nodes that are shared with the process that lies by (dx, dy, dz) from here, each -1, 0 or 1;
 * it is neighbour number (dx + 1) + 3 (dy + 1) + 9 (dz + 1), and SELF is this one. */
struct neighbour {
    int rank; /* -1: the mesh ends there */
    int count, *node;
    double *in, *out; /* DIMS fields */
};

/* Processes that share a node add up their parts in the order of ranks, so that all of them come to
 * the same bits. */
struct halo {
    struct neighbour at[AROUND];
    int shared, *node;     /* all nodes of the surface */
    double *own;           /* their values here, DIMS fields; after them all in and out */
    size_t bytes;          /* of own and those after it */
    uint64_t *sent;        /* bytes, added up here */
    struct sender *sender; /* NULL: MPI */
};

struct domain {
    int n, side, rank; /* elements along an edge; processes along an edge */
    int pos[DIMS];
    size_t elems, nodes;
    double dt;
    /* from one cycle to the next */
    double *x[DIMS], *v[DIMS]; /* of nodes: position, velocity */
    double *e, *p, *q, *vol;   /* of elements: energy, pressure, viscosity, relative volume */
    double *ss;                /* and the speed of sound */
    /* constant */
    double *volume0, *node_mass; /* an element's mass is its volume at the beginning */
    /* scratch of a cycle */
    double *f[DIMS];             /* force */
    double *vnew, *dvol, *vdov;  /* relative volume, its change, and that as a rate */
    double *ql, *qq;             /* linear and quadratic viscosity */
    double *dx[DIMS], *dv[DIMS]; /* gradients of position and velocity along an element's axes */
    double *ghost[FACES], *plane[FACES]; /* dv beyond faces -x, +x, -y, ..; what goes there */
    double *memory;                      /* all of these, the state first */
    double *scratch;
    size_t state_bytes, scratch_bytes;
    struct halo halo;
};

/* false: no memory. n, side, rank, dt and halo.sent are given. Communicates, for the masses of
 * nodes. */
bool domain_create(struct domain *d);
void domain_destroy(struct domain *d);

bool halo_create(struct domain *d);
void halo_destroy(struct halo *h);
/* Adds up fields of nodes over all processes that have the node: what goes to 26 neighbours. */
void halo_sum(struct domain *d, double *const field[], int fields);
/* Puts what the 6 neighbours across a face have of dv into ghost. */
void halo_planes(struct domain *d);

/* Positions or velocities of an element's corners. */
void gather(const struct domain *d, double *const field[DIMS], size_t elem,
            double out[DIMS][CORNERS]);
/* The gradient of the volume by the corners; volume: if not NULL, the volume. */
void volume_gradient(const double x[DIMS][CORNERS], double g[DIMS][CORNERS], double *volume);
double element_volume(const double x[DIMS][CORNERS]);
/* The edges of an element along its axes, each the mean of four, times one half. */
void element_axes(const double x[DIMS][CORNERS], double axis[DIMS][DIMS]);
void cross(const double a[DIMS], const double b[DIMS], double out[DIMS]);

/* The parts of a cycle: forces and motion of the nodes; shapes and rates of the elements; their
 * viscosity; their energy. NULL, or why the physics came to an end. */
const char *move_nodes(struct domain *d);
const char *move_elements(struct domain *d);
const char *viscosity(struct domain *d);
void energy(struct domain *d);

/* What of the past a later cycle needs, besides the domain's state. */
struct lulesh_state {
    long cycle; /* the next */
    uint64_t sent;
};

struct lulesh_run {
    const char *name; /* of the program */
    int rank, size;
    long cycles;
    struct domain d;
    struct lulesh_state st;
};

/* Reads the arguments. -1, or the status with which the program is to end, as rank 0 has said;
 * more: of the usage, for options that were taken out of argv. */
int lulesh_start(struct lulesh_run *r, const char *name, int argc, char **argv, const char *more);
/* Memory, and how everything begins. Communicates. Does not return if there is no memory. */
void lulesh_create(struct lulesh_run *r);
/* The next cycle. Does not return if the physics came to an end. */
void lulesh_cycle(struct lulesh_run *r);
/* Rank 0 says how it went. Returns the exit status. */
int lulesh_report(struct lulesh_run *r, double seconds);

#endif
