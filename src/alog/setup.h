/* SPDX-License-Identifier: BSD-3-Clause
 *
 * setup.h - whether two setups came to the same, by what the home log has of them (F7). Pure.
 */
#ifndef FT_ALOG_SETUP_H
#define FT_ALOG_SETUP_H

#include "alog/log.h"

/* The first action that differs, of each; NULL: there is none any more. 1: nothing differs. Both:
 * as ft_homelog_setup_save has it. Not compared: what time it was, rounds of nonblocking
 * collectives, matches that a sender was told of, and numbers that depend on timing (calls, stamps,
 * lo). */
int ft_setup_same(const char *was, size_t was_bytes, const char *now, size_t now_bytes,
                  const struct ft_act **a, const struct ft_act **b);
/* Of two setups that are the same by that: a rank that was sent other data; -1: none. Data may
 * differ, since clock readings are sent, too. */
int ft_setup_other_data(const char *was, size_t was_bytes, const char *now, size_t now_bytes);

#endif
