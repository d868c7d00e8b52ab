/* SPDX-License-Identifier: BSD-3-Clause
 *
 * motion.c - forces at nodes, the motion of nodes, and what it makes of the elements.
 */
#include "lulesh.h"

#include <math.h>
#include <string.h>

#define HOURGLASS 3.0 /* its coefficient */
#define U_CUT 1e-7    /* velocities below are none */

enum { MODES = 4 };

/* Pressure and viscosity push the corners of each face outwards, each with a quarter of its area.
 */
static void add_pressure(const double x[DIMS][CORNERS], double pressure, double f[DIMS][CORNERS])
{
    for (int face = 0; face < FACES; face++) {
        const int *at = face_corner[face];
        double one[DIMS], two[DIMS], area[DIMS];
        for (int a = 0; a < DIMS; a++) {
            one[a] = x[a][at[2]] - x[a][at[0]];
            two[a] = x[a][at[3]] - x[a][at[1]];
        }
        cross(one, two, area); /* twice the area */
        for (int a = 0; a < DIMS; a++)
            for (int i = 0; i < 4; i++)
                f[a][at[i]] += 0.125 * area[a] * pressure;
    }
}

/* The modes in which corners move though the element neither moves nor deforms, as far as they are
 * orthogonal to linear motion (Flanagan and Belytschko), are resisted. */
static void add_hourglass(const double x[DIMS][CORNERS], const double v[DIMS][CORNERS],
                          double volume, double strength, double f[DIMS][CORNERS])
{
    const double *s = corner_sign[X], *t = corner_sign[Y], *u = corner_sign[Z];
    double g[DIMS][CORNERS], shape[MODES][CORNERS];

    volume_gradient(x, g, NULL);
    for (int m = 0; m < MODES; m++) {
        double mode[CORNERS], along[DIMS] = {0};
        for (int c = 0; c < CORNERS; c++) {
            double of[MODES] = {t[c] * u[c], s[c] * u[c], s[c] * t[c], s[c] * t[c] * u[c]};
            mode[c] = of[m];
        }
        for (int a = 0; a < DIMS; a++)
            for (int c = 0; c < CORNERS; c++)
                along[a] += x[a][c] * mode[c];
        for (int c = 0; c < CORNERS; c++)
            shape[m][c] =
                mode[c] - (g[X][c] * along[X] + g[Y][c] * along[Y] + g[Z][c] * along[Z]) / volume;
    }
    for (int a = 0; a < DIMS; a++)
        for (int m = 0; m < MODES; m++) {
            double speed = 0;
            for (int c = 0; c < CORNERS; c++)
                speed += shape[m][c] * v[a][c];
            for (int c = 0; c < CORNERS; c++)
                f[a][c] -= strength * shape[m][c] * speed;
        }
}

static void scatter_add(struct domain *d, size_t elem, const double f[DIMS][CORNERS])
{
    size_t n = (size_t)d->n, along = n + 1;
    size_t node = elem % n + along * (elem / n % n + along * (elem / (n * n)));
    size_t at[CORNERS] = {0, 1, along + 1, along};

    for (int c = 0; c < 4; c++)
        at[c + 4] = at[c] + along * along;
    for (int a = 0; a < DIMS; a++)
        for (int c = 0; c < CORNERS; c++)
            d->f[a][node + at[c]] += f[a][c];
}

static const char *forces(struct domain *d)
{
    for (int a = 0; a < DIMS; a++)
        memset(d->f[a], 0, d->nodes * sizeof(double));
    for (size_t e = 0; e < d->elems; e++) {
        double x[DIMS][CORNERS], v[DIMS][CORNERS], f[DIMS][CORNERS] = {{0}};
        double volume = d->volume0[e] * d->vol[e];
        if (!(volume > 0))
            return "an element has no volume";
        gather(d, d->x, e, x);
        gather(d, d->v, e, v);
        add_pressure(x, d->p[e] + d->q[e], f);
        add_hourglass(x, v, volume, HOURGLASS * 0.01 * d->ss[e] * d->volume0[e] / cbrt(volume), f);
        scatter_add(d, e, f);
    }
    return NULL;
}

/* The planes x = 0, y = 0 and z = 0 are planes of symmetry: nothing moves through them. */
static bool is_on_plane(const struct domain *d, int axis, size_t node)
{
    size_t along = (size_t)d->n + 1;
    size_t at[DIMS] = {node % along, node / along % along, node / (along * along)};
    return d->pos[axis] == 0 && at[axis] == 0;
}

const char *move_nodes(struct domain *d)
{
    const char *why = forces(d);

    if (why)
        return why;
    halo_sum(d, d->f, DIMS);
    for (int a = 0; a < DIMS; a++)
        for (size_t i = 0; i < d->nodes; i++) {
            double acceleration = is_on_plane(d, a, i) ? 0 : d->f[a][i] / d->node_mass[i];
            double v = d->v[a][i] + acceleration * d->dt;
            d->v[a][i] = fabs(v) < U_CUT ? 0 : v;
            d->x[a][i] += d->v[a][i] * d->dt;
        }
    return NULL;
}

/* The divergence of the velocity, with the shape that the element had half a time step ago. */
static double divergence(const double x[DIMS][CORNERS], const double v[DIMS][CORNERS], double half)
{
    double then[DIMS][CORNERS], axis[DIMS][DIMS], area[DIMS][DIMS], sum = 0, volume = 0;

    for (int a = 0; a < DIMS; a++)
        for (int c = 0; c < CORNERS; c++)
            then[a][c] = x[a][c] - half * v[a][c];
    element_axes(then, axis);
    for (int a = 0; a < DIMS; a++)
        cross(axis[(a + 1) % DIMS], axis[(a + 2) % DIMS], area[a]);
    for (int a = 0; a < DIMS; a++)
        volume += 8.0 * axis[Y][a] * area[Y][a];
    for (int a = 0; a < DIMS; a++)
        for (int c = 0; c < CORNERS; c++)
            sum += v[a][c] * (corner_sign[X][c] * area[X][a] + corner_sign[Y][c] * area[Y][a] +
                              corner_sign[Z][c] * area[Z][a]);
    return sum / volume;
}

/* Along each axis of the element: how long it is, and how fast it gets longer. */
static void gradients(struct domain *d, size_t e, const double x[DIMS][CORNERS],
                      const double v[DIMS][CORNERS], double volume)
{
    const double tiny = 1e-36;
    double axis[DIMS][DIMS], speed[DIMS][DIMS];

    element_axes(x, axis); /* half of the edges, so that areas are a quarter */
    element_axes(v, speed);
    for (int a = 0; a < DIMS; a++) {
        double area[DIMS], square = tiny, across = 0;
        cross(axis[(a + 1) % DIMS], axis[(a + 2) % DIMS], area);
        for (int k = 0; k < DIMS; k++) {
            square += 16.0 * area[k] * area[k];
            across += 8.0 * area[k] * speed[a][k];
        }
        d->dx[a][e] = volume / sqrt(square);
        d->dv[a][e] = across / (volume + tiny);
    }
}

const char *move_elements(struct domain *d)
{
    for (size_t e = 0; e < d->elems; e++) {
        double x[DIMS][CORNERS], v[DIMS][CORNERS];
        gather(d, d->x, e, x);
        gather(d, d->v, e, v);
        d->vnew[e] = element_volume(x) / d->volume0[e];
        if (!(d->vnew[e] > 0))
            return "an element has turned inside out; is the time step too long?";
        d->dvol[e] = d->vnew[e] - d->vol[e];
        d->vdov[e] = divergence(x, v, 0.5 * d->dt);
        gradients(d, e, x, v, d->volume0[e] * d->vnew[e]);
    }
    return NULL;
}
