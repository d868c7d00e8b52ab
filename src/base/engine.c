/* SPDX-License-Identifier: BSD-3-Clause
 *
 * engine.c - several engines in one process, for unit tests. It is not part of the library.
 */
#ifdef FT_ENGINES
#include "base/engine.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

#define ALIGNED 4096 /* no variable has a larger alignment */

_Thread_local ptrdiff_t ft_engine_at;

extern char __start_ft_engine[] __attribute__((visibility("hidden"))), __stop_ft_engine[]
    __attribute__((visibility("hidden"))); /* the linker's names for the section */
static char *pristine;

static size_t engine_bytes(void) { return (size_t)(__stop_ft_engine - __start_ft_engine); }

/* A copy has the section's offset from an aligned address, so that each variable is aligned as in
 * the section. */
static size_t offset_in_copy(void) { return (uintptr_t)__start_ft_engine % ALIGNED; }

static char *new_copy(const char *from)
{
    char *p = aligned_alloc(ALIGNED, ft_align_up(offset_in_copy() + engine_bytes(), ALIGNED));
    return p ? memcpy(p + offset_in_copy(), from, engine_bytes()) : NULL;
}

__attribute__((constructor)) static void keep_pristine(void)
{
    pristine = new_copy(__start_ft_engine);
}

ptrdiff_t ft_engine_new(void)
{
    char *copy = pristine ? new_copy(pristine) : NULL;
    if (!copy)
        return 0;
    ptrdiff_t engine = (ptrdiff_t)((uintptr_t)copy - (uintptr_t)__start_ft_engine);
    uintptr_t begin = (uintptr_t)__start_ft_engine, end = (uintptr_t)__stop_ft_engine, word;
    size_t first = ft_align_up(begin, sizeof word) - begin;
    for (size_t at = first; at + sizeof word <= engine_bytes(); at += sizeof word) {
        memcpy(&word, copy + at, sizeof word);
        if (word >= begin && word < end) {
            word += (uintptr_t)engine;
            memcpy(copy + at, &word, sizeof word);
        }
    }
    return engine;
}

void ft_engine_free(ptrdiff_t engine)
{
    if (engine)
        free((void *)((uintptr_t)__start_ft_engine + (uintptr_t)engine - offset_in_copy()));
}
#endif
