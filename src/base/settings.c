/* SPDX-License-Identifier: BSD-3-Clause
 *
 * settings.c - the table of settings, and how their texts are read.
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
#define FT_SETTING(id, env, def, type, least, most, unit, doc) \
    [FT_SET_##id] = {env, def, unit, doc, FT_SETTING_##type, least, most},
#include "base/settings.def"
#undef FT_SETTING
};

const char *ft_setting_str(enum ft_setting_id id)
{
    FT_ASSERT((unsigned)id < FT_SET_COUNT);
    const char *text = getenv(ft_settings_table[id].env);
    return text && *text ? text : ft_settings_table[id].def;
}

/* NULL: the variable is a setting, or belongs to the tests. `none`: it is no setting, and none is
 * similar. */
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

/* Microseconds in the unit of a setting that is a time. */
static int64_t unit_us(const struct ft_setting_info *s)
{
    return strcmp(s->unit, "seconds") == 0 ? 1000000 : 1000;
}

static enum ft_status read_whole(const struct ft_setting_info *s, const char *text, int64_t *out)
{
    int64_t v;
    enum ft_status st = s->type == FT_SETTING_BYTES        ? ft_parse_bytes(text, 1, &v)
                        : s->type == FT_SETTING_WHOLE_TIME ? ft_parse_time_i64(text, unit_us(s), &v)
                                                           : ft_parse_i64(text, &v);
    if (st != FT_OK || v < s->least || v > s->most)
        return FT_ERR_ARG;
    *out = v;
    return FT_OK;
}

static enum ft_status read_decimal(const struct ft_setting_info *s, const char *text, double *out)
{
    double v;
    if (ft_parse_time(text, unit_us(s), &v) != FT_OK || v <= (double)s->least)
        return FT_ERR_ARG;
    *out = v;
    return FT_OK;
}

static const char *words_of(const struct ft_setting_info *s)
{
    return s->type == FT_SETTING_POLICY ? "daly|every:K (K of 1 or more)|off" : s->unit;
}

static enum ft_status read_any(const struct ft_setting_info *s, const char *text)
{
    int64_t v;
    double d;
    struct ft_ckpt_policy policy;
    switch (s->type) {
    case FT_SETTING_WORDS: return ft_word_index(s->unit, text) >= 0 ? FT_OK : FT_ERR_ARG;
    case FT_SETTING_POLICY: return ft_parse_ckpt_policy(text, &policy);
    case FT_SETTING_TIME: return *text ? read_decimal(s, text, &d) : FT_OK;
    case FT_SETTING_WHOLE:
    case FT_SETTING_BYTES:
    case FT_SETTING_WHOLE_TIME: return *text ? read_whole(s, text, &v) : FT_OK;
    case FT_SETTING_PATH:
    case FT_SETTING_TEXT: break;
    }
    return FT_OK;
}

void ft_setting_range(enum ft_setting_id id, char *out, size_t size)
{
    const struct ft_setting_info *s = &ft_settings_table[id];
    int number = s->type == FT_SETTING_WHOLE || s->type == FT_SETTING_BYTES ||
                 s->type == FT_SETTING_WHOLE_TIME;
    if (s->type == FT_SETTING_TIME || (number && s->type != FT_SETTING_WHOLE && s->least == 1))
        snprintf(out, size, ", above 0");
    else if (number && s->most == FT_NO_LIMIT)
        snprintf(out, size, ", %lld or more", (long long)s->least);
    else if (number)
        snprintf(out, size, " from %lld to %lld", (long long)s->least, (long long)s->most);
    else
        snprintf(out, size, "%s", "");
}

static enum ft_status bad(enum ft_setting_id id, const char *as, char *err, int errlen)
{
    const struct ft_setting_info *s = &ft_settings_table[id];
    const char *text = ft_setting_str(id);
    char range[60];
    if (!err || errlen <= 0)
        return FT_ERR_ARG;
    int n = snprintf(err, (size_t)errlen, "%s%s%s: ", as ? as : s->env, as ? " " : "=", text);
    if (n >= errlen)
        return FT_ERR_ARG;
    err += n;
    errlen -= n;
    if (s->type == FT_SETTING_WORDS || s->type == FT_SETTING_POLICY) {
        ft_word_explain(words_of(s), text, err, (size_t)errlen);
        return FT_ERR_ARG;
    }
    ft_setting_range(id, range, sizeof range);
    snprintf(err, (size_t)errlen, "must be %s%s (%s)",
             s->type == FT_SETTING_WHOLE   ? "a whole number"
             : s->type == FT_SETTING_BYTES ? FT_BYTES_EXAMPLES
                                           : FT_TIME_EXAMPLES,
             range, s->doc);
    return FT_ERR_ARG;
}

enum ft_status ft_setting_check(enum ft_setting_id id, const char *as, char *err, int errlen)
{
    FT_ASSERT((unsigned)id < FT_SET_COUNT);
    return read_any(&ft_settings_table[id], ft_setting_str(id)) == FT_OK ? FT_OK
                                                                         : bad(id, as, err, errlen);
}

enum ft_status ft_settings_check(const char *const *as, char *err, int errlen)
{
    for (int id = 0; id < FT_SET_COUNT; id++)
        if (ft_setting_check((enum ft_setting_id)id, as ? as[id] : NULL, err, errlen) != FT_OK)
            return FT_ERR_ARG;
    return FT_OK;
}

enum ft_status ft_setting_i64(enum ft_setting_id id, int64_t *out, char *err, int errlen)
{
    const struct ft_setting_info *s = &ft_settings_table[id];
    const char *text = ft_setting_str(id);
    *out = -1;
    if (*s->def && read_whole(s, s->def, out) != FT_OK)
        FT_ASSERT(!"the table's default is no number");
    if (*text && read_whole(s, text, out) != FT_OK)
        return bad(id, NULL, err, errlen);
    return FT_OK;
}

enum ft_status ft_setting_f64(enum ft_setting_id id, double *out, char *err, int errlen)
{
    const struct ft_setting_info *s = &ft_settings_table[id];
    const char *text = ft_setting_str(id);
    *out = -1;
    if (*s->def && read_decimal(s, s->def, out) != FT_OK)
        FT_ASSERT(!"the table's default is no number");
    if (*text && read_decimal(s, text, out) != FT_OK)
        return bad(id, NULL, err, errlen);
    return FT_OK;
}

enum ft_status ft_setting_choice(enum ft_setting_id id, int *out, char *err, int errlen)
{
    const struct ft_setting_info *s = &ft_settings_table[id];
    FT_ASSERT(s->type == FT_SETTING_WORDS);
    int k = ft_word_index(s->unit, ft_setting_str(id));
    if (k < 0)
        return bad(id, NULL, err, errlen);
    *out = k;
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
