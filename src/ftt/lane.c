/* SPDX-License-Identifier: BSD-3-Clause
 *
 * lane.c - see lane.h.
 */
#include "ftt/lane.h"

#include <string.h>

#include "base/failpoint.h"

void ft_lane_begin(struct ft_lane *l, uint32_t reader)
{
    atomic_store_explicit(&l->reader, 0, memory_order_relaxed);
    atomic_store_explicit(&ft_lane_at(l, 0)->mark, 0, memory_order_relaxed);
    atomic_store_explicit(&l->reader, 1 + reader, memory_order_release);
}

static void publish(struct ft_lane *l, struct ft_lane_record *r, uint64_t at, uint64_t need)
{
    atomic_store_explicit(&ft_lane_at(l, at + need)->mark, 0, memory_order_relaxed);
    atomic_store_explicit(&r->mark, ft_lane_mark(at), memory_order_release);
}

int ft_lane_write(struct ft_lane *l, uint64_t *at, uint64_t taken, const struct ft_txn_frame *f,
                  const void *data, uint32_t bytes)
{
    uint64_t need = ft_lane_bytes(bytes), rest = FT_LANE_BYTES - *at % FT_LANE_BYTES;
    uint64_t skip = need > rest ? rest : 0;
    struct ft_lane_record *r = ft_lane_at(l, *at);
    FT_ASSERT(bytes <= FT_LANE_DATA);
    if (*at + skip + need + FT_CACHE_LINE > taken + FT_LANE_BYTES)
        return 0;
    if (skip) {
        r->bytes = FT_LANE_SKIP;
        publish(l, r, *at, skip);
        *at += skip;
        r = ft_lane_at(l, *at);
    }
    r->bytes = bytes;
    r->frame = *f;
    memcpy(r->data, data, bytes);
    ft_failpoint(FTT_HALF);
    publish(l, r, *at, need);
    *at += need;
    return 1;
}

struct ft_lane_record *ft_lane_read(struct ft_lane *l, uint64_t *at, uint32_t self)
{
    if (atomic_load_explicit(&l->reader, memory_order_acquire) != 1 + self)
        return NULL;
    for (;;) {
        struct ft_lane_record *r = ft_lane_at(l, *at);
        if (atomic_load_explicit(&r->mark, memory_order_acquire) != ft_lane_mark(*at))
            return NULL;
        if (r->bytes != FT_LANE_SKIP)
            return r;
        *at += FT_LANE_BYTES - *at % FT_LANE_BYTES;
    }
}
