/* SPDX-License-Identifier: BSD-3-Clause
 *
 * copy.h - copies past the caches, for data that is written now and read late or never: images and
 * logs. The destination's lines are not read first, and the program's data stays in the cache. Any
 * alignment is allowed; nothing may overlap. On return the copy is complete, also for readers in
 * other processes. On processors without such stores these are plain copies. Any thread.
 */
#ifndef FT_BASE_COPY_H
#define FT_BASE_COPY_H

#include <stddef.h>

/* Below this size a plain copy is as fast: a copy past the caches ends with a fence, and a log's
 * next lines are in the cache already. */
#define FT_COPY_PAST_FROM (8u << 10)

void ft_copy_past(void *past, const void *src, size_t n);
/* Reads src once and writes it twice: past the caches to `past`, and normally to `dst`. Costs about
 * as much as one copy where memory bandwidth is the limit. */
void ft_copy_past_and_to(void *past, void *dst, const void *src, size_t n);

#endif
