/* SPDX-License-Identifier: BSD-3-Clause
 *
 * fetch.c - sums of images go from node to node.
 *
 *   main of H -> gateway of H --FOLD--> A: + its images --FOLD--> B: + its images --PIECE--> H
 */
#include "gate/fetch.h"

#include <string.h>

#include "base/failpoint.h"
#include "base/near.h"
#include "erasure/erasure.h"

/* What follows a FOLD: this, n terms, and the sum so far, which is zero after `have` bytes. */
struct fold {
    uint64_t serial, version, at, longest; /* longest: bytes of an image, of those so far */
    uint32_t bytes, have;
    int32_t wants; /* the slot whose main has asked */
    uint16_t entry, n;
};

static uint32_t terms_bytes(unsigned n)
{
    return (uint32_t)ft_align_up(n * sizeof(struct ft_term), 8);
}

_Static_assert(sizeof(struct ft_item) + sizeof(struct fold) +
                       FT_WANTED_TERMS * sizeof(struct ft_term) + FT_WANTED_BYTES <=
                   FT_WIRE_FRAME,
               "a piece fits");
_Static_assert(FT_MAX_SLOTS <= UINT16_MAX + 1, "a term holds a slot");
_Static_assert(FT_WANTED_TERMS <= FT_ERASURE_MAX_MEMBERS, "all terms on one node are one sum");

static int any_slot_here(const struct ft_outbox *o, const struct ft_board *b)
{
    return ft_board_node_from(b, o->self);
}

/* A frame to the next of these terms' nodes, or to the one that has asked, which has the item and
 * what is before the sum. *sum: where the sum belongs. NULL: that node is out. */
static struct ft_outbox_frame *begin(struct ft_outbox *o, const struct ft_board *b,
                                     const struct fold *f, const struct ft_term *term, char **sum)
{
    uint32_t head = f->n ? (uint32_t)sizeof *f + terms_bytes(f->n) : 0;
    struct ft_item item = {.kind = f->n ? FT_ITEM_FOLD : FT_ITEM_PIECE,
                           .from = any_slot_here(o, b),
                           .to = f->n ? term[0].slot : f->wants,
                           .bytes = head + f->have,
                           .at = 1,
                           .number = f->entry,
                           .of = {f->serial, f->longest}};
    struct ft_outbox_frame *frame = ft_outbox_frame(o, ft_board_node_of(b, item.to), FT_WIRE_BULK,
                                                    ft_item_size(item.bytes));
    if (!frame)
        return NULL;
    char *p = frame->data + frame->used;
    memcpy(p, &item, sizeof item);
    p += sizeof item;
    if (f->n) {
        memcpy(p, f, sizeof *f);
        memcpy(p + sizeof *f, term, f->n * sizeof *term);
    }
    *sum = p + head;
    return frame;
}

static void send(struct ft_outbox *o, struct ft_outbox_frame *frame)
{
    struct ft_item item;
    memcpy(&item, frame->data + frame->used, sizeof item);
    frame->used += (uint32_t)ft_item_size(item.bytes);
    o->busy = 1;
}

/* ---- of this node's processes ---- */

/* Of main, in its arena: whatever is there does no harm. */
static int can_be_had(const struct ft_board *b, const struct ft_wanted *w)
{
    if (w->nterms < 1 || w->nterms > FT_WANTED_TERMS || w->bytes > FT_WANTED_BYTES)
        return 0;
    for (uint32_t i = 0; i < w->nterms; i++)
        if (w->term[i].slot >= b->nslots || ft_board_near(b, w->term[i].slot) ||
            ft_board_slot_end(b, w->term[i].slot) == FT_SLOT_OUT)
            return 0;
    return 1;
}

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
        struct ft_outbox_frame *frame;
        char *sum;
        if (atomic_load(&w->state) != FT_WANTED_ASKED)
            continue;
        n++;
        struct fold f = {.serial = w->serial,
                         .version = w->version,
                         .at = w->at,
                         .bytes = (uint32_t)w->bytes,
                         .wants = near,
                         .entry = (uint16_t)i,
                         .n = (uint16_t)w->nterms};
        if (!can_be_had(b, w) || !(frame = begin(o, b, &f, w->term, &sum))) {
            atomic_store(&w->state, FT_WANTED_GONE);
            continue;
        }
        atomic_store(&w->state, FT_WANTED_TAKEN);
        send(o, frame);
        ft_failpoint(GATE_WANTED);
    }
    return n;
}

int ft_fetch_came(const struct ft_item *item, const void *data, char *base, uint64_t arena_bytes,
                  struct ft_ctl *ctl)
{
    struct ft_wanted *w = &ctl->wanted[item->number % FT_WANTED];
    if (item->number >= FT_WANTED || atomic_load(&w->state) != FT_WANTED_TAKEN ||
        w->serial != item->of[0] || w->to > arena_bytes || w->bytes > arena_bytes - w->to ||
        item->bytes > w->bytes)
        return 0;
    if (item->at) {
        memcpy(base + w->to, data, item->bytes);
        memset(base + w->to + item->bytes, 0, w->bytes - item->bytes);
        w->longest = item->of[1];
    }
    ft_failpoint(GATE_PIECE_CAME);
    atomic_store(&w->state, item->at ? FT_WANTED_HERE : FT_WANTED_GONE);
    ft_tp_shm_ring_ctl(ctl);
    return 1;
}

static int goes_over(const struct ft_board *b, const struct ft_wanted *w, int node)
{
    for (uint32_t i = 0; i < w->nterms && i < FT_WANTED_TERMS; i++)
        if (ft_board_node_of(b, w->term[i].slot) == node)
            return 1;
    return 0;
}

void ft_fetch_gone(const struct ft_board *b, struct ft_ctl *ctl, int node)
{
    for (int i = 0; i < FT_WANTED; i++) {
        struct ft_wanted *w = &ctl->wanted[i];
        if (atomic_load(&w->state) == FT_WANTED_TAKEN && goes_over(b, w, node))
            atomic_store(&w->state, FT_WANTED_GONE);
    }
    ft_tp_shm_ring_ctl(ctl);
}

/* ---- of others ---- */

/* What is added here. */
struct sum {
    int n;
    const void *src[FT_ERASURE_MAX_MEMBERS];
    size_t len[FT_ERASURE_MAX_MEMBERS], longest;
    uint8_t coef[FT_ERASURE_MAX_MEMBERS];
};

static void add(struct sum *s, const void *src, size_t len, uint8_t coef)
{
    FT_ASSERT(s->n < FT_ERASURE_MAX_MEMBERS);
    s->src[s->n] = src;
    s->len[s->n] = len;
    s->coef[s->n++] = coef;
    s->longest = ft_max_u64(s->longest, len);
}

/* The place of this version among the images of a process; -1: it is not there. */
static int find(const struct ft_ctl *ctl, uint64_t version)
{
    for (int i = 0; ctl && i < FT_IMAGES; i++)
        if (atomic_load(&ctl->image[i].version) == version)
            return i;
    return -1;
}

/* 0: it is not there. */
static int add_image(struct sum *s, struct ft_tp *tp, struct fold *f, struct ft_term t)
{
    const struct ft_ctl *ctl = ft_tp_ctl(tp, t.slot);
    int i = find(ctl, f->version);
    if (i < 0)
        return 0;
    uint64_t off = atomic_load(&ctl->image[i].off), all = atomic_load(&ctl->image[i].bytes),
             len = f->at < all ? ft_min_u64(f->bytes, all - f->at) : 0;
    if (all > tp->own->bytes || off > tp->own->bytes - all)
        return 0;
    const char *p = len ? tp->ops->map(tp, t.slot, off + f->at, len, FT_TP_IMAGE) : "";
    if (!p)
        return 0;
    f->longest = ft_max_u64(f->longest, all);
    add(s, p, len, t.coef);
    return 1;
}

/* Those of the first m terms were not written over while they were read: a slot of images may be
 * written again when nobody is to read it any more. */
static int still_there(struct ft_tp *tp, const struct fold *f, const struct ft_term *term, int m)
{
    atomic_thread_fence(memory_order_acquire);
    for (int i = 0; i < m; i++)
        if (find(ft_tp_ctl(tp, term[i].slot), f->version) < 0)
            return 0;
    return 1;
}

static void say_gone(struct ft_outbox *o, const struct ft_board *b, const struct fold *f)
{
    struct ft_item item = {.kind = FT_ITEM_PIECE,
                           .from = any_slot_here(o, b),
                           .to = f->wants,
                           .number = f->entry,
                           .of = {f->serial}};
    ft_outbox_item(o, ft_board_node_of(b, f->wants), FT_WIRE_BULK, &item, NULL);
}

/* 0: this cannot be. */
static int read_fold(const struct ft_board *b, const struct ft_item *item, const char *data,
                     struct fold *f, struct ft_term *term)
{
    if (item->bytes < sizeof *f)
        return 0;
    memcpy(f, data, sizeof *f);
    if (f->n < 1 || f->n > FT_WANTED_TERMS || f->bytes > FT_WANTED_BYTES || f->have > f->bytes ||
        f->wants < 0 || f->wants >= b->nslots || ft_board_near(b, f->wants) ||
        item->bytes != sizeof *f + terms_bytes(f->n) + f->have)
        return 0;
    memcpy(term, data + sizeof *f, f->n * sizeof *term);
    for (int i = 0; i < f->n; i++)
        if (term[i].slot >= b->nslots)
            return 0;
    return term[0].slot == item->to;
}

int ft_fetch_fold(struct ft_outbox *o, const struct ft_board *b, struct ft_tp *tp,
                  const struct ft_item *item, const void *data)
{
    struct fold f;
    struct ft_term term[FT_WANTED_TERMS];
    struct sum s = {.n = 0};
    int m = 0;
    char *out;
    if (!read_fold(b, item, data, &f, term))
        return 0;
    if (f.have)
        add(&s, (const char *)data + sizeof f + terms_bytes(f.n), f.have, 1);
    for (; m < f.n && ft_board_near(b, term[m].slot); m++)
        if (!add_image(&s, tp, &f, term[m])) {
            say_gone(o, b, &f);
            return 1;
        }
    f.n = (uint16_t)(f.n - m);
    f.have = (uint32_t)s.longest;
    struct ft_outbox_frame *frame = begin(o, b, &f, term + m, &out);
    if (!frame)
        return 1; /* whoever waits is out, or hears that the next one is */
    ft_erasure_combine(out, s.src, s.len, s.coef, s.n, 0, s.longest);
    ft_failpoint(GATE_FOLDED);
    if (!still_there(tp, &f, term, m)) {
        say_gone(o, b, &f);
        return 1;
    }
    send(o, frame);
    if (f.n)
        ft_failpoint(GATE_FOLD_PASSED);
    else
        ft_failpoint(GATE_PIECE_SENT);
    return 1;
}
