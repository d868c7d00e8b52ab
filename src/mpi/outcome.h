/* SPDX-License-Identifier: BSD-3-Clause
 *
 * outcome.h - results of calls that depend on timing (Test, Waitany, Iprobe, Cancel, the clock).
 * They are noted in the home log before the call returns, and a replacement returns them again (P3,
 * L2).
 *
 * Only success is noted; a call in vain leaves nothing. So a replacement that finds nothing knows
 * that the call was in vain. This is true even after the last record: as long as it replays, there
 * is still evidence of something that the lost process did later. Calls whose requests are all null
 * or inactive are not recorded, since their result never depends on timing.
 *
 * To be used after ft_door, and before the call sends: the note has the number of the call. Main
 * only.
 */
#ifndef FT_MPI_OUTCOME_H
#define FT_MPI_OUTCOME_H

#include "alog/homelog.h"
#include "mpi/mpi_internal.h"

/* The number of indices that one call may return; the next call returns the rest. */
#define FT_OUTCOME_MAX ((int)(FT_ACT_MAX / sizeof(int32_t)))
static inline int ft_outcome_most(int count)
{
    return FT_LIKELY(count < FT_OUTCOME_MAX) ? count : FT_OUTCOME_MAX;
}

enum ft_outcome {
    FT_OUTCOME_OPEN,  /* must be found out and noted */
    FT_OUTCOME_NONE,  /* it was in vain, and is so now, even if it could succeed already */
    FT_OUTCOME_KNOWN, /* it succeeded: what has not arrived yet will come */
};

enum ft_outcome ft_outcome_look_up(int waits, int *words, int max, int *n, int limit);
/* Returns what this call has said before; waits: whether it waits for success. KNOWN: *n words (at
 * most max), each >= 0 and < limit. */
static inline enum ft_outcome ft_outcome_of(int waits, int *words, int max, int *n, int limit)
{
    return FT_LIKELY(ft_replay != FT_REPLAY) ? FT_OUTCOME_OPEN
                                             : ft_outcome_look_up(waits, words, max, n, limit);
}
/* For FT_OUTCOME_NONE: while the home log has more, messages need not be looked at, so loops of
 * such calls pass quickly. */
void ft_outcome_in_vain(void);
/* For a call that returns a flag, which is 1 only once. NONE: it has looked at messages as far as
 * necessary. */
static inline enum ft_outcome ft_outcome_flag(void)
{
    int yes, n;
    enum ft_outcome said = ft_outcome_of(0, &yes, 1, &n, 2);
    if (FT_UNLIKELY(said == FT_OUTCOME_NONE))
        ft_outcome_in_vain();
    return said;
}
/* Ends a call that asks and does not wait: if it was in vain, yields the processor from time to
 * time. A success, of an MPI_Rget for instance, may be a round of a loop that polls. */
static inline void ft_outcome_polled(int success)
{
    if (FT_UNLIKELY(ft_replay == FT_REPLAY)) /* no other rank is waited for */
        return;
    ft_polled(!success);
    if (success)
        ft_looked();
}
void ft_outcome_note(const int *words, int n);
static inline void ft_outcome_note_flag(void)
{
    int yes = 1;
    ft_outcome_note(&yes, 1);
}

#endif
