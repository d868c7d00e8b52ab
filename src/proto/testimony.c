/* SPDX-License-Identifier: BSD-3-Clause
 *
 * testimony.c - what votes say of the dead, and who exposes others (E1).
 */
#include "proto/testimony.h"

#include <string.h>

#include "base/version.h"

/* --- testimonies --- */

struct ft_testimony ft_testify(int slot, const struct ft_testament *of)
{
    return (struct ft_testimony){.slot = slot,
                                 .latest = atomic_load(&of->latest),
                                 .own_from = atomic_load(&of->own_from),
                                 .calls = atomic_load(&of->calls),
                                 .position = atomic_load(&of->position),
                                 .events = atomic_load(&of->events),
                                 .heap_from = atomic_load(&of->heap_from),
                                 .arena_at = atomic_load(&of->arena_at),
                                 .strayed = atomic_load(&of->strayed),
                                 .log_here = atomic_load(&of->log_here)};
}

uint64_t ft_testimony_latest(const struct ft_testimony *t)
{
    return ft_version_later(t->latest, t->tag); /* the rank's own: nobody is left to lead */
}

static void hear_tag(struct ft_testimony *to, const struct ft_testimony *t)
{
    if (!t->tag_by || (to->tag_by && to->tag_by <= t->tag_by))
        return;
    to->tag = t->tag;
    to->tag_by = t->tag_by;
}

void ft_testimony_add(struct ft_testimonies *to, const struct ft_testimony *t)
{
    uint32_t i = 0;
    while (i < to->n && to->of[i].slot < t->slot)
        i++;
    if (i < to->n && to->of[i].slot == t->slot) {
        hear_tag(&to->of[i], t);
        return;
    }
    if (i == FT_TESTIMONIES)
        return;
    if (to->n == FT_TESTIMONIES)
        to->n--; /* the testimony of the highest slot makes room */
    memmove(&to->of[i + 1], &to->of[i], (to->n - i) * sizeof to->of[0]);
    to->of[i] = *t;
    to->n++;
}

void ft_testimonies_merge(struct ft_testimonies *to, const struct ft_testimonies *from)
{
    for (uint32_t i = 0; i < from->n; i++)
        ft_testimony_add(to, &from->of[i]);
}

const struct ft_testimony *ft_testimony_of(const struct ft_testimonies *t, int slot)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (t->of[i].slot == slot)
            return &t->of[i];
    return NULL;
}

/* --- exposers --- */

static int is_more(uint64_t until, int slot, const struct ft_exposer *than)
{
    return until != than->until ? until > than->until : slot < than->slot;
}

void ft_exposer_add(struct ft_exposers *to, int slot, uint64_t until)
{
    struct ft_exposer *a = &to->most[0], *b = &to->most[1];
    if (until == 0)
        return;
    struct ft_exposer new = {.until = until, .slot = slot};
    if (a->until && a->slot == slot) {
        a->until = ft_max_u64(a->until, until);
    } else if (is_more(until, slot, a)) {
        *b = *a;
        *a = new;
    } else if (is_more(until, slot, b)) {
        *b = new;
    }
}

void ft_exposers_merge(struct ft_exposers *to, const struct ft_exposers *from)
{
    for (int i = 0; i < 2; i++)
        ft_exposer_add(to, from->most[i].slot, from->most[i].until);
}

int ft_exposers_reach(const struct ft_exposers *e, uint64_t committed, int slot)
{
    for (int i = 0; i < 2; i++)
        if (e->most[i].until > committed && e->most[i].slot != slot)
            return 1;
    return 0;
}
