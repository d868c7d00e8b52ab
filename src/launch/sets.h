/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sets.h - a directory with sets: which there are, which is whole (F4, F6).
 *
 *   DIR/set.7/manifest.json, rank.0, rank.1 ...   a set. The larger its number, the newer it is
 *   DIR/set.8.part/                               no set: one that is being written, was given up,
 *                                                 or is being removed
 *   DIR/lock                                      held by the job that saves there, and shared by
 *                                                 those that read
 */
#ifndef FT_LAUNCH_SETS_H
#define FT_LAUNCH_SETS_H

#include <limits.h>
#include <stdio.h>

#include "launch/manifest.h"

#define FT_SETS_KEPT 2

struct ft_set {
    unsigned number;
    char path[PATH_MAX];
    struct ft_manifest m;
};

/* Holds the directory until the descriptor is closed: alone, to save there, or with others, to
 * read. -1: why says why not. */
int ft_sets_hold(const char *dir, int alone, char *why, size_t size);
/* The largest number of a set that is or was begun there; 0: none. */
unsigned ft_sets_newest(const char *dir);
/* Removes what was begun and is no set. By who holds the directory alone. */
void ft_sets_tidy(const char *dir);
/* All but the newest FT_SETS_KEPT go. removing: called when one has lost its name (NULL: nobody
 * asks). */
void ft_sets_drop_old(const char *dir, void (*removing)(void));
static inline void ft_set_path(const char *dir, unsigned number, int part, char *out, size_t size)
{
    snprintf(out, size, "%s/set.%u%s", dir, number, part ? ".part" : "");
}
/* The newest set that is whole: all its files were read. FT_ERR_ARG: there is none. say: why a
 * newer one is not taken.
 */
enum ft_status ft_sets_choose(const char *dir, struct ft_set *out, void (*say)(const char *line));
/* Ranks of the newest set that has a manifest which can be read; 0: there is none. */
int ft_sets_ranks(const char *dir);

#endif
