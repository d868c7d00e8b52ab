/* SPDX-License-Identifier: BSD-3-Clause
 *
 * element.c - geometry of one element whose faces are bilinear.
 */
#include "lulesh.h"

const double corner_sign[DIMS][CORNERS] = {
    {-1, 1, 1, -1, -1, 1, 1, -1},
    {-1, -1, 1, 1, -1, -1, 1, 1},
    {-1, -1, -1, -1, 1, 1, 1, 1},
};

const int face_corner[FACES][4] = {
    {0, 3, 2, 1}, {4, 5, 6, 7}, {0, 1, 5, 4}, {2, 3, 7, 6}, {0, 4, 7, 3}, {1, 2, 6, 5},
};

void gather(const struct domain *d, double *const field[DIMS], size_t elem,
            double out[DIMS][CORNERS])
{
    size_t n = (size_t)d->n, along = n + 1;
    size_t node = elem % n + along * (elem / n % n + along * (elem / (n * n)));
    size_t at[CORNERS] = {0, 1, along + 1, along};

    for (int c = 0; c < 4; c++)
        at[c + 4] = at[c] + along * along;
    for (int a = 0; a < DIMS; a++)
        for (int c = 0; c < CORNERS; c++)
            out[a][c] = field[a][node + at[c]];
}

void cross(const double a[DIMS], const double b[DIMS], double out[DIMS])
{
    out[X] = a[Y] * b[Z] - a[Z] * b[Y];
    out[Y] = a[Z] * b[X] - a[X] * b[Z];
    out[Z] = a[X] * b[Y] - a[Y] * b[X];
}

/* One coordinate of the gradient, from the two that follow it in turn. A face a, b, c, d adds
 * (abc + acd + abd + bcd) / 12 to the volume, where abc is the triple product: the mean of its two
 * triangulations, which for a bilinear face is exact. */
static void gradient_along(const double y[CORNERS], const double z[CORNERS], double g[CORNERS])
{
    for (int c = 0; c < CORNERS; c++)
        g[c] = 0;
    for (int face = 0; face < FACES; face++) {
        const int *at = face_corner[face];
        double fy[4], fz[4], side[4], across[2];
        for (int i = 0; i < 4; i++) {
            fy[i] = y[at[i]];
            fz[i] = z[at[i]];
        }
        for (int i = 0; i < 4; i++)
            side[i] = fy[i] * fz[(i + 1) % 4] - fz[i] * fy[(i + 1) % 4];
        for (int i = 0; i < 2; i++)
            across[i] = fy[i] * fz[i + 2] - fz[i] * fy[i + 2];
        g[at[0]] += side[1] + side[2] + across[1];
        g[at[1]] += side[2] + side[3] - across[0];
        g[at[2]] += side[3] + side[0] - across[1];
        g[at[3]] += side[0] + side[1] + across[0];
    }
    for (int c = 0; c < CORNERS; c++)
        g[c] *= 1.0 / 12.0;
}

/* The volume is linear in each coordinate of each corner; shifted, so that less is cancelled. */
static double volume_along(const double x[CORNERS], const double g[CORNERS])
{
    double volume = 0;
    for (int c = 1; c < CORNERS; c++)
        volume += (x[c] - x[0]) * g[c];
    return volume;
}

void volume_gradient(const double x[DIMS][CORNERS], double g[DIMS][CORNERS], double *volume)
{
    for (int a = 0; a < DIMS; a++)
        gradient_along(x[(a + 1) % DIMS], x[(a + 2) % DIMS], g[a]);
    if (volume)
        *volume = volume_along(x[X], g[X]);
}

double element_volume(const double x[DIMS][CORNERS])
{
    double g[CORNERS];
    gradient_along(x[Y], x[Z], g);
    return volume_along(x[X], g);
}

void element_axes(const double x[DIMS][CORNERS], double axis[DIMS][DIMS])
{
    for (int a = 0; a < DIMS; a++)
        for (int k = 0; k < DIMS; k++) {
            double sum = 0;
            for (int c = 0; c < CORNERS; c++)
                sum += corner_sign[a][c] * x[k][c];
            axis[a][k] = 0.125 * sum;
        }
}
