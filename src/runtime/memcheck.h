/* SPDX-License-Identifier: BSD-3-Clause
 *
 * memcheck.h - is there memory that body changes and that no checkpoint holds? Main only.
 *
 * At some safepoints the program's memory is hashed: static data of the program and of its own
 * libraries, blocks of the heap and private mappings of 64 KiB or more. What is protected, belongs
 * to a window, was given to FTRMA_Unprotect, or is this library's is left out. What has another
 * hash than at the safepoint before is named in a note, once. Nothing is written but our own
 * memory, nothing is taken from the program's heap, and memory is read by the kernel, so that what
 * is not there, or goes away, does no harm.
 */
#ifndef FT_RUNTIME_MEMCHECK_H
#define FT_RUNTIME_MEMCHECK_H

#include "runtime/rt.h"

enum ft_check_memory { FT_CHECK_MEMORY_OFF, FT_CHECK_MEMORY_FIRST, FT_CHECK_MEMORY_ALWAYS };

/* FTRMA_Run begins body for the first time in this process. Sets rt->memcheck where there is
 * something to do. */
void ft_memcheck_begin(struct ft_rt *rt);
/* At a safepoint, in no replay; rt->memcheck is set. May end it. */
void ft_memcheck_safepoint(struct ft_rt *rt);
/* FTRMA_Run is over. */
void ft_memcheck_end(struct ft_rt *rt);
/* The program's promise that it does not need what these bytes hold at safepoints. */
void ft_memcheck_promise(struct ft_rt *rt, uint64_t from, uint64_t to);

#endif
