/* SPDX-License-Identifier: BSD-3-Clause
 *
 * wait.c - a waiting main spins, yields, then sleeps.
 */
#define _GNU_SOURCE
#include "transport/wait.h"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "transport/arena.h"
#include "transport/polled.h"

/* after this many polls it sleeps: a sleep and a wake-up cost some ten of these */
#define YIELDS 1000
#define QUIET_POLLS 64 /* polls without a pause: what is under way arrives within these */

FT_STATE(_Atomic uint32_t, ft_attention);
FT_STATE(int, ft_in_wait);
FT_STATE(_Atomic uint64_t, ft_wait_progress);
FT_STATE(_Atomic uint32_t, ft_wait_asleep);
FT_STATE(_Atomic uint32_t, ft_wait_naps);
FT_STATE(const struct ft_waiter *, ft_waiting);
FT_STATE(__typeof__(int (*)(int *unrung)), ft_wait_work);

FT_STATIC(struct ft_ctl *, own);
FT_STATIC(__typeof__(void (*)(void)), attend);
FT_STATIC(uint32_t, spin) = 1000;
#define own FT_MY(own)
#define attend FT_MY(attend)
#define spin FT_MY(spin)

enum ft_status ft_wait_join(void)
{
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0
               ? FT_OK
               : FT_ERR_SYS;
}

enum ft_status ft_wait_init(struct ft_ctl *ctl, void (*handler)(void), uint32_t polls)
{
    own = ctl;
    attend = handler;
    spin = polls;
    ft_polls_most = polls ? 16384 : 64;
    return ft_wait_join();
}

uint32_t ft_wait_spin(void) { return spin; }

/* About 300 us. If there is a core for each process, nobody waits for this one. */
FT_STATE(uint32_t, ft_polls_in_vain);
FT_STATE(uint32_t, ft_polls_most) = 64;

FT_STATE(__typeof__(void (*)(void)), ft_wait_messages);

FT_STATE(uint32_t, ft_looks);

void ft_looked_long(void)
{
    ft_looks = 0;
    if (ft_wait_messages)
        ft_wait_messages();
}

void ft_polled_long(void)
{
    ft_polls_in_vain = 0;
    ft_looked_long();
    sched_yield();
}

/* A full barrier in all running threads of all processes that have called ft_wait_init; other
 * threads pass one before they run. It cannot fail any more. */
static void membarrier(void) { syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0); }

void ft_wait_fence(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    membarrier();
}

static void disarm(void)
{
    atomic_store_explicit(&own->sleeping, 0, memory_order_relaxed);
    atomic_store_explicit(&ft_wait_asleep, 0, memory_order_relaxed);
}

void ft_attend(void)
{
    disarm();
    attend();
}

static int attention(void)
{
    return (int)atomic_load_explicit(&ft_attention, memory_order_acquire);
}

void ft_attend_at_door(void)
{
    int unrung;
    if (attention() & ~(FT_ATT_WORK | FT_ATT_SNAPSHOT | FT_ATT_RELEASE))
        ft_attend();
    if (attention() & FT_ATT_WORK)
        ft_wait_work(&unrung);
}

/* Returns 1 if something has changed that this main may have been waiting for. */
static int work(struct ft_waiter *w)
{
    int unrung = 0, changed = ft_wait_work(&unrung);
    w->unrung |= unrung;
    if (changed) {
        disarm();
        w->armed = 0;
        w->polls = 0;
    }
    return changed;
}

static void arm(struct ft_waiter *w)
{
    w->bell = atomic_load_explicit(&own->bell, memory_order_acquire);
    atomic_store_explicit(&own->sleeping, 1, memory_order_seq_cst);
    membarrier();
    w->armed = 1;
}

void ft_wait(struct ft_waiter *w)
{
    FT_ASSERT(own);
    int news = w->deaf ? 0 : attention();
    if (FT_UNLIKELY(news != 0)) {
        if (news & ~(FT_ATT_WORK | FT_ATT_SNAPSHOT | FT_ATT_RELEASE)) {
            w->armed = 0;
            ft_in_wait = 1;
            ft_waiting = w;
            ft_attend();
            ft_waiting = NULL;
            ft_in_wait = 0;
            if (!(attention() & FT_ATT_REPLAY))
                return;
        }
        if ((attention() & FT_ATT_WORK) && !w->alone && work(w))
            return;
    }
    if (w->polls < spin && !w->patient) {
        if (w->polls++ >= QUIET_POLLS)
            ft_cpu_relax();
        return;
    }
    if (w->polls < spin + YIELDS && !w->patient) {
        w->polls++;
        sched_yield();
        return;
    }
    if (!w->armed) {
        arm(w);
        return;
    }
    struct timespec limit = {.tv_nsec = 200000};
    atomic_store_explicit(&ft_wait_asleep, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&ft_wait_naps, 1, memory_order_relaxed);
    syscall(SYS_futex, &own->bell, FUTEX_WAIT, w->bell, w->unrung ? &limit : NULL, NULL, 0);
    disarm();
    w->armed = 0;
    w->polls = w->unrung ? spin : 0;
}

void ft_wait_end(struct ft_waiter *w)
{
    if (FT_UNLIKELY(w->armed)) {
        disarm();
        w->armed = 0;
    }
}
