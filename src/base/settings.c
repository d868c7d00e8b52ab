/* SPDX-License-Identifier: BSD-3-Clause
 *
 * settings.c - the table of settings and how their texts are read.
 */
#define _GNU_SOURCE 1 /* environ */
#include "base/settings.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"

const struct ft_setting_info ft_settings_table[FT_SET_COUNT] = {
#define FT_SETTING(id, env, def, unit, doc) [FT_SET_##id] = {env, def, unit, doc},
#include "base/settings.def"
#undef FT_SETTING
};

const char *ft_setting_str(enum ft_setting_id id)
{
    FT_ASSERT((unsigned)id < FT_SET_COUNT);
    const char *text = getenv(ft_settings_table[id].env);
    return text && *text ? text : ft_settings_table[id].def;
}

#define NAME_MOST 40 /* longer names are no slips of a setting's */
#define SLIPS_MOST 4

/* How many letters of a must be put in, left out or changed to make b of it. */
static int slips(const char *a, int na, const char *b)
{
    int nb = (int)strlen(b), row[NAME_MOST + 1];
    FT_ASSERT(nb <= NAME_MOST);
    for (int j = 0; j <= nb; j++)
        row[j] = j;
    for (int i = 1; i <= na; i++) {
        int corner = row[0]++;
        for (int j = 1; j <= nb; j++) {
            int changed = corner + (a[i - 1] != b[j - 1]), other = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            corner = row[j];
            row[j] = changed < other ? changed : other;
        }
    }
    return row[nb];
}

/* NULL: it is one. */
static const char *nearest_of(const char *name, int len, const char *none)
{
    int least = SLIPS_MOST + 1;
    for (int i = 0; i < FT_SET_COUNT; i++) {
        int n = len > NAME_MOST ? least : slips(name, len, ft_settings_table[i].env);
        if (n == 0)
            return NULL;
        if (n < least) {
            least = n;
            none = ft_settings_table[i].env;
        }
    }
    return none;
}

int ft_setting_unknown(int k, const char **name, const char **nearest)
{
    for (; environ && environ[k]; k++) {
        const char *v = environ[k], *near;
        if (strncmp(v, "FTRMA_", 6) != 0 || strncmp(v, "FTRMA_TEST_", 11) == 0 ||
            !(near = nearest_of(v, (int)strcspn(v, "="), "")))
            continue;
        *name = v;
        *nearest = *near ? near : NULL;
        return k + 1;
    }
    return 0;
}

enum ft_status ft_parse_i64(const char *text, int64_t *out)
{
    if (!isdigit((unsigned char)text[0])) /* strtoll would take blanks and signs */
        return FT_ERR_ARG;
    char *end;
    errno = 0;
    long long v = strtoll(text, &end, 10);
    if (errno)
        return FT_ERR_ARG;

    int shift = 0;
    switch (*end) {
    case 'K': case 'k': shift = 10; break;
    case 'M': case 'm': shift = 20; break;
    case 'G': case 'g': shift = 30; break;
    }
    if (shift)
        end++;
    if (*end || v > (INT64_MAX >> shift))
        return FT_ERR_ARG;
    *out = (int64_t)v << shift;
    return FT_OK;
}

enum ft_status ft_parse_f64(const char *text, double *out)
{
    if (!isdigit((unsigned char)text[0]) && text[0] != '.')
        return FT_ERR_ARG;
    char *end;
    double v = strtod(text, &end);
    if (end == text || *end || !isfinite(v))
        return FT_ERR_ARG;
    *out = v;
    return FT_OK;
}

static enum ft_status bad(enum ft_setting_id id, const char *want, const char *suffixes, char *err, int errlen)
{
    const struct ft_setting_info *s = &ft_settings_table[id];
    if (err && errlen > 0)
        snprintf(err, (size_t)errlen, "%s=%s: must be %s%s%s%s (%s)", s->env, ft_setting_str(id), want, *s->unit ? " of " : "",
                 s->unit, suffixes, s->doc);
    return FT_ERR_ARG;
}

enum ft_status ft_setting_i64(enum ft_setting_id id, int64_t *out, char *err, int errlen)
{
    const char *def = ft_settings_table[id].def, *text = ft_setting_str(id);
    *out = -1;
    if (*def && ft_parse_i64(def, out) != FT_OK)
        FT_ASSERT(!"the table's default is no number");
    if (*text && ft_parse_i64(text, out) != FT_OK)
        return bad(id, "a whole number", ", K, M and G allowed", err, errlen);
    return FT_OK;
}

enum ft_status ft_setting_f64(enum ft_setting_id id, double *out, char *err, int errlen)
{
    const char *def = ft_settings_table[id].def, *text = ft_setting_str(id);
    *out = -1;
    if (*def && ft_parse_f64(def, out) != FT_OK)
        FT_ASSERT(!"the table's default is no number");
    if (*text && ft_parse_f64(text, out) != FT_OK)
        return bad(id, "a number", "", err, errlen);
    return FT_OK;
}

enum ft_status ft_parse_ckpt_policy(const char *text, struct ft_ckpt_policy *out)
{
    struct ft_ckpt_policy p = {.kind = FT_CKPT_DALY, .every = 0};
    if (strcmp(text, "off") == 0) {
        p.kind = FT_CKPT_OFF;
    } else if (strncmp(text, "every:", 6) == 0) {
        p.kind = FT_CKPT_EVERY;
        if (ft_parse_i64(text + 6, &p.every) != FT_OK || p.every < 1)
            return FT_ERR_ARG;
    } else if (strcmp(text, "daly") != 0) {
        return FT_ERR_ARG;
    }
    *out = p;
    return FT_OK;
}

enum ft_status ft_parse_snapshot(const char *text, int *out)
{
    static const char *const names[] = {"barrier", "delay", "peek", "double", "partial"};
    for (int i = 0; i < (int)FT_COUNTOF(names); i++)
        if (strcmp(text, names[i]) == 0) {
            *out = i;
            return FT_OK;
        }
    return FT_ERR_ARG;
}
