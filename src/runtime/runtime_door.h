/* SPDX-License-Identifier: BSD-3-Clause
 *
 * runtime_door.h - the door of each MPI call, and calls from other threads than main.
 */
#ifndef FT_RUNTIME_DOOR_H
#define FT_RUNTIME_DOOR_H

#include "alog/homelog.h"
#include "base/engine.h"
#include "transport/polled.h"
#include "transport/turn.h"
#include "transport/wait.h"

/* Calls may come from several threads, one at a time (MPI_THREAD_SERIALIZED was given). What
 * threads do together does not follow from one thread's past. So a rank that calls from another
 * thread than main is exposed until the next image. And only main can leave a call for a rollback:
 * if another thread is in one, the job ends. */
extern FT_STATE(int, ft_runtime_threads);
#define ft_runtime_threads FT_MY(ft_runtime_threads)
int ft_runtime_on_main(void); /* 1 in the thread that called MPI_Init */
void ft_runtime_door_of_thread(void);

/* The door of each MPI call that communicates or synchronises: takes over a new generation, or
 * parks for a rollback (then it does not return). Main counts as inside until the calling function
 * ends. Costs two stores, a load and a predictable branch. */
#define FT_DOOR(pass)                                            \
    const int ft_was_in_call_                                    \
        __attribute__((cleanup(ft_unmark_call), __unused__)) =   \
            ft_mark_call();                                      \
    pass()
#define ft_door_uncounted() FT_DOOR(ft_pass_door_uncounted)
#define ft_door() FT_DOOR(ft_pass_door) /* also counts the call (calls(p), L0) */
/* Marks only: another door follows, or nothing in the call waits. */
#define ft_door_unattended() FT_DOOR(ft_pass_door_unattended)

void ft_attend_door(int counted);
static inline void ft_pass_door_uncounted(void)
{
    if (FT_UNLIKELY(atomic_load_explicit(&ft_attention, memory_order_relaxed) != 0))
        ft_attend_door(0);
}
static inline void ft_pass_door(void)
{
    if (FT_UNLIKELY(atomic_load_explicit(&ft_attention, memory_order_relaxed) != 0)) {
        ft_attend_door(1);
        return;
    }
    if (FT_LIKELY(!ft_uncounted))
        ft_call_begin();
    if (FT_UNLIKELY(ft_runtime_threads))
        ft_runtime_door_of_thread();
}
static inline void ft_pass_door_unattended(void)
{
    if (FT_UNLIKELY(atomic_load_explicit(&ft_attention, memory_order_relaxed) != 0))
        ft_turn_await();
}

#endif
