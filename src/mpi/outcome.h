/* SPDX-License-Identifier: BSD-3-Clause
 *
 * outcome.h - what calls say that depends on timing (Test, Waitany, Iprobe, Cancel, the clock):
 * noted at the log home before the call returns, and said again by a replacement (P3, L2).
 *
 * Noted is what came true; a call in vain leaves nothing. So a replacement that finds nothing knows
 * that the call was in vain, also after the last record: as long as it replays there is evidence
 * left of something that the lost process did later. Calls all of whose requests are null or
 * inactive are not asked about, since they say the same at any time.
 *
 * To be used after ft_door, and before the call sends: the number of the call stands with the
 * note. Thread rules: main thread only.
 */
#ifndef FT_MPI_OUTCOME_H
#define FT_MPI_OUTCOME_H

#include "alog/homelog.h"
#include "mpi/mpi_internal.h"

/* Indices that one call may return: more are left for the next call. */
#define FT_OUTCOME_MAX ((int)(FT_ACT_MAX / sizeof(int32_t)))
static inline int ft_outcome_most(int count)
{
    return FT_LIKELY(count < FT_OUTCOME_MAX) ? count : FT_OUTCOME_MAX;
}

enum ft_outcome {
    FT_OUTCOME_OPEN,  /* to be found out, and noted */
    FT_OUTCOME_NONE,  /* it was in vain then, and is so now, even if it could be true already */
    FT_OUTCOME_KNOWN, /* it was true: what is not here yet comes */
};

enum ft_outcome ft_outcome_look_up(int waits, int *words, int max, int *n, int limit);
/* What this call, which waits for success (or not), has said before. KNOWN: *n words (at most max),
 * each >= 0 and < limit. */
static inline enum ft_outcome ft_outcome_of(int waits, int *words, int max, int *n, int limit)
{
    return FT_LIKELY(ft_replay != FT_REPLAY) ? FT_OUTCOME_OPEN
                                             : ft_outcome_look_up(waits, words, max, n, limit);
}
/* FT_OUTCOME_NONE: messages need no look while the log home has more, so that loops of such calls
 * pass quickly. */
void ft_outcome_in_vain(void);
/* A call that says yes or no, and yes only once. NONE: it has looked at messages as far as need be.
 */
static inline enum ft_outcome ft_outcome_flag(void)
{
    int yes, n;
    enum ft_outcome said = ft_outcome_of(0, &yes, 1, &n, 2);
    if (FT_UNLIKELY(said == FT_OUTCOME_NONE))
        ft_outcome_in_vain();
    return said;
}
/* The end of a call that asks and does not wait: yields the processor now and then when it was in
 * vain. */
static inline void ft_outcome_polled(int success)
{
    if (FT_LIKELY(ft_replay != FT_REPLAY)) /* nobody is waited for */
        ft_polled(!success);
}
void ft_outcome_note(const int *words, int n);
static inline void ft_outcome_note_flag(void)
{
    int yes = 1;
    ft_outcome_note(&yes, 1);
}

#endif
