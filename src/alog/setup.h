/* SPDX-License-Identifier: BSD-3-Clause
 *
 * setup.h - compares the outcomes of two setups, as far as the home log records them (F7). Pure.
 */
#ifndef FT_ALOG_SETUP_H
#define FT_ALOG_SETUP_H

#include "alog/log.h"

/* Returns 1 if nothing differs; else *a and *b are the first actions that differ (NULL: there are
 * no more). Both texts come from ft_homelog_setup_save. Not compared: clock readings, rounds of
 * nonblocking collectives, matches of which a sender was told, and numbers that depend on timing
 * (calls, stamps, lo). */
int ft_setup_same(const char *was, size_t was_bytes, const char *now, size_t now_bytes,
                  const struct ft_act **a, const struct ft_act **b);
/* For two setups that are the same by that: returns a rank that was sent other data; -1: none. Data
 * may differ, since clock readings are also sent. */
int ft_setup_other_data(const char *was, size_t was_bytes, const char *now, size_t now_bytes);

#endif
