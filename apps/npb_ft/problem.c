/* SPDX-License-Identifier: BSD-3-Clause
 *
 * problem.c - the problem as NPB specifies it: classes, published checksums, and the pseudo-random
 * starting field.
 */
#include "ft.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdint.h>

static const double EPSILON = 1.0e-12; /* NPB's tolerance, relative, for each part of a checksum */

static const double ref_s[6][2] = {
    {554.6087004964, 484.5363331978}, {554.6385409189, 486.5304269511},
    {554.6148406171, 488.3910722336}, {554.5423607415, 490.1273169046},
    {554.4255039624, 491.7475857993}, {554.2683411902, 493.2597244941},
};
static const double ref_w[6][2] = {
    {567.3612178944, 529.3246849175}, {563.1436885271, 528.2149986629},
    {559.4024089970, 527.0996558037}, {556.0698047020, 526.0027904925},
    {553.0898991250, 524.9400845633}, {550.4159734538, 523.9212247086},
};
static const double ref_a[6][2] = {
    {504.6735008193, 511.4047905510}, {505.9412319734, 509.8809666433},
    {506.9376896287, 509.8144042213}, {507.7892868474, 510.1336130759},
    {508.5233095391, 510.4914655194}, {509.1487099959, 510.7917842803},
};
static const double ref_b[20][2] = {
    {517.7643571579, 507.7803458597}, {515.4521291263, 508.8249431599},
    {514.6409228649, 509.6208912659}, {514.2378756213, 510.1023387619},
    {513.9626667737, 510.3976610617}, {513.7423460082, 510.5948019802},
    {513.5547056878, 510.7404165783}, {513.3910925466, 510.8576573661},
    {513.2470705390, 510.9577278523}, {513.1197729984, 511.0460304483},
    {513.0070319283, 511.1252433800}, {512.9070537032, 511.1968077718},
    {512.8182883502, 511.2616233064}, {512.7393733383, 511.3203605551},
    {512.6691062020, 511.3735928093}, {512.6064276004, 511.4218460548},
    {512.5504076570, 511.4656139760}, {512.5002331720, 511.5053595966},
    {512.4551951846, 511.5415130407}, {512.4146770029, 511.5744692211},
};
static const double ref_c[20][2] = {
    {519.5078707457, 514.9019699238}, {515.5422171134, 512.7578201997},
    {514.4678022222, 512.2251847514}, {514.0150594328, 512.1090289018},
    {513.7550426810, 512.1143685824}, {513.5811056728, 512.1496764568},
    {513.4569343165, 512.1870921893}, {513.3651975661, 512.2193250322},
    {513.2955192805, 512.2454735794}, {513.2410471738, 512.2663649603},
    {513.1971141679, 512.2830879827}, {513.1605205716, 512.2965869718},
    {513.1290734194, 512.3075927445}, {513.1012720314, 512.3166486553},
    {513.0760908195, 512.3241541685}, {513.0528295923, 512.3304037599},
    {513.0310107773, 512.3356167976}, {513.0103090133, 512.3399592211},
    {512.9905029333, 512.3435588985}, {512.9714421109, 512.3465164008},
};

static const struct ft_class classes[] = {
    {'S', 64, 64, 64, 6, ref_s},     {'W', 128, 128, 32, 6, ref_w},
    {'A', 256, 256, 128, 6, ref_a},  {'B', 512, 256, 256, 20, ref_b},
    {'C', 512, 512, 512, 20, ref_c},
};

const struct ft_class *ft_class_find(const char *name)
{
    if (name[0] == '\0' || name[1] != '\0')
        return NULL;
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
        if (classes[i].name == toupper((unsigned char)name[0]))
            return &classes[i];
    return NULL;
}

bool ft_class_verify(const struct ft_class *cls, int iter, cplx sum)
{
    assert(iter >= 1 && iter <= cls->niter);
    const double *ref = cls->reference[iter - 1];
    /* so put that a NaN is a failure */
    return fabs((creal(sum) - ref[0]) / ref[0]) <= EPSILON &&
           fabs((cimag(sum) - ref[1]) / ref[1]) <= EPSILON;
}

/* NPB's generator: s <- 5^13 s mod 2^46, number = s / 2^46. The wrap of 64 bits does not disturb
 * the lowest 46. */
static const uint64_t MULTIPLIER = 1220703125, SEED = 314159265, MASK = ((uint64_t)1 << 46) - 1;

/* The state after count numbers: any row can be filled by whoever owns it. */
static uint64_t state_after(uint64_t count)
{
    uint64_t s = SEED;
    for (uint64_t power = MULTIPLIER; count > 0; count >>= 1) {
        if (count & 1)
            s = s * power & MASK;
        power = power * power & MASK;
    }
    return s;
}

void ft_initial_field(const struct ft_class *cls, cplx *u, int y0, int rows_y, int z0, int rows_z)
{
    const double scale = 0x1p-46;
    assert(y0 >= 0 && y0 + rows_y <= cls->ny);
    assert(z0 >= 0 && z0 + rows_z <= cls->nz);
    for (int z = z0; z < z0 + rows_z; z++) {
        uint64_t s =
            state_after(2 * (uint64_t)cls->nx * ((uint64_t)z * (uint64_t)cls->ny + (uint64_t)y0));
        for (size_t i = 0; i < (size_t)rows_y * (size_t)cls->nx; i++) {
            s = s * MULTIPLIER & MASK;
            double re = (double)s * scale;
            s = s * MULTIPLIER & MASK;
            *u++ = re + I * ((double)s * scale);
        }
    }
}
