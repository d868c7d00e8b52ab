/* SPDX-License-Identifier: BSD-3-Clause
 *
 * energy.c - artificial viscosity of elements, and their energy and pressure as a gamma-law gas.
 */
#include "lulesh.h"

#include <math.h>

#define TINY 1e-36
#define Q_LINEAR 0.5
#define Q_QUADRATIC (2.0 / 3.0)
#define Q_STOP 1e12
#define LIMITER 2.0 /* how much steeper than its surroundings a gradient may be */
#define E_CUT 1e-7  /* below, there is none */
#define P_CUT 1e-7
#define Q_CUT 1e-7
#define V_CUT 1e-10
#define V_MIN 1e-9 /* of relative volumes, in the gas law */
#define V_MAX 1e9
#define E_MIN (-1e15)
#define GAMMA_1 (2.0 / 3.0) /* gamma - 1 */

/* The velocity gradient along an axis in the next element, on the lower (0) or upper (1) side.
 * Beyond a plane of symmetry it is the same as here; beyond the free ends of the mesh it is 0. */
static double next_gradient(const struct domain *d, size_t e, int axis, int upper)
{
    size_t n = (size_t)d->n, stride[DIMS] = {1, n, n * n};
    size_t at[DIMS] = {e % n, e / n % n, e / (n * n)};

    if (at[axis] != (upper ? n - 1 : 0))
        return d->dv[axis][upper ? e + stride[axis] : e - stride[axis]];
    if (d->pos[axis] == (upper ? d->side - 1 : 0))
        return upper ? 0 : d->dv[axis][e];
    size_t in_plane = at[axis == X ? Y : X] + n * at[axis == Z ? Y : Z];
    return d->ghost[2 * axis + upper][(size_t)axis * n * n + in_plane];
}

/* 1 where the gradient is as in the elements around, 0 at a shock: the monotonic limiter. */
static double limiter(const struct domain *d, size_t e, int axis)
{
    double norm = 1.0 / (d->dv[axis][e] + TINY);
    double below = norm * next_gradient(d, e, axis, 0), above = norm * next_gradient(d, e, axis, 1);
    double phi = 0.5 * (below + above);

    phi = fmin(phi, LIMITER * below);
    phi = fmin(phi, LIMITER * above);
    return phi < 0 ? 0 : phi > 1 ? 1 : phi;
}

const char *viscosity(struct domain *d)
{
    halo_planes(d);
    for (size_t e = 0; e < d->elems; e++) {
        d->ql[e] = d->qq[e] = 0;
        if (d->q[e] > Q_STOP)
            return "the viscosity of an element is beyond all bounds";
        if (d->vdov[e] > 0) /* it expands */
            continue;
        double linear = 0, quadratic = 0, density = 1.0 / d->vnew[e];
        for (int a = 0; a < DIMS; a++) {
            double jump = d->dv[a][e] * d->dx[a][e], phi = limiter(d, e, a);
            if (jump > 0)
                continue;
            linear += jump * (1.0 - phi);
            quadratic += jump * jump * (1.0 - phi * phi);
        }
        d->ql[e] = -Q_LINEAR * density * linear;
        d->qq[e] = Q_QUADRATIC * density * quadratic;
    }
    return NULL;
}

/* The gas at one moment, and what it was like before. */
struct gas {
    double e, p, q;
    double e_old, p_old, q_old, dvol, ql, qq;
    double v; /* relative volume */
};

static double pressure(double e, double compression, double v)
{
    double p = GAMMA_1 * (compression + 1.0) * e;
    if (fabs(p) < P_CUT || v >= V_MAX)
        p = 0;
    return p < 0 ? 0 : p;
}

/* The square of the speed of sound, by e and p at a volume. */
static double sound(double e, double p, double compression, double v)
{
    double square = GAMMA_1 * e + v * v * (GAMMA_1 * (compression + 1.0)) * p;
    return square <= 0.1111111e-36 ? 0.3333333e-18 : sqrt(square);
}

static double q_of(const struct gas *g, double e, double p, double compression, double v)
{
    return g->dvol > 0 ? 0 : sound(e, p, compression, v) * g->ql + g->qq;
}

static double cut_energy(double e)
{
    if (fabs(e) < E_CUT)
        e = 0;
    return e < E_MIN ? E_MIN : e;
}

/* Predictor and corrector: half of the change of volume by the old pressure, then the mean, then
 * Simpson's rule. */
static void evaluate(struct gas *g, double compression, double half)
{
    double old = g->p_old + g->q_old;

    g->e = fmax(g->e_old - 0.5 * g->dvol * old, E_MIN);
    double p_half = pressure(g->e, half, g->v);
    double q_half = q_of(g, g->e, p_half, half, 1.0 / (1.0 + half));
    g->e = cut_energy(g->e + 0.5 * g->dvol * (3.0 * old - 4.0 * (p_half + q_half)));
    g->p = pressure(g->e, compression, g->v);
    double q_end = q_of(g, g->e, g->p, compression, g->v);
    g->e =
        cut_energy(g->e - (7.0 * old - 8.0 * (p_half + q_half) + (g->p + q_end)) * g->dvol / 6.0);
    g->p = pressure(g->e, compression, g->v);
    g->q = q_half;
    if (g->dvol <= 0) {
        g->q = q_of(g, g->e, g->p, compression, g->v);
        if (fabs(g->q) < Q_CUT)
            g->q = 0;
    }
}

void energy(struct domain *d)
{
    for (size_t e = 0; e < d->elems; e++) {
        struct gas g = {.e_old = d->e[e],
                        .p_old = d->p[e],
                        .q_old = d->q[e],
                        .dvol = d->dvol[e],
                        .ql = d->ql[e],
                        .qq = d->qq[e],
                        .v = fmin(fmax(d->vnew[e], V_MIN), V_MAX)};
        double compression = 1.0 / g.v - 1.0;
        double half = g.v <= V_MIN ? compression : 1.0 / (g.v - 0.5 * g.dvol) - 1.0;
        if (g.v >= V_MAX)
            g.p_old = compression = half = 0;
        evaluate(&g, compression, half);
        d->e[e] = g.e;
        d->p[e] = g.p;
        d->q[e] = g.q;
        d->ss[e] = sound(g.e, g.p, compression, g.v);
        d->vol[e] = fabs(d->vnew[e] - 1.0) < V_CUT ? 1.0 : d->vnew[e];
    }
}
