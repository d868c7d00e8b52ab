/* SPDX-License-Identifier: BSD-3-Clause
 *
 * arguments.h - numbers on the command line.
 */
#ifndef APPS_ARGUMENTS_H
#define APPS_ARGUMENTS_H

#include <limits.h>
#include <stdlib.h>

/* 0 when text is not a positive int. */
static inline int parse_count(const char *text)
{
    char *end;
    long v = strtol(text, &end, 10);
    return *end == '\0' && v > 0 && v < INT_MAX ? (int)v : 0;
}

#endif
