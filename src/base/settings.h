/* SPDX-License-Identifier: BSD-3-Clause
 *
 * settings.h - all settings are rows of one table (settings.def): environment name, default, unit,
 * one line of documentation. `ftrun --help-settings` and the documents print them from it. Values
 * are read once, at start.
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
    FT_SETTING_WORDS,  /* one of the words of the unit, "a|b|c" */
    FT_SETTING_POLICY, /* a text that ft_parse_ckpt_policy reads */
    FT_SETTING_WHOLE,  /* a whole number; the unit is only for the reader */
    FT_SETTING_BYTES,  /* ft_parse_bytes */
    /* ft_parse_time: decimal, and greater than `least`; the unit is "seconds" or "ms" */
    FT_SETTING_TIME,
    FT_SETTING_WHOLE_TIME, /* ft_parse_time_i64; the same units */
    FT_SETTING_PATH,       /* a file or directory; opening it shows whether it exists */
    FT_SETTING_TEXT,       /* whoever uses it checks it */
};
#define FT_NO_LIMIT INT64_MAX

struct ft_setting_info {
    const char *env, *def, *unit, *doc;
    enum ft_setting_type type;
    int64_t least, most; /* bounds of numbers, in the unit */
};
extern const struct ft_setting_info ft_settings_table[FT_SET_COUNT];

/* Returns the text of a setting: from the environment, or the default if the variable is unset or
 * empty. Never NULL. */
const char *ft_setting_str(enum ft_setting_id id);
/* Looks for a variable at or after place k of the environment that begins with FTRMA_ and is no
 * setting (FTRMA_TEST_ belongs to the tests). If there is one, *name is it, and *nearest is the
 * setting that was probably meant, or NULL if no setting is similar. Returns the place after it; 0
 * at the end of the environment. */
int ft_setting_unknown(int k, const char **name, const char **nearest);
/* Checks that the text of a setting is of its type and within its range; an empty text is valid. On
 * FT_ERR_ARG err says what it must be. as: the option by which it was given, for err; NULL: err
 * names the variable. ftrun and the library, under ftrun and under plain mpirun, have no other
 * check. */
enum ft_status ft_setting_check(enum ft_setting_id id, const char *as, char *err, int errlen);
/* Checks all settings in the same way and stops at the first bad one. as: NULL, or the option of
 * each setting. */
enum ft_status ft_settings_check(const char *const *as, char *err, int errlen);
/* Writes what follows "a whole number" and the like: " from 1 to 8" or ", 0 or more"; nothing if
 * the setting is no number. */
void ft_setting_range(enum ft_setting_id id, char *out, size_t size);
/* Reads a setting as a number in its unit, never negative; -1 when both text and default are empty
 * ("automatic"). On FT_ERR_ARG *out is the default, and err names the setting and says what is
 * wrong. */
enum ft_status ft_setting_i64(enum ft_setting_id id, int64_t *out, char *err, int errlen);
enum ft_status ft_setting_f64(enum ft_setting_id id, double *out, char *err, int errlen);
/* Finds the index, from 0, of the setting's word in the list that is its unit. On FT_ERR_ARG err
 * names the setting, all words, and the one that was probably meant; *out is unchanged. */
enum ft_status ft_setting_choice(enum ft_setting_id id, int *out, char *err, int errlen);

/* The words of FT_SET_RECOVERY, in their order. */
enum { FT_RECOVERY_AUTO, FT_RECOVERY_GLOBAL, FT_RECOVERY_PROGRAM };

/* When checkpoints are due: "daly", "every:K", "off". */
struct ft_ckpt_policy {
    enum { FT_CKPT_DALY, FT_CKPT_EVERY, FT_CKPT_OFF } kind;
    int64_t every;
};
enum ft_status ft_parse_ckpt_policy(const char *text, struct ft_ckpt_policy *out);
/* The words of FTRMA_SNAPSHOT: FT_SNAPSHOT_BARRIER, or the enum ft_snap_alg of the same name
 * (proto/snapshot.h). "vanilla" is not offered, because gets would cross the cut. */
#define FT_SNAPSHOT_BARRIER 0
/* The default number of checksum processes for n ranks in groups with m of them each: m for every 8
 * ranks, rounded up, but such that no group has fewer than m ranks. */
static inline int ft_default_checksums(int n, int m)
{
    int groups = (n + 7) / 8;
    return (groups * m <= n ? groups : n >= m ? n / m : 1) * m;
}

#endif
