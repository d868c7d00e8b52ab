/* SPDX-License-Identifier: BSD-3-Clause
 *
 * copy.h - copies past the caches, for what is written now and read late or never: images, logs.
 * The destination's lines are not read first, and the program's data stays where it is. Any
 * alignment; complete, for readers in other processes too, on return. On processors without such
 * stores they are plain copies. Any thread; nothing may overlap.
 */
#ifndef FT_BASE_COPY_H
#define FT_BASE_COPY_H

#include <stddef.h>

/* Below this a plain copy is as fast: the fence at the end, and a log's next lines, which are in
 * the cache. */
#define FT_COPY_PAST_FROM (8u << 10)

void ft_copy_past(void *past, const void *src, size_t n);
/* src is read once, and goes past the caches to `past` and as ever to `dst`: about the cost of one
 * copy where memory is the limit. */
void ft_copy_past_and_to(void *past, void *dst, const void *src, size_t n);

#endif
