/* SPDX-License-Identifier: BSD-3-Clause
 *
 * refuse.h - private to the room: messages that say why something is impossible.
 */
#ifndef FT_TOPOLOGY_REFUSE_H
#define FT_TOPOLOGY_REFUSE_H

#include <stdarg.h>
#include <stdio.h>

#include "base/status.h"

__attribute__((format(printf, 3, 4))) static inline enum ft_status ft_refuse(char *why, size_t size,
                                                                             const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(why, size, fmt, ap);
    va_end(ap);
    return FT_ERR_ARG;
}

#endif
