/* SPDX-License-Identifier: BSD-3-Clause
 *
 * dock.c - see dock.h.
 */
#define _GNU_SOURCE
#include "transport/dock.h"

#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "transport/ctl.h"

uint64_t ft_dock_make(struct ft_arena *a, int from, int n, uint64_t tables)
{
    uint64_t tables_at = ft_align_up(sizeof(struct ft_dock), FT_CACHE_LINE),
             taken_at = ft_align_up(tables_at + tables, FT_CACHE_LINE),
             lane_at = taken_at + (uint64_t)n * sizeof(struct ft_taken),
             at = ft_arena_alloc(a, lane_at + (uint64_t)n * sizeof(struct ft_lane), 4096);
    if (!at)
        return 0;
    struct ft_dock *d = ft_arena_ptr(a, at);
    memset((void *)d, 0, lane_at);
    d->from = from;
    d->n = n;
    d->taken_at = taken_at;
    d->lane_at = lane_at;
    d->tables_at = tables ? tables_at : 0;
    for (int i = 0; i < n; i++)
        ft_lane_begin(ft_dock_lane(d, from + i));
    return at;
}

struct ft_dock *ft_dock_of(const void *arena)
{
    const struct ft_ctl *ctl = arena;
    uint64_t at = atomic_load_explicit(&ctl->endpoint, memory_order_acquire);
    return at ? (struct ft_dock *)(void *)((char *)(uintptr_t)arena + at) : NULL;
}

void ft_wake(struct ft_dock *d, int who)
{
    atomic_fetch_add(&d->bell[who], 1);
    syscall(SYS_futex, &d->bell[who], FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

void ft_dock_ring(struct ft_dock *d)
{
    uint32_t sleeps = atomic_load_explicit(&d->sleeps, memory_order_relaxed);
    if (sleeps & 1u << FT_BELL_PROGRAM)
        ft_wake(d, FT_BELL_PROGRAM);
    else if (sleeps)
        ft_wake(d, FT_BELL_HELPER);
}
