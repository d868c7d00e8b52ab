/* SPDX-License-Identifier: BSD-3-Clause
 *
 * wait.h - how a main thread waits: it spins briefly, yields, then sleeps on its doorbell, a futex
 * word in its control block.
 *
 *   struct ft_waiter w = FT_WAITER_INIT;
 *   while (!condition()) { progress(); ft_wait(&w); }
 *
 * Before it sleeps, ft_wait sets the word `sleeping`, issues a membarrier and returns once more, so
 * that the loop checks its condition again. So a process that rings needs no fence between
 * publishing and looking at `sleeping`. The loop's condition must be changed only by somebody who
 * rings the waiter afterwards. ft_wait may not return: see ft_attend.
 */
#ifndef FT_TRANSPORT_WAIT_H
#define FT_TRANSPORT_WAIT_H

#include "base/base.h"
#include "base/engine.h"

struct ft_waiter {
    uint32_t polls, bell;
    int armed;
    int unrung; /* nobody rings when the condition changes: check it every 200 us */
    /* 1 + the world rank that is waited for; 0: none, or not known. For messages to users */
    int on;
    /* do not call ft_wait_work meanwhile: the wait is a part of that work, or must not be overtaken
     * by it */
    int alone;
    int deaf; /* do not attend meanwhile: what is waited for comes in any case */
    /* sleep at once: nobody waits for this process, and others need its core */
    int patient;
};
#define FT_WAITER_INIT \
    {                  \
        0              \
    }
#define FT_WAITER_UNRUNG \
    {                    \
        .unrung = 1      \
    }
#define FT_WAITER_ALONE         \
    {                           \
        .unrung = 1, .alone = 1 \
    }

void ft_wait(struct ft_waiter *w);
/* Polls that pay before the processor is given away: few when processes outnumber cores. */
uint32_t ft_wait_spin(void);
/* Called after the loop if ft_wait may have armed the doorbell: clears `sleeping`. Mostly cheap. */
void ft_wait_end(struct ft_waiter *w);

/* Set by the agent: main must attend to something (a new generation, a rollback). */
extern FT_STATE(_Atomic uint32_t, ft_attention);
#define ft_attention FT_MY(ft_attention)
enum {
    FT_ATT_REBIND = 1,
    FT_ATT_PARK = 2,
    FT_ATT_REPLAY = 4, /* stays set as long as this process replays */
    /* set by main itself; stays set as long as there is work that goes on whatever main does */
    FT_ATT_WORK = 8,
    FT_ATT_SNAPSHOT =
        16, /* stays set while a snapshot is under way: accesses to windows pass a gate (cut.h) */
    /* arenas of the dead are to be given back: at the next door, not in a wait */
    FT_ATT_RELEASE = 32,
    FT_ATT_PLACE = 64 /* main is to say where it is (runtime/still.c) */
};
/* The work of FT_ATT_WORK: nonblocking collectives. Called at the door of calls and in waits.
 * Returns 1 if something has changed; sets *unrung if it waits for something that does not ring. */
extern FT_STATE(__typeof__(int (*)(int *unrung)), ft_wait_work);
#define ft_wait_work FT_MY(ft_wait_work)
/* Called at the door of a call when ft_attention is set: attends, and does that work. */
void ft_attend_at_door(void);
/* 1 while the handler is called from a waiting loop; 0 at the door of a call. */
extern FT_STATE(int, ft_in_wait);
#define ft_in_wait FT_MY(ft_in_wait)
/* Attends: calls the runtime's handler, which may longjmp. */
void ft_attend(void);

/* A barrier: either main sees what this thread has stored before, or this thread sees what main has
 * stored. */
void ft_wait_fence(void);

struct ft_ctl;
/* Must be called by a process that rings others and has no main. */
enum ft_status ft_wait_join(void);
/* Must be called before this process rings anybody or makes an access (rma/windows.h). own: this
 * process's control block; handler: the runtime's; spin: polls before yielding. FT_ERR_SYS: there
 * is no membarrier. Without it a ring can be missed, and an access to the dead. */
enum ft_status ft_wait_init(struct ft_ctl *own, void (*handler)(void), uint32_t spin);
/* Incremented whenever a call of the program made progress. A main that only waits, or polls in
 * vain, does not increment it. */
extern FT_STATE(_Atomic uint64_t, ft_wait_progress);
#define ft_wait_progress FT_MY(ft_wait_progress)
/* The waiting loop from which the handler is called; NULL: it is called at a door. */
extern FT_STATE(const struct ft_waiter *, ft_waiting);
#define ft_waiting FT_MY(ft_waiting)
extern FT_STATE(_Atomic uint32_t, ft_wait_naps);   /* how often main has gone to sleep in ft_wait */
extern FT_STATE(_Atomic uint32_t, ft_wait_asleep); /* 1 while the main sleeps in ft_wait */
#define ft_wait_naps FT_MY(ft_wait_naps)
#define ft_wait_asleep FT_MY(ft_wait_asleep)

#endif
