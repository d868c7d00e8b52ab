/* SPDX-License-Identifier: BSD-3-Clause
 *
 * engine.h - the engine: all state that the rooms of the library keep from one call to the next.
 *
 * It is one object, the section "ft_engine". The library has one of it, and its code addresses each
 * variable directly. A unit test may have several, one for each rank of a job, so that a job runs
 * in one process (-DFT_ENGINES): there each thread says which engine is its own, and every access
 * goes through that.
 *
 * A variable is declared by FT_STATE, and is used by its plain name because of the second line:
 *
 *   extern FT_STATE(int, ft_level);         in a header
 *   #define ft_level FT_MY(ft_level)
 *
 *   FT_STATE(int, ft_level) = FT_LOG_ALL;   in a source
 *
 *   static FT_STATE(struct shared, job);        known to one source only
 *   #define job FT_MY(job)
 *
 * A type that is more than words goes through __typeof__: FT_STATE(__typeof__(void (*)(int)), f).
 * The name of a static one may not be that of a member or a local variable in the same source. An
 * initial value may point to other variables of the engine by FT_AT(name). There are no static
 * variables within functions, but for what is the process's and not a rank's: what a processor
 * can, what the host's functions are. scripts/engine.sh knows these, and fails for any other
 * variable outside of the engine.
 */
#ifndef FT_BASE_ENGINE_H
#define FT_BASE_ENGINE_H

#include <stddef.h>

#define FT_IN_ENGINE __attribute__((section("ft_engine")))

#ifndef FT_ENGINES

#define FT_STATE(type, name) FT_IN_ENGINE type name
#define FT_MY(name) name
#define FT_AT(name) (&name)

/* For a thread that is started: the engine of who starts it. */
static inline ptrdiff_t ft_engine_here(void) { return 0; }
static inline void ft_engine_enter(ptrdiff_t engine) { (void)engine; }

#else

#define FT_STATE(type, name) FT_IN_ENGINE type ft_state_##name
#define FT_MY(name) (*(__typeof__(&ft_state_##name))ft_engine_own(&ft_state_##name))
#define FT_AT(name) (&ft_state_##name)

/* Bytes from the section to this thread's engine; 0, as at first: the section itself. */
extern _Thread_local ptrdiff_t ft_engine_at;

static inline void *ft_engine_own(void *variable)
{
    __asm__(""
            : "+r"(variable)); /* the compiler would take the result for a part of the variable */
    return (char *)variable + ft_engine_at;
}
static inline ptrdiff_t ft_engine_here(void) { return ft_engine_at; }
static inline void ft_engine_enter(ptrdiff_t engine) { ft_engine_at = engine; }

/* An engine as the section was when the program began, for ft_engine_enter. Pointers in it to other
 * variables of the engine point to its own. 0: no memory. */
ptrdiff_t ft_engine_new(void);
/* No thread is in it. */
void ft_engine_free(ptrdiff_t engine);

#endif
#endif
