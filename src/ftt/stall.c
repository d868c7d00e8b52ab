/* SPDX-License-Identifier: BSD-3-Clause
 *
 * stall.c - see stall.h.
 */
#include "ftt/stall.h"

#include <string.h>

#include "base/failpoint.h"

static uint32_t bucket(uint32_t hash) { return hash % (FT_STALLS / FT_STALL_BUCKET) * FT_STALL_BUCKET; }

int ft_stall_list(struct ft_stall *table, uint32_t hash, const char *name, uint64_t at,
                  uint64_t bytes, uint64_t serial)
{
    for (int i = 0; i < FT_STALL_BUCKET; i++) {
        struct ft_stall *s = &table[bucket(hash) + (uint32_t)i];
        if (atomic_load_explicit(&s->serial, memory_order_relaxed))
            continue;
        s->hash = hash;
        s->at = at;
        s->bytes = bytes;
        strcpy(s->name, name);
        ft_failpoint(FTT_LISTING);
        atomic_store_explicit(&s->serial, serial, memory_order_release);
        ft_failpoint(FTT_LISTED);
        return 1;
    }
    return 0;
}

void ft_stall_withdraw(struct ft_stall *table, uint32_t hash, const char *name)
{
    for (int i = 0; i < FT_STALL_BUCKET; i++) {
        struct ft_stall *s = &table[bucket(hash) + (uint32_t)i];
        if (!atomic_load_explicit(&s->serial, memory_order_relaxed) || s->hash != hash ||
            strcmp(s->name, name) != 0)
            continue;
        atomic_store_explicit(&s->serial, 0, memory_order_relaxed);
        atomic_thread_fence(memory_order_release); /* before the memory or the entry changes */
        ft_failpoint(FTT_WITHDRAWN);
    }
}

int ft_stall_look(const struct ft_stall *table, uint32_t hash, const char *name,
                  struct ft_stall_view *out)
{
    size_t n = strlen(name) + 1;
    FT_ASSERT(n <= FT_STALL_NAME);
    for (int i = 0; i < FT_STALL_BUCKET; i++) {
        const struct ft_stall *s = &table[bucket(hash) + (uint32_t)i];
        struct ft_stall_view v = {s, atomic_load_explicit(&s->serial, memory_order_acquire), 0, 0};
        if (!v.serial || s->hash != hash || memcmp(s->name, name, n) != 0)
            continue;
        v.at = s->at;
        v.bytes = s->bytes;
        if (!ft_stall_holds(&v))
            return 0; /* it changes just now */
        *out = v;
        return 1;
    }
    return 0;
}

int ft_stall_holds(const struct ft_stall_view *v)
{
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&v->of->serial, memory_order_relaxed) == v->serial;
}
