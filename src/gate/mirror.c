/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mirror.c - words that cross from one node to another.
 */
#include "gate/mirror.h"

#include <string.h>

void ft_words_read(struct ft_words *w, const struct ft_ctl *ctl, const struct ft_board_slot *s)
{
    memset(w, 0, sizeof *w);
    w->live = atomic_load(&ctl->live);
    w->rejoined = atomic_load(&ctl->rejoined);
    w->let_go = atomic_load(&ctl->let_go);
    w->protected_bytes = atomic_load(&s->protected_bytes);
    for (int i = 0; i < FT_IMAGES; i++) {
        uint64_t version = atomic_load(&ctl->image[i].version);
        w->image[i].bytes = atomic_load(&ctl->image[i].bytes);
        if (atomic_load(&ctl->image[i].version) == version)
            w->image[i].version = version;
    }
}

void ft_words_write(const struct ft_words *w, struct ft_ctl *ctl, struct ft_board_slot *s)
{
    for (int i = 0; i < FT_IMAGES; i++) {
        if (atomic_load(&ctl->image[i].version) != w->image[i].version)
            atomic_store(&ctl->image[i].version, 0);
        atomic_store(&ctl->image[i].bytes, w->image[i].bytes);
        atomic_store(&ctl->image[i].version, w->image[i].version);
    }
    atomic_store(&s->protected_bytes, w->protected_bytes);
    atomic_store(&ctl->live, (uint32_t)w->live);
    atomic_store(&ctl->rejoined, (uint32_t)w->rejoined);
    atomic_store(&ctl->let_go, (uint32_t)w->let_go);
}

/* In one place, so that nothing is left out of either direction. */
#define EACH(f)                                                                                    \
    f(calls) f(position) f(events) f(own_from) f(shared_until) f(heap_from) f(arena_at) f(strayed) \
        f(unkept) f(log_here) f(latest) f(committed)

void ft_testament_read(uint64_t out[FT_TESTAMENT_WORDS], const struct ft_testament *t)
{
    int n = 0;
#define READ(field) out[n++] = atomic_load(&t->field);
    EACH(READ)
#undef READ
    FT_ASSERT(n == FT_TESTAMENT_WORDS);
}

void ft_testament_write(const uint64_t in[FT_TESTAMENT_WORDS], struct ft_testament *t)
{
    int n = 0;
#define WRITE(field) atomic_store(&t->field, (__typeof__(atomic_load(&t->field)))in[n++]);
    EACH(WRITE)
#undef WRITE
    FT_ASSERT(n == FT_TESTAMENT_WORDS);
}
