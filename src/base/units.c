/* SPDX-License-Identifier: BSD-3-Clause
 *
 * units.c - how numbers with units are read. Factors are whole microseconds or bytes, so that 1.1s
 * is 1100 ms and not more.
 */
#define _GNU_SOURCE 1 /* strtold_l */
#include "base/units.h"

#include <ctype.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

struct unit {
    const char *name;
    int64_t factor;
};

static const struct unit times[] = {{"us", 1},          {"ms", 1000},        {"s", 1000000},
                                    {"min", 60000000},  {"m", 60000000},     {"h", 3600000000},
                                    {"d", 86400000000}, {"w", 604800000000}, {"y", 31557600000000},
                                    {NULL, 0}};
static const struct unit sizes[] = {{"B", 1},
                                    {"K", 1 << 10},
                                    {"KiB", 1 << 10},
                                    {"k", 1 << 10},
                                    {"M", 1 << 20},
                                    {"MiB", 1 << 20},
                                    {"m", 1 << 20},
                                    {"G", 1 << 30},
                                    {"GiB", 1 << 30},
                                    {"g", 1 << 30},
                                    {"T", (int64_t)1 << 40},
                                    {"TiB", (int64_t)1 << 40},
                                    {"t", (int64_t)1 << 40},
                                    {NULL, 0}};
static const struct unit counts[] = {{"K", 1 << 10}, {"k", 1 << 10}, {"M", 1 << 20}, {"m", 1 << 20},
                                     {"G", 1 << 30}, {"g", 1 << 30}, {NULL, 0}};
static const struct unit none[] = {{NULL, 0}};

/* Reads the number in units of factor 1; `plain` is the factor of a number without a unit. */
static enum ft_status read(const char *text, const struct unit *units, int64_t plain,
                           long double *out)
{
    int digits = text[0] == '.' ? isdigit((unsigned char)text[1]) : isdigit((unsigned char)text[0]);
    if (!digits ||
        (text[0] == '0' &&
         (text[1] == 'x' || text[1] == 'X'))) /* strtold also reads blanks, signs, nan and 0x10 */
        return FT_ERR_ARG;
    locale_t c = newlocale(LC_ALL_MASK, "C", NULL); /* glibc has this one ready */
    if (!c)
        return FT_ERR_NOMEM;
    char *rest;
    long double v = strtold_l(text, &rest, c);
    freelocale(c);
    if (!isfinite(v))
        return FT_ERR_ARG;
    while (*rest && units->name && strcmp(rest, units->name) != 0)
        units++;
    if (*rest && !units->name)
        return FT_ERR_ARG;
    *out = v * (*rest ? units->factor : plain);
    return isfinite(*out) ? FT_OK : FT_ERR_ARG;
}

/* Rounds up; the rounding error of a decimal fraction does not count as more. */
static enum ft_status whole(long double v, int64_t *out)
{
    long double nearest = roundl(v);
    v = fabsl(v - nearest) <= 1e-15L * v ? nearest : ceill(v);
    if (v >= 9223372036854775808.0L)
        return FT_ERR_ARG;
    *out = (int64_t)v;
    return FT_OK;
}

enum ft_status ft_parse_i64(const char *text, int64_t *out)
{
    long double v;
    size_t digits = strspn(text, "0123456789");
    if (text[digits] == '.' || text[digits] == 'e' || text[digits] == 'E' ||
        read(text, counts, 1, &v) != FT_OK)
        return FT_ERR_ARG;
    return whole(v, out);
}

enum ft_status ft_parse_f64(const char *text, double *out)
{
    long double v;
    if (read(text, none, 1, &v) != FT_OK || !isfinite((double)v))
        return FT_ERR_ARG;
    *out = (double)v;
    return FT_OK;
}

enum ft_status ft_parse_time(const char *text, int64_t plain_us, double *out)
{
    long double v;
    if (read(text, times, plain_us, &v) != FT_OK || !isfinite((double)v))
        return FT_ERR_ARG;
    *out = (double)(v / 1000000);
    return FT_OK;
}

enum ft_status ft_parse_time_i64(const char *text, int64_t plain_us, int64_t *out)
{
    long double v;
    return read(text, times, plain_us, &v) == FT_OK ? whole(v / plain_us, out) : FT_ERR_ARG;
}

enum ft_status ft_parse_bytes(const char *text, int64_t plain, int64_t *out)
{
    long double v;
    return read(text, sizes, plain, &v) == FT_OK ? whole(v, out) : FT_ERR_ARG;
}
