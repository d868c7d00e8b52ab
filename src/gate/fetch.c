/* SPDX-License-Identifier: BSD-3-Clause
 *
 * fetch.c - pieces of images go from node to node.
 */
#include "gate/fetch.h"

#include <stdlib.h>
#include <string.h>

#include "base/failpoint.h"
#include "base/near.h"

#define AHEAD 4 /* frames of pieces that wait for the wire, to one node */

_Static_assert(FT_WANTED_BYTES + sizeof(struct ft_item) <= FT_WIRE_FRAME, "a piece fits");

void ft_fetch_end(struct ft_fetch *f)
{
    free(f->want);
    *f = (struct ft_fetch){.n = 0};
}

/* ---- of this node's processes ---- */

int ft_fetch_ask(struct ft_outbox *o, const struct ft_board *b, int near, struct ft_ctl *ctl,
                 uint64_t *seen)
{
    uint64_t asked = atomic_load(&ctl->asked);
    int n = 0;
    if (asked == *seen)
        return 0;
    *seen = asked;
    for (int i = 0; i < FT_WANTED; i++) {
        struct ft_wanted *w = &ctl->wanted[i];
        if (atomic_load(&w->state) != FT_WANTED_ASKED)
            continue;
        n++;
        if (w->slot < 0 || w->slot >= b->nslots || ft_board_near(b, w->slot) ||
            ft_board_slot_end(b, w->slot) == FT_SLOT_OUT) {
            atomic_store(&w->state, FT_WANTED_GONE);
            continue;
        }
        struct ft_item item = {.kind = FT_ITEM_WANT,
                               .from = near,
                               .to = w->slot,
                               .at = w->at,
                               .number = (uint64_t)i,
                               .of = {w->version, w->bytes}};
        atomic_store(&w->state, FT_WANTED_TAKEN);
        ft_outbox_item(o, ft_board_node_of(b, w->slot), FT_WIRE_CONTROL, &item, NULL);
        ft_failpoint(GATE_WANTED);
    }
    return n;
}

int ft_fetch_came(const struct ft_item *item, const void *data, char *base, uint64_t arena_bytes,
                  struct ft_ctl *ctl)
{
    struct ft_wanted *w = &ctl->wanted[item->number % FT_WANTED];
    if (item->number >= FT_WANTED || atomic_load(&w->state) != FT_WANTED_TAKEN ||
        w->slot != item->from || w->to > arena_bytes || w->bytes > arena_bytes - w->to ||
        (item->at && item->bytes != w->bytes))
        return 0;
    if (item->at)
        memcpy(base + w->to, data, w->bytes);
    ft_failpoint(GATE_PIECE_CAME);
    atomic_store(&w->state, item->at ? FT_WANTED_HERE : FT_WANTED_GONE);
    ft_tp_shm_ring_ctl(ctl);
    return 1;
}

void ft_fetch_gone(const struct ft_board *b, struct ft_ctl *ctl, int node)
{
    for (int i = 0; i < FT_WANTED; i++) {
        struct ft_wanted *w = &ctl->wanted[i];
        if (atomic_load(&w->state) == FT_WANTED_TAKEN && ft_board_node_of(b, w->slot) == node)
            atomic_store(&w->state, FT_WANTED_GONE);
    }
    ft_tp_shm_ring_ctl(ctl);
}

/* ---- of others ---- */

int ft_fetch_note(struct ft_fetch *f, int node, const struct ft_item *item)
{
    if (f->n == f->room) {
        int room = f->room ? 2 * f->room : 64;
        struct ft_fetch_want *more = reallocarray(f->want, (size_t)room, sizeof *more);
        if (!more)
            return 0;
        f->want = more;
        f->room = room;
    }
    f->want[f->n++] = (struct ft_fetch_want){*item, node};
    return 1;
}

/* The version is looked at before and after the copy: a slot of images may be written again when
 * nobody is to read it any more. */
static int copy(struct ft_tp *tp, int slot, const struct ft_item *want, char *out)
{
    uint64_t version = want->of[0], bytes = want->of[1];
    const struct ft_ctl *ctl = ft_tp_ctl(tp, slot);
    for (int i = 0; ctl && i < FT_IMAGES; i++) {
        if (atomic_load(&ctl->image[i].version) != version)
            continue;
        uint64_t off = atomic_load(&ctl->image[i].off), all = atomic_load(&ctl->image[i].bytes);
        if (bytes > all || want->at > all - bytes || all > tp->own->bytes ||
            off > tp->own->bytes - all)
            return 0;
        const char *p = tp->ops->map(tp, slot, off + want->at, bytes, FT_TP_IMAGE);
        if (!p)
            return 0;
        memcpy(out, p, bytes);
        atomic_thread_fence(memory_order_acquire);
        return atomic_load(&ctl->image[i].version) == version;
    }
    return 0;
}

/* 0: not yet. */
static int serve(struct ft_outbox *o, struct ft_tp *tp, const struct ft_fetch_want *w)
{
    struct ft_item item = {
        .kind = FT_ITEM_PIECE, .from = w->item.to, .to = w->item.from, .number = w->item.number};
    uint32_t bytes = (uint32_t)w->item.of[1];
    if (ft_outbox_waiting(o, w->node, FT_WIRE_BULK) >= AHEAD)
        return 0;
    struct ft_outbox_frame *frame = ft_outbox_frame(o, w->node, FT_WIRE_BULK, ft_item_size(bytes));
    if (!frame)
        return 1;
    char *at = frame->data + frame->used;
    if (copy(tp, w->item.to, &w->item, at + sizeof item)) {
        item.at = 1;
        item.bytes = bytes;
    }
    memcpy(at, &item, sizeof item);
    frame->used += (uint32_t)ft_item_size(item.bytes);
    o->busy = 1;
    ft_failpoint(GATE_PIECE_SENT);
    return 1;
}

int ft_fetch_serve(struct ft_fetch *f, struct ft_outbox *o, struct ft_tp *tp)
{
    int left = 0, n = f->n;
    for (int i = 0; i < n; i++)
        if (!serve(o, tp, &f->want[i]))
            f->want[left++] = f->want[i];
    f->n = left;
    return n - left;
}

void ft_fetch_drop(struct ft_fetch *f, int node)
{
    int left = 0;
    for (int i = 0; i < f->n; i++)
        if (f->want[i].node != node)
            f->want[left++] = f->want[i];
    f->n = left;
}
