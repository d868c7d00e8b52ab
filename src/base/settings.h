/* SPDX-License-Identifier: BSD-3-Clause
 *
 * settings.h - all settings are rows of one table (settings.def): environment name, default, unit,
 * one line of doc. `ftrun --help-settings` and the docs print from it. Values are read once, at
 * start.
 */
#ifndef FT_BASE_SETTINGS_H
#define FT_BASE_SETTINGS_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum ft_setting_id {
#define FT_SETTING(id, env, def, type, least, most, unit, doc) FT_SET_##id,
#include "base/settings.def"
#undef FT_SETTING
    FT_SET_COUNT
};

enum ft_setting_type {
    FT_SETTING_WORDS,      /* one of the words of the unit, "a|b|c" */
    FT_SETTING_POLICY,     /* what ft_parse_ckpt_policy reads */
    FT_SETTING_WHOLE,      /* a whole number; the unit is a word for the reader */
    FT_SETTING_BYTES,      /* ft_parse_bytes */
    FT_SETTING_TIME,       /* ft_parse_time: decimal, and above the least; unit "seconds" or "ms" */
    FT_SETTING_WHOLE_TIME, /* ft_parse_time_i64; the same units */
    FT_SETTING_PATH,       /* a file or directory; whether it is there is seen when it is opened */
    FT_SETTING_TEXT,       /* whoever uses it knows more */
};
#define FT_NO_LIMIT INT64_MAX

struct ft_setting_info {
    const char *env, *def, *unit, *doc;
    enum ft_setting_type type;
    int64_t least, most; /* of numbers, in the unit */
};
extern const struct ft_setting_info ft_settings_table[FT_SET_COUNT];

/* The text of a setting: the environment's, else the default (also when the environment's is
 * empty). Never NULL. */
const char *ft_setting_str(enum ft_setting_id id);
/* Where a variable at or after place k of the environment begins with FTRMA_ and is no setting
 * (FTRMA_TEST_ is the tests' own) *name is it and *nearest the setting that it may have been meant
 * for, NULL if none is alike. Returns the place after it, 0 at the end. */
int ft_setting_unknown(int k, const char **name, const char **nearest);
/* Whether the text of a setting is of its type and within its range; an empty one is. On FT_ERR_ARG
 * err says what it must be. as: the option by which it was given, so that err names that; NULL: the
 * variable. This is the only check, for ftrun, the library under ftrun and under plain mpirun. */
enum ft_status ft_setting_check(enum ft_setting_id id, const char *as, char *err, int errlen);
/* The same of all settings; as: NULL, or of each setting. Stops at the first that is bad. */
enum ft_status ft_settings_check(const char *const *as, char *err, int errlen);
/* What follows "a whole number" and the like: " from 1 to 8", ", 0 or more"; empty for no number.
 */
void ft_setting_range(enum ft_setting_id id, char *out, size_t size);
/* As a number in the setting's unit, never negative. -1 when both text and default are empty
 * ("automatic"). On FT_ERR_ARG *out is the default's value and err names the setting and what was
 * wrong. */
enum ft_status ft_setting_i64(enum ft_setting_id id, int64_t *out, char *err, int errlen);
enum ft_status ft_setting_f64(enum ft_setting_id id, double *out, char *err, int errlen);
/* The place, from 0, of the setting's word among those of its unit. On FT_ERR_ARG err names the
 * setting, all words, and the one that was probably meant; *out is unchanged. */
enum ft_status ft_setting_choice(enum ft_setting_id id, int *out, char *err, int errlen);

/* When checkpoints are due: "daly", "every:K", "off". */
struct ft_ckpt_policy {
    enum { FT_CKPT_DALY, FT_CKPT_EVERY, FT_CKPT_OFF } kind;
    int64_t every;
};
enum ft_status ft_parse_ckpt_policy(const char *text, struct ft_ckpt_policy *out);
/* FTRMA_SNAPSHOT's words: FT_SNAPSHOT_BARRIER or, as the names are, an enum ft_snap_alg
 * (proto/snapshot.h). "vanilla" is not offered: gets would cross the cut. */
#define FT_SNAPSHOT_BARRIER 0
/* Default number of checksum processes for n ranks in groups with m of them: m per 8 ranks, rounded
 * up, but no group smaller than m. */
static inline int ft_default_checksums(int n, int m)
{
    int groups = (n + 7) / 8;
    return (groups * m <= n ? groups : n >= m ? n / m : 1) * m;
}

#endif
