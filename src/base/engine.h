/* SPDX-License-Identifier: BSD-3-Clause
 *
 * engine.h - the engine: all state that the library's rooms keep from one call to the next.
 *
 * It is one object, the section "ft_engine". The library has one engine, and its code addresses
 * each variable directly. A unit test may have several, one for each rank of a job, so that a job
 * runs in one process (-DFT_ENGINES). There each thread says which engine it uses, and every access
 * goes through that engine.
 *
 * FT_STATE declares a variable; the second line lets code use its plain name:
 *
 *   extern FT_STATE(int, ft_level);         in a header
 *   #define ft_level FT_MY(ft_level)
 *
 *   FT_STATE(int, ft_level) = FT_LOG_ALL;   in a source
 *
 *   FT_STATIC(struct shared, job);          known to one source only
 *   #define job FT_MY(job)
 *
 * A type that is more than words goes through __typeof__: FT_STATE(__typeof__(void (*)(int)), f).
 * The name of a static variable may not be that of a member or a local variable in the same source.
 * An initial value may point to other variables of the engine by FT_AT(name). Functions have no
 * static variables, except for what belongs to the process and not to a rank, such as the
 * processor's features and the host's functions. scripts/engine.sh knows these exceptions, and
 * fails for any other variable outside of the engine.
 */
#ifndef FT_BASE_ENGINE_H
#define FT_BASE_ENGINE_H

#include <stddef.h>

#define FT_IN_ENGINE __attribute__((section("ft_engine")))
/* -fvisibility does not reach declarations, and each access would load the address first. */
#define FT_HIDDEN __attribute__((visibility("hidden")))

#ifndef FT_ENGINES

#define FT_STATE(type, name) FT_IN_ENGINE FT_HIDDEN type name
#define FT_STATIC(type, name) static FT_IN_ENGINE type name
#define FT_MY(name) name
#define FT_AT(name) (&name)

#else

#define FT_STATE(type, name) FT_IN_ENGINE FT_HIDDEN type ft_state_##name
#define FT_STATIC(type, name) static FT_IN_ENGINE type ft_state_##name
#define FT_MY(name) (*(__typeof__(&ft_state_##name))ft_engine_own(&ft_state_##name))
#define FT_AT(name) (&ft_state_##name)

/* Bytes from the section to this thread's engine. 0, the initial value, is the section itself. */
extern _Thread_local ptrdiff_t ft_engine_at;

static inline void *ft_engine_own(void *variable)
{
    __asm__(""
            /* without this the compiler takes the result for a part of the variable */
            : "+r"(variable));
    return (char *)variable + ft_engine_at;
}

/* Makes a new engine with the values that the section had when the program began; the result is for
 * ft_engine_enter. Its pointers to other variables of the engine point into the new engine. Returns
 * 0 if there is no memory. */
ptrdiff_t ft_engine_new(void);
/* Frees an engine. No thread may be in it. */
void ft_engine_free(ptrdiff_t engine);

#endif

/* The calling thread's engine, to be given to a thread that it starts. One definition for both:
 * gcovr does not merge a function that begins at two lines. */
static inline ptrdiff_t ft_engine_here(void)
{
#ifdef FT_ENGINES
    return ft_engine_at;
#else
    return 0;
#endif
}

static inline void ft_engine_enter(ptrdiff_t engine)
{
#ifdef FT_ENGINES
    ft_engine_at = engine;
#else
    (void)engine;
#endif
}

#endif
