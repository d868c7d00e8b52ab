/* SPDX-License-Identifier: BSD-3-Clause
 *
 * wild.c - records wildcard outcomes in the home log.
 */
#include "msg/wild.h"
#include "alog/homelog_replay.h"

FT_STATIC(uint64_t, next);
#define next FT_MY(next)

uint64_t ft_wild_next(void) { return next++; }
uint64_t ft_wild_peek(void) { return next; }
void ft_wild_reset(uint64_t n) { next = n; }

int ft_wild_recorded(uint64_t n) { return ft_replay == FT_REPLAY ? ft_homelog_wild(n) : -1; }

void ft_wild_record(uint64_t n, int source)
{
    if (ft_replay == FT_REPLAY && ft_homelog_wild(n) >= 0)
        return;
    struct ft_act *a = ft_homelog_begin(FT_ACT_WILD, 0, source, 0, 0);
    if (!a)
        return;
    a->count = n;
    ft_homelog_publish(a);
}

void ft_wild_cancelled(uint64_t call, uint64_t nth)
{
    struct ft_act *a =
        ft_uncounted ? NULL : ft_homelog_begin(FT_ACT_OUTCOME, 0, FT_ACT_CANCELLED, call, 0);
    if (!a)
        return;
    a->count = nth;
    ft_homelog_publish(a);
}
