/* SPDX-License-Identifier: BSD-3-Clause
 *
 * whole.c - records what is missing from this process's logs, and until when.
 */
#include "alog/whole.h"

/* For a process that is not part of a job. */
FT_STATIC(struct ft_testament, nowhere);
FT_STATE(struct ft_missing, ft_whole) = {.testament = FT_AT(nowhere)};
FT_STATE(__typeof__(uint64_t(*)(void)), ft_whole_clock);

void ft_whole_init(struct ft_testament *t)
{
    atomic_fetch_or(&t->unkept, atomic_load(&ft_whole.testament->unkept)); /* of before */
    ft_whole.testament = t;
}

static void exposed_since(void)
{
    if (ft_whole.since_ns == 0 && ft_whole_clock)
        ft_whole.since_ns = ft_whole_clock();
}

uint64_t ft_whole_exposed_ns(void)
{
    uint64_t since = ft_whole.since_ns;
    ft_whole.since_ns = 0;
    return since ? ft_whole_clock() - since : 0;
}

/* With --log puts, each call that is not logged comes here. So a line that others read is written
 * only when it changes. */
static void set(_Atomic uint64_t *from, uint64_t version)
{
    if (atomic_load_explicit(from, memory_order_relaxed) != version)
        atomic_store(from, version);
}

void ft_whole_lost(enum ft_whole_part part, enum ft_unkept why)
{
    switch (part) {
    case FT_WHOLE_OWN:
    case FT_WHOLE_NEVER:
        if (1 + (int)part > atomic_load_explicit(&ft_whole.own, memory_order_relaxed))
            atomic_store_explicit(&ft_whole.own, 1 + (int)part, memory_order_relaxed);
        exposed_since();
        set(&ft_whole.testament->own_from, UINT64_MAX);
        break;
    case FT_WHOLE_OTHERS:
        exposed_since();
        set(&ft_whole.others_from, UINT64_MAX);
        break;
    case FT_WHOLE_KEPT: atomic_fetch_or(&ft_whole.testament->unkept, (uint64_t)why); break;
    }
}

void ft_whole_own_begins(void) { atomic_store_explicit(&ft_whole.own, 0, memory_order_relaxed); }

void ft_whole_own_again(uint64_t version)
{
    ft_whole_own_begins();
    if (atomic_load(&ft_whole.testament->own_from) == UINT64_MAX)
        atomic_store(&ft_whole.testament->own_from, version);
}

void ft_whole_own_cut(uint64_t version)
{
    if (atomic_load(&ft_whole.testament->own_from) < version)
        atomic_store(&ft_whole.testament->own_from, version);
}

void ft_whole_own_restored(uint64_t version)
{
    atomic_store(&ft_whole.testament->own_from, version);
}

void ft_whole_others_again(uint64_t version)
{
    uint64_t missing = UINT64_MAX;
    atomic_compare_exchange_strong(&ft_whole.others_from, &missing, version);
}

void ft_whole_others_restored(uint64_t version) { atomic_store(&ft_whole.others_from, version); }
