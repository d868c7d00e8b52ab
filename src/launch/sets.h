/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sets.h - a directory with sets: finds out which there are, and which are complete (F4, F6).
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

/* Holds the directory until the descriptor is closed: exclusively, to save there, or shared, to
 * read. -1: `why` says why not. */
int ft_sets_hold(const char *dir, int alone, char *why, size_t size);
/* The largest number of a set that was begun there; 0: none. */
unsigned ft_sets_newest(const char *dir);
/* Removes what was begun and is no set. The caller holds the directory exclusively. */
void ft_sets_tidy(const char *dir);
/* Removes all but the newest FT_SETS_KEPT. removing: called when one has lost its name (may be
 * NULL). */
void ft_sets_drop_old(const char *dir, void (*removing)(void));
static inline void ft_set_path(const char *dir, unsigned number, int part, char *out, size_t size)
{
    snprintf(out, size, "%s/set.%u%s", dir, number, part ? ".part" : "");
}
/* Finds the newest complete set, by reading all its files; only sets with numbers above `above`
 * count. FT_ERR_ARG: there is none. say: prints why a newer one is not taken. */
enum ft_status ft_sets_choose(const char *dir, unsigned above, struct ft_set *out,
                              void (*say)(const char *line));
/* The number of ranks of the newest set with a readable manifest; 0: there is none. */
int ft_sets_ranks(const char *dir);

#endif
