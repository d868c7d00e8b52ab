/* SPDX-License-Identifier: BSD-3-Clause
 *
 * join.h - a text that is put together piece by piece, in memory of the caller.
 */
#ifndef FT_BASE_JOIN_H
#define FT_BASE_JOIN_H

#include <stddef.h>

struct ft_joined {
    char *out;
    size_t size, len; /* len < size; zero-terminated from the first piece on */
};

/* Appends as much as there is room for. */
void ft_join(struct ft_joined *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
