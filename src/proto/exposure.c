/* SPDX-License-Identifier: BSD-3-Clause
 *
 * exposure.c - whose loss takes everybody back (E1): what votes say about it, and what follows.
 */
#include "proto/exposure.h"

#include <string.h>

#include "base/version.h"

/* --- testimonies --- */

struct ft_testimony ft_testify(int slot, const struct ft_testament *of, uint64_t latest)
{
    return (struct ft_testimony){.slot = slot,
                                 .home = atomic_load(&of->home),
                                 .latest = ft_version_later(latest, atomic_load(&of->latest)),
                                 .own_from = atomic_load(&of->own_from),
                                 .calls = atomic_load(&of->calls),
                                 .position = atomic_load(&of->position),
                                 .events = atomic_load(&of->events),
                                 .heap_from = atomic_load(&of->heap_from),
                                 .arena_at = atomic_load(&of->arena_at),
                                 .strayed = atomic_load(&of->strayed)};
}

void ft_testimony_add(struct ft_testimonies *to, const struct ft_testimony *t)
{
    uint32_t i = 0;
    while (i < to->n && to->of[i].slot < t->slot)
        i++;
    if (i < to->n && to->of[i].slot == t->slot) {
        to->of[i].latest = ft_version_later(to->of[i].latest, t->latest);
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

/* --- the machine --- */

void ft_exposure_clear(struct ft_exposure *x) { memset(x, 0, sizeof *x); }

/* The version of the image that a rank goes back to. */
static uint64_t goes_back_to(uint64_t committed, uint64_t latest)
{
    return FT_VERSION_BASE(latest) == committed ? latest : committed;
}

void ft_exposure_lost(struct ft_exposure *x, uint32_t generation, uint64_t committed, int rank,
                      const struct ft_testimony *t)
{
    FT_ASSERT(generation > 0);
    if (x->committed != committed)
        ft_exposure_clear(x);
    x->committed = committed;
    /* Not known: assumes the worse of both. The rank goes back alone only if this is known. */
    int alone = !t || FT_VERSION_ALONE(goes_back_to(committed, t->latest)) != 0;
    struct ft_loss *l = x->loss[alone];
    if (l[0].rank != rank)
        l[1] = l[0];
    l[0] = (struct ft_loss){.generation = generation, .rank = rank};
}

/* The newest loss of this kind of any other rank. */
static uint32_t newest(const struct ft_loss *l, int rank)
{
    return l[0].rank != rank ? l[0].generation : l[1].generation;
}

enum ft_exposed ft_exposure_by_loss(const struct ft_exposure *x, uint64_t committed, int rank,
                                    uint64_t latest)
{
    if (x->committed != committed)
        return FT_EXPOSED_NOT;
    uint64_t l = goes_back_to(committed, latest);
    uint32_t back = newest(x->loss[0], rank), back_alone = newest(x->loss[1], rank);
    if (!FT_VERSION_ALONE(l))
        return back_alone > 0 ? FT_EXPOSED_BY_LOSS : FT_EXPOSED_NOT;
    uint32_t since = FT_VERSION_GENERATION(l);
    return since < back || since < back_alone ? FT_EXPOSED_BY_LOSS : FT_EXPOSED_NOT;
}

enum ft_exposed ft_exposure_of(const struct ft_exposure *x, uint64_t committed, int in_run,
                               int rank, int slot, const struct ft_exposers *by,
                               const struct ft_testimonies *told, const struct ft_bitset *failed)
{
    const struct ft_testimony *t = ft_testimony_of(told, slot);
    if (ft_exposers_reach(by, committed, slot))
        return FT_EXPOSED_BY_OTHER;
    if (!t)
        return FT_EXPOSED_UNKNOWN;
    if (committed < t->own_from)
        return FT_EXPOSED_OWN_LOG;
    /* Outside of the run a new keeper gets a copy of what is kept for ever. */
    if (in_run && t->home && ft_bit_get(failed, (int)t->home - 1))
        return FT_EXPOSED_OWN_LOG;
    return in_run ? ft_exposure_by_loss(x, committed, rank, t->latest) : FT_EXPOSED_NOT;
}

enum ft_cover ft_exposure_cover(const struct ft_exposure *x, uint64_t committed,
                                const struct ft_exposure_own *own)
{
    if (own->not_logged || committed < own->others_from || own->given_up)
        return FT_COVER_ALL;
    return own->log_lost || ft_exposure_by_loss(x, committed, own->rank, own->latest)
               ? FT_COVER_ALONE
               : FT_COVER_NOTHING;
}
