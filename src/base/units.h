/* SPDX-License-Identifier: BSD-3-Clause
 *
 * units.h - numbers with units as people write them. The options of all tools and all settings have
 * this one syntax.
 *
 *   times    us, ms, s, min (or m), h, d, w, y (365.25 days)       90s, 5min, 1.5h
 *   sizes    B, K, M, G, T (or KiB ... TiB), powers of 1024        512M, 1.5G, 64KiB
 *   counts   K, M, G, powers of 1024                               12, 4K
 *
 * A number without a unit has the unit that the caller names. The decimal point is a point in every
 * locale. Nothing is allocated, and *out is set on success only.
 */
#ifndef FT_BASE_UNITS_H
#define FT_BASE_UNITS_H

#include <stdint.h>

#include "base/status.h"

#define FT_TIME_EXAMPLES "a time such as 90s, 5min, 1.5h or 2d"
#define FT_BYTES_EXAMPLES "a size such as 512M, 1.5G or 64KiB"

/* A whole number, 0 or more. */
enum ft_status ft_parse_i64(const char *text, int64_t *out);
/* A decimal number, 0 or more, without a unit. */
enum ft_status ft_parse_f64(const char *text, double *out);
/* Seconds. A number without a unit counts units of `plain_us` microseconds (1000000: seconds). */
enum ft_status ft_parse_time(const char *text, int64_t plain_us, double *out);
/* The same as an integer number of units of `plain_us`, rounded up. */
enum ft_status ft_parse_time_i64(const char *text, int64_t plain_us, int64_t *out);
/* Bytes, rounded up. A number without a unit counts units of `plain` bytes. */
enum ft_status ft_parse_bytes(const char *text, int64_t plain, int64_t *out);

#endif
