/* SPDX-License-Identifier: BSD-3-Clause
 *
 * exposure.c - whose loss takes everybody back (E1), by what votes say.
 */
#include "proto/exposure.h"

#include <string.h>

#include "base/version.h"

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
    /* If it is not known, the worse of both is assumed. The rank goes back alone only if it is
     * known. */
    int alone = !t || FT_VERSION_ALONE(goes_back_to(committed, ft_testimony_latest(t))) != 0;
    struct ft_loss *l = x->loss[alone];
    if (l[0].rank != rank)
        l[1] = l[0];
    l[0] = (struct ft_loss){.generation = generation, .rank = rank};
}

/* The generation of the newest loss of this kind among other ranks. */
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

/* Whether others keep only what follows its latest image, while the codeword that counts has an
 * older image. */
static int is_given_up(uint64_t committed, const struct ft_testimony *t)
{
    uint64_t own = goes_back_to(committed, t->latest), tag = goes_back_to(committed, t->tag);
    return t->tag_by && own != tag && ft_version_later(own, tag) == own;
}

enum ft_exposed ft_exposure_of(const struct ft_exposure *x, uint64_t committed, int in_run,
                               int rank, int slot, const struct ft_exposers *by,
                               const struct ft_testimonies *told)
{
    const struct ft_testimony *t = ft_testimony_of(told, slot);
    if (ft_exposers_reach(by, committed, slot))
        return FT_EXPOSED_BY_OTHER;
    if (!t)
        return FT_EXPOSED_UNKNOWN;
    if (committed < t->own_from)
        return FT_EXPOSED_OWN_LOG;
    if (!in_run)
        return FT_EXPOSED_NOT;
    return is_given_up(committed, t)
               ? FT_EXPOSED_GIVEN_UP
               : ft_exposure_by_loss(x, committed, rank, ft_testimony_latest(t));
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
