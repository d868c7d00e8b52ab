/* SPDX-License-Identifier: BSD-3-Clause
 *
 * lane.c - see lane.h.
 */
#include "transport/lane.h"

#include <string.h>

#include "base/failpoint.h"

void ft_lane_begin(struct ft_lane *l)
{
    atomic_store_explicit(&ft_lane_at(l, 0)->mark, 0, memory_order_relaxed);
}

#define AHEAD (4 * FT_CACHE_LINE)

/* The record at w->at is complete, and ends at `end`. */
static void publish(struct ft_lane *l, struct ft_lane_at *w, struct ft_lane_record *r, uint64_t end,
                    uint64_t taken)
{
    if (w->clear < end) {
        atomic_store_explicit(&ft_lane_at(l, end)->mark, 0, memory_order_relaxed);
        w->clear = end;
    }
    atomic_store_explicit(&r->mark, ft_lane_mark(w->at), memory_order_release);
    w->at = end;
    while (w->clear < end + AHEAD && w->clear + 2 * FT_CACHE_LINE <= taken + FT_LANE_BYTES) {
        w->clear += FT_CACHE_LINE;
        atomic_store_explicit(&ft_lane_at(l, w->clear)->mark, 0, memory_order_relaxed);
    }
}

int ft_lane_write(struct ft_lane *l, struct ft_lane_at *w, uint64_t taken,
                  const struct ft_lane_record *head, const void *data)
{
    enum { AFTER_MARK = offsetof(struct ft_lane_record, bytes) };
    uint64_t need = ft_lane_bytes(head->bytes), rest = FT_LANE_BYTES - w->at % FT_LANE_BYTES;
    uint64_t skip = need > rest ? rest : 0;
    struct ft_lane_record *r = ft_lane_at(l, w->at);
    FT_ASSERT(head->bytes <= FT_LANE_DATA);
    if (w->at + skip + need + FT_CACHE_LINE > taken + FT_LANE_BYTES)
        return 0;
    if (skip) {
        r->bytes = FT_LANE_SKIP;
        publish(l, w, r, w->at + skip, taken);
        r = ft_lane_at(l, w->at);
    }
    memcpy((char *)r + AFTER_MARK, (const char *)head + AFTER_MARK, sizeof *r - AFTER_MARK);
    if (head->bytes)
        memcpy(r->data, data, head->bytes);
    ft_failpoint(FTT_HALF);
    publish(l, w, r, w->at + need, taken);
    return 1;
}

struct ft_lane_record *ft_lane_read(struct ft_lane *l, uint64_t *at)
{
    for (;;) {
        struct ft_lane_record *r = ft_lane_at(l, *at);
        if (atomic_load_explicit(&r->mark, memory_order_acquire) != ft_lane_mark(*at))
            return NULL;
        if (r->bytes != FT_LANE_SKIP)
            return r;
        *at += FT_LANE_BYTES - *at % FT_LANE_BYTES;
    }
}
