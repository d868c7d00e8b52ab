/* SPDX-License-Identifier: BSD-3-Clause
 *
 * coverage.h - make coverage: a process that ends by a way that runs no destructors writes what it
 * has counted before. In all other builds nothing.
 */
#ifndef FT_BASE_COVERAGE_H
#define FT_BASE_COVERAGE_H

#ifdef FT_COVERAGE
void __gcov_dump(void); /* the compiler's; once in a process */
static inline void ft_coverage_dump(void) { __gcov_dump(); }
#else
static inline void ft_coverage_dump(void) {}
#endif

#endif
