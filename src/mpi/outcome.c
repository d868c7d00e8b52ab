/* SPDX-License-Identifier: BSD-3-Clause
 *
 * outcome.c - outcomes of calls in the home log, and MPI_Wtime, whose result is an outcome too. The
 * clock is the library's: the host's counts from each process's own first call, and would start
 * again in a replacement.
 */
#include "mpi/outcome.h"
#include "alog/homelog_replay.h"

#include <string.h>
#include <time.h>

enum ft_outcome ft_outcome_look_up(int waits, int *words, int max, int *n, int limit)
{
    int end;
    const struct ft_act *a = ft_homelog_outcome(&end);

    if (!a) /* a call that waits and has left nothing never returned: its result is new */
        return waits && end ? FT_OUTCOME_OPEN : FT_OUTCOME_NONE;
    int bad = a->bytes % sizeof *words != 0 || a->bytes / sizeof *words > (size_t)max;
    *n = (int)(a->bytes / sizeof *words);
    if (!bad) /* copied, because the home may be lost while the call waits */
        memcpy(words, a->data, a->bytes);
    for (int i = 0; i < *n && !bad; i++)
        bad = words[i] < 0 || words[i] >= limit;
    if (bad)
        ft_replay_diverged(a, FT_ACT_OUTCOME, 0, 0, 0, NULL);
    return FT_OUTCOME_KNOWN;
}

void ft_outcome_in_vain(void)
{
    if (ft_homelog_at_end())
        ft_msg_progress();
}

void ft_outcome_note(const int *words, int n)
{
    _Static_assert(sizeof *words == sizeof(int32_t), "words of the log");
    if (FT_LIKELY(!ft_uncounted)) /* between body's entry and the image's safepoint nothing is
                                     repeated: homelog.h */
        ft_homelog_note(FT_ACT_OUTCOME, 0, 0, 0, words, (uint32_t)n * sizeof *words);
}

/* The last time that a replay was told. The clock of another host may not be there yet. */
FT_STATIC(double, told_time);
#define told_time FT_MY(told_time)

FT_MPI(double, Wtime, (void))
{
    if (FT_UNLIKELY(!ft_mpi_up || !ft_main_thread)) /* other threads' clocks are not recorded */
        return ft_runtime_clock();
    ft_door();
    double now = 0;
    const struct ft_act *a =
        ft_replay == FT_REPLAY ? ft_homelog_expect(FT_ACT_TIME, 0, 0, 0, sizeof now) : NULL;
    if (FT_UNLIKELY(a != NULL)) {
        memcpy(&now, a->data, sizeof now);
        return told_time = now;
    }
    now = ft_runtime_clock();
    if (FT_UNLIKELY(now < told_time))
        now = told_time;
    if (FT_LIKELY(!ft_uncounted))
        ft_homelog_note(FT_ACT_TIME, 0, 0, 0, &now, sizeof now);
    return now;
}

FT_MPI(double, Wtick, (void))
{
    struct timespec tick;
    return clock_getres(CLOCK_MONOTONIC, &tick) == 0
               ? (double)tick.tv_sec + (double)tick.tv_nsec * 1e-9
               : 1e-9;
}
