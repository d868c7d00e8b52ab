/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sentinel.c - has the watched process ended (D1)? The sentinel sleeps until it may have, and wakes
 * the agent, which looks itself.
 */
#define _GNU_SOURCE
#include "runtime/sentinel.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Looks at a process that has begun to end, one each millisecond; then its exit is awaited. */
#define MAX_LOOKS 200
/* How often the agent looks without being told to. */
#define LOOK_MS 1000

/* An agent runs seldom and briefly, but then all wait for it. With a short slice (Linux 6.12) and,
 * where allowed, a better nice value, it does not queue behind the mains when processes outnumber
 * cores. If the kernel refuses, a recovery takes some milliseconds longer. */
void ft_run_promptly(void)
{
    struct { /* the kernel's struct sched_attr, first version; not all C libraries have it, and its
                header collides with theirs */
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } attr = {.size = sizeof attr, .policy = SCHED_OTHER, .nice = -10, .runtime = 100000};
    _Static_assert(sizeof attr == 48, "SCHED_ATTR_SIZE_VER0");
    if (syscall(SYS_sched_setattr, 0, &attr, 0) == 0)
        return;
    attr.nice = 0;
    (void)syscall(SYS_sched_setattr, 0, &attr, 0);
}

/* The agent is to look at the process that it watches. */
static void alarm_agent(struct ft_sentinel *w)
{
    atomic_store(&w->alarm, 1);
    ft_bell_ring(w->board, w->self);
}

/* A process's cause of death is visible until its parent has reaped it. So this looks first, and
 * perhaps in vain. fd: a pidfd of it, or -1. Agent and sentinel. */
static void note_signal(struct ft_board_slot *s, int fd)
{
    int sig = ft_proc_signal(atomic_load(&s->pid), fd);
    if (sig)
        atomic_store(&s->died_of, (uint32_t)sig);
}

/* Waits at most a second for the exit of a process. 1: it has ended; 0: it has not; -1: that could
 * not be awaited. */
static int await_exit(struct ft_board_slot *s)
{
    struct pollfd p = {.fd = ft_proc_pidfd(atomic_load(&s->pid), atomic_load(&s->start_time)),
                       .events = POLLIN};
    if (p.fd < 0)
        return errno == ESRCH ? 1 : -1;
    int ended = poll(&p, 1, LOOK_MS) == 1;
    if (ended)
        note_signal(s, p.fd);
    close(p.fd);
    return ended;
}

/* Sleeps until the process that the agent watches begins to end, then until it has ended, and tells
 * the agent both times. The agent trusts neither, and looks itself. */
void *ft_sentinel_main(void *arg)
{
    struct ft_sentinel *w = arg;
    const struct timespec second = {.tv_sec = LOOK_MS / 1000};
    ft_run_promptly();
    for (uint32_t told = 0;;) {
        uint32_t now = atomic_load(&w->watched);
        int ended = -1;
        if (now && now != told && ft_life_await(&w->board->slot[now - 1].life)) {
            told = now;
            alarm_agent(w);
        }
        if (now)
            ended = await_exit(&w->board->slot[now - 1]);
        if (ended > 0)
            alarm_agent(w);
        if (ended != 0) /* the agent stops watching it as soon as it has looked */
            syscall(SYS_futex, &w->watched, FUTEX_WAIT_PRIVATE, now, now ? &second : NULL, NULL, 0);
    }
    return NULL;
}

void ft_sentinel_begin(struct ft_sentinel *w, int slot)
{
    if (w->watching >= 0) /* it is dead, or nobody else would be watched */
        ft_life_close(&w->board->slot[w->watching].life);
    w->watching = slot;
    w->looks_left = MAX_LOOKS;
    w->kill_due = w->known_dead = 0;
    atomic_store(&w->alarm, 1); /* it may have ended before it was watched */
    atomic_store(&w->watched, (uint32_t)slot + 1);
    syscall(SYS_futex, &w->watched, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* Tried again at each turn until it succeeds; the machine orders it only once. */
void ft_sentinel_kill(struct ft_sentinel *w)
{
    const struct ft_board_slot *s = &w->board->slot[w->watching];
    int fd = ft_proc_pidfd(atomic_load(&s->pid), atomic_load(&s->start_time));
    if (fd < 0 && errno != ESRCH)
        return;
    w->kill_due = 0;
    if (fd >= 0) {
        syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
        close(fd);
    }
}

/* The watched process has begun to end, or to execute another program. */
int ft_sentinel_is_ending(const struct ft_sentinel *w)
{
    return w->watching >= 0 && !w->known_dead && w->looks_left > 0 &&
           ft_life_over(&w->board->slot[w->watching].life);
}

/* Its agent's thread ends only with the process. So when none of its threads can run any more it is
 * dead, although its exit is reported only when its memory is freed. */
static int threads_ended(struct ft_sentinel *w)
{
    if (!ft_sentinel_is_ending(w))
        return 0;
    w->looks_left--;
    note_signal(&w->board->slot[w->watching], -1);
    return ft_proc_threads_ended(atomic_load(&w->board->slot[w->watching].pid));
}

/* D1: two looks of the agent's own, without a descriptor that the program may have closed or been
 * given. If it cannot look (no descriptors are left), the process lives until it can. */
int ft_sentinel_is_dead(struct ft_sentinel *w, uint64_t now)
{
    if (w->watching < 0 || w->known_dead)
        return 0;
    if (threads_ended(w))
        return 1;
    if (!atomic_load(&w->alarm) && now < w->look_ns)
        return 0;
    struct ft_board_slot *s = &w->board->slot[w->watching];
    atomic_store(&w->alarm, 0);
    w->look_ns = now + LOOK_MS * 1000000ull;
    int gone = ft_proc_gone(atomic_load(&s->pid), atomic_load(&s->start_time));
    if (gone < 0)
        atomic_store(&w->alarm, 1);
    if (gone > 0)
        note_signal(s, -1);
    return gone > 0;
}
