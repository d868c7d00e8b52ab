/* SPDX-License-Identifier: BSD-3-Clause
 *
 * join.c - puts a text together.
 */
#include "base/join.h"

#include <stdarg.h>
#include <stdio.h>

void ft_join(struct ft_joined *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(t->out + t->len, t->size - t->len, format, args);
    va_end(args);
    if (n > 0)
        t->len = t->len + (size_t)n < t->size ? t->len + (size_t)n : t->size - 1;
}
