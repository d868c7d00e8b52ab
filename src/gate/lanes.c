/* SPDX-License-Identifier: BSD-3-Clause
 *
 * lanes.c - records of lanes go from node to node.
 */
#include "gate/lanes.h"

#include <stdlib.h>
#include <string.h>

#include "base/failpoint.h"
#include "base/near.h"
#include "transport/ctl.h"
#include "transport/dock.h"

_Static_assert(sizeof(struct ft_item) + sizeof(struct ft_lane_record) + FT_LANE_DATA <=
                   FT_WIRE_FRAME,
               "a record fits");

struct lane_pair {
    uint64_t read;             /* of the lane from the near process */
    uint64_t told;             /* how far the near process had read, when that was sent */
    struct ft_lane_at written; /* of the lane to the near process */
};
struct ft_lanes {
    struct ft_board *b;
    uint64_t arena_bytes;
    int n;                 /* slots of this node */
    struct lane_pair of[]; /* [nslots][n] */
};

static struct lane_pair *pair(struct ft_lanes *l, int far, int near)
{
    return &l->of[(size_t)far * (size_t)l->n + (size_t)(near - l->b->near_from)];
}

struct ft_lanes *ft_lanes_open(struct ft_board *b, uint64_t arena_bytes)
{
    size_t n = (size_t)(b->near_end - b->near_from);
    struct ft_lanes *l = calloc(1, sizeof *l + (size_t)b->nslots * n * sizeof l->of[0]);
    if (!l)
        return NULL;
    l->b = b;
    l->arena_bytes = arena_bytes;
    l->n = (int)n;
    return l;
}

void ft_lanes_close(struct ft_lanes *l) { free(l); }

/* Of a process of this node; NULL: it has opened no endpoint. */
static struct ft_dock *near_dock(struct ft_lanes *l, struct ft_tp *tp, int near)
{
    const char *base = tp->ops->map(tp, near, 0, l->arena_bytes, FT_TP_CONTROL);
    return base ? ft_dock_of(base) : NULL;
}

/* Of a stand-in; NULL: its arena is full. */
static struct ft_dock *stand_in_dock(struct ft_lanes *l, struct ft_arena *a)
{
    struct ft_dock *d = ft_dock_of(a->base);
    if (d)
        return d;
    uint64_t at = ft_dock_make(a, l->b->near_from, l->n, 0);
    if (at)
        atomic_store_explicit(&a->ctl->endpoint, at, memory_order_release);
    return ft_dock_of(a->base);
}

void ft_lanes_take(struct ft_lanes *l, struct ft_outbox *o, struct ft_tp *tp, int far, int near)
{
    struct ft_dock *d = near_dock(l, tp, near);
    struct lane_pair *p = pair(l, far, near);
    const struct ft_lane_record *r;
    int node = ft_board_node_of(l->b, far);
    if (!d)
        return;
    while ((r = ft_lane_read(ft_dock_lane(d, far), &p->read)) && r->bytes <= FT_LANE_DATA) {
        struct ft_item item = {.kind = FT_ITEM_LANE,
                               .from = near,
                               .to = far,
                               .bytes = (uint32_t)sizeof *r + r->bytes,
                               .at = p->read};
        ft_outbox_item(o, node, FT_WIRE_OPS, &item, r);
        p->read += ft_lane_bytes(r->bytes);
        ft_failpoint(GATE_LANE_TAKEN);
    }
    uint64_t taken = atomic_load_explicit(ft_dock_taken(d, far), memory_order_acquire);
    if (taken == p->told)
        return;
    p->told = taken;
    struct ft_item item = {.kind = FT_ITEM_LANE_TAKEN, .from = far, .to = near, .at = taken};
    ft_outbox_item(o, node, FT_WIRE_CONTROL, &item, NULL);
    ft_failpoint(GATE_LANE_READ);
}

enum ft_status ft_lanes_came(struct ft_lanes *l, struct ft_tp *tp, struct ft_arena *stand_in,
                             const struct ft_item *item, const void *data)
{
    struct ft_lane_record head;
    struct ft_dock *d = stand_in_dock(l, stand_in), *reader = near_dock(l, tp, item->to);
    struct ft_lane_at *w = &pair(l, item->from, item->to)->written;
    if (item->bytes < sizeof head)
        return FT_ERR_ARG;
    memcpy(&head, data, sizeof head);
    if (head.bytes > FT_LANE_DATA || item->bytes != sizeof head + head.bytes)
        return FT_ERR_ARG;
    if (!d)
        return FT_ERR_NOMEM;
    uint64_t taken =
        reader ? atomic_load_explicit(ft_dock_taken(reader, item->from), memory_order_acquire) : 0;
    if (!ft_lane_write(ft_dock_lane(d, item->to), w, taken, &head,
                       (const char *)data + sizeof head) ||
        w->at != item->at + ft_lane_bytes(head.bytes))
        return FT_ERR_ARG;
    ft_failpoint(GATE_LANE_CAME);
    atomic_thread_fence(memory_order_seq_cst);
    if (reader)
        ft_dock_ring(reader);
    return FT_OK;
}

enum ft_status ft_lanes_taken(struct ft_lanes *l, struct ft_arena *stand_in,
                              const struct ft_item *item)
{
    struct ft_dock *d = stand_in_dock(l, stand_in);
    if (!d)
        return FT_ERR_NOMEM;
    if (item->at > pair(l, item->to, item->from)->read)
        return FT_ERR_ARG;
    atomic_store_explicit(ft_dock_taken(d, item->from), item->at, memory_order_release);
    ft_failpoint(GATE_LANE_FREED);
    return FT_OK;
}
