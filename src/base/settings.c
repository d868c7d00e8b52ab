/* SPDX-License-Identifier: BSD-3-Clause
 *
 * settings.c - the table of settings and how their texts are read.
 */
#define _GNU_SOURCE 1 /* environ */
#include "base/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/units.h"
#include "base/words.h"

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

/* NULL: the variable is a setting, or one of the tests. `none`: it is not, and no setting is near. */
static const char *nearest_of(const char *name, int len, const char *none)
{
    struct ft_nearest near = ft_nearest_begin(name, len);
    for (int i = 0; i < FT_SET_COUNT; i++)
        ft_nearest_try(&near, ft_settings_table[i].env, (int)strlen(ft_settings_table[i].env));
    return !near.found ? none : near.slips == 0 ? NULL : near.found;
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

/* Microseconds in the unit of a setting that is a time; 0 for others. */
static int64_t unit_us(const struct ft_setting_info *s)
{
    return strcmp(s->unit, "seconds") == 0 ? 1000000 : strcmp(s->unit, "ms") == 0 ? 1000 : 0;
}

static enum ft_status whole(const struct ft_setting_info *s, const char *text, int64_t *out)
{
    if (strcmp(s->unit, "bytes") == 0)
        return ft_parse_bytes(text, 1, out);
    return unit_us(s) ? ft_parse_time_i64(text, unit_us(s), out) : ft_parse_i64(text, out);
}

static enum ft_status decimal(const struct ft_setting_info *s, const char *text, double *out)
{
    return unit_us(s) ? ft_parse_time(text, unit_us(s), out) : ft_parse_f64(text, out);
}

static enum ft_status bad(enum ft_setting_id id, const char *number, char *err, int errlen)
{
    const struct ft_setting_info *s = &ft_settings_table[id];
    if (!err || errlen <= 0)
        return FT_ERR_ARG;
    const char *of = "", *unit = "";
    if (strcmp(s->unit, "bytes") == 0)
        number = FT_BYTES_EXAMPLES;
    else if (unit_us(s))
        number = FT_TIME_EXAMPLES;
    else if (*s->unit)
        of = " of ", unit = s->unit;
    snprintf(err, (size_t)errlen, "%s=%s: must be %s%s%s (%s)", s->env, ft_setting_str(id), number, of, unit, s->doc);
    return FT_ERR_ARG;
}

enum ft_status ft_setting_i64(enum ft_setting_id id, int64_t *out, char *err, int errlen)
{
    const struct ft_setting_info *s = &ft_settings_table[id];
    const char *text = ft_setting_str(id);
    *out = -1;
    if (*s->def && whole(s, s->def, out) != FT_OK)
        FT_ASSERT(!"the table's default is no number");
    if (*text && whole(s, text, out) != FT_OK)
        return bad(id, "a whole number", err, errlen);
    return FT_OK;
}

enum ft_status ft_setting_f64(enum ft_setting_id id, double *out, char *err, int errlen)
{
    const struct ft_setting_info *s = &ft_settings_table[id];
    const char *text = ft_setting_str(id);
    *out = -1;
    if (*s->def && decimal(s, s->def, out) != FT_OK)
        FT_ASSERT(!"the table's default is no number");
    if (*text && decimal(s, text, out) != FT_OK)
        return bad(id, "a number", err, errlen);
    return FT_OK;
}

enum ft_status ft_setting_choice(enum ft_setting_id id, int *out, char *err, int errlen)
{
    const struct ft_setting_info *s = &ft_settings_table[id];
    const char *text = ft_setting_str(id);
    FT_ASSERT(strchr(s->unit, '|'));
    int k = ft_word_index(s->unit, text);
    if (k >= 0) {
        *out = k;
        return FT_OK;
    }
    char must[300];
    ft_word_explain(s->unit, text, must, sizeof must);
    if (err && errlen > 0)
        snprintf(err, (size_t)errlen, "%s=%s: %s", s->env, text, must);
    return FT_ERR_ARG;
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
