/* SPDX-License-Identifier: BSD-3-Clause
 *
 * memcheck.h - looks for memory that body changes and no checkpoint holds. Main only.
 *
 * At some safepoints the program's memory is hashed: static data of the program and of its own
 * libraries, blocks of the heap and private mappings of 64 KiB or more. Left out is what is
 * protected, belongs to a window, was given to FTRMA_Unprotect, or is this library's. If a hash
 * differs from the one at the previous safepoint, a note names the memory, once. Only the library's
 * own memory is written, and nothing is taken from the program's heap. The kernel reads the memory,
 * so memory that does not exist or goes away does no harm.
 */
#ifndef FT_RUNTIME_MEMCHECK_H
#define FT_RUNTIME_MEMCHECK_H

#include "runtime/rt.h"

enum ft_check_memory { FT_CHECK_MEMORY_OFF, FT_CHECK_MEMORY_FIRST, FT_CHECK_MEMORY_ALWAYS };

/* FTRMA_Run begins body for the first time in this process. Sets rt->memcheck if there is something
 * to check. */
void ft_memcheck_begin(struct ft_rt *rt);
/* At a safepoint, not in a replay; rt->memcheck is set. It may end the check. */
void ft_memcheck_safepoint(struct ft_rt *rt);
/* FTRMA_Run is over. */
void ft_memcheck_end(struct ft_rt *rt);
/* The program promises that it does not need the contents of these bytes at safepoints. */
void ft_memcheck_promise(struct ft_rt *rt, uint64_t from, uint64_t to);

#endif
