/* SPDX-License-Identifier: BSD-3-Clause
 *
 * deliver.c - what an item means where it arrives, and what its sender is told.
 */
#include <string.h>

#include "ftt/progress.h"

static struct ft_head *head_of(struct ft_parcel *b) { return (struct ft_head *)(void *)b->data; }

static void event_with(struct ft_endpoint *e, enum FTT_Kind kind, int from, uint64_t id,
                       uint32_t tag, const void *data, uint32_t bytes)
{
    struct ft_parcel *b = ft_event_new(e, kind, from, bytes);
    b->ev.id = id;
    b->ev.tag = tag;
    memcpy(b->data, data, bytes);
}

/* Somebody has put data into the own memory, or got some out of it. [The item was for the process
 * that this one replaces: nothing of that is here.] */
static void memory_used(struct ft_endpoint *e, enum FTT_Kind kind, int from,
                        const struct ft_head *h)
{
    if (h->incarnation != e->incarnation[e->rank])
        return;
    struct ft_parcel *b = ft_event_new(e, kind, from, 0);
    b->ev.tag = h->tag;
    b->ev.bytes = h->bytes;
}

static struct ft_parcel **header_at(struct ft_endpoint *e, uint64_t id)
{
    struct ft_parcel **at = &e->headers[id % 256];
    while (*at && (*at)->id != id)
        at = &(*at)->next;
    return at;
}

static void free_header(struct ft_endpoint *e, struct ft_parcel *b)
{
    if (!b->acked || !b->ended)
        return;
    struct ft_parcel **at = header_at(e, b->id);
    FT_ASSERT(*at == b);
    *at = b->next;
    ft_block_put(e, b);
}

static void answered(struct ft_endpoint *e, int from, uint64_t id, const struct ft_head *h,
                     const unsigned char *data, uint32_t bytes)
{
    struct ft_parcel *b = *header_at(e, id);
    FT_ASSERT(b && !b->ended);
    b->ended = 1;
    if (h->what == FT_WHAT_PROGRAM)
        event_with(e, FTT_EV_ANSWER, from, id, head_of(b)->tag, data, bytes);
    else if (h->what == FT_WHAT_CLOSED)
        ft_event_new(e, FTT_EV_ANSWER, from, 0)->ev =
            (FTT_Event){.kind = FTT_EV_ANSWER,
                        .status = FTT_ERR_CLOSED,
                        .rank = from,
                        .incarnation = e->incarnation[from],
                        .generation = e->generation,
                        .tag = head_of(b)->tag,
                        .id = id};
    else
        ft_fetch_answered(e, b, h, data);
    free_header(e, b);
}

struct ft_parcel *ft_answer_new(struct ft_endpoint *e, int to, uint64_t id,
                                const struct ft_head *h, size_t bytes)
{
    struct ft_parcel *b = ft_block_get(e, sizeof *h + bytes);
    memcpy(b->data, h, sizeof *h);
    b->kind = FT_TXN_PUT;
    b->to = to;
    b->id = id;
    b->incarnation = e->incarnation[to];
    return b;
}

/* [The item was for the process that this one replaces, which had asked.] */
static void piece(struct ft_endpoint *e, const struct ft_head *h, const unsigned char *data,
                  uint32_t bytes)
{
    struct ft_far_piece p;
    FT_ASSERT(bytes >= sizeof p);
    memcpy(&p, data, sizeof p);
    if (h->incarnation != e->incarnation[e->rank])
        return;
    const struct ft_parcel *b = *header_at(e, p.id);
    if (b && !b->ended && b->fetch)
        ft_piece_came(b->fetch, &p, data + sizeof p, bytes - (uint32_t)sizeof p);
}

void ft_answer_closed(struct ft_endpoint *e, int to, uint32_t incarnation, uint64_t id)
{
    struct ft_head h = {.what = FT_WHAT_CLOSED};
    struct ft_parcel *b = ft_block_get(e, sizeof h);
    memcpy(b->data, &h, sizeof h);
    b->kind = FT_TXN_PUT;
    b->to = to;
    b->id = id;
    b->incarnation = incarnation;
    ft_item_send(e, b, 1);
}

void ft_deliver(struct ft_endpoint *e, int from, const struct ft_txn_frame *f,
                const unsigned char *data, uint32_t bytes)
{
    struct ft_head h;
    FT_ASSERT(bytes >= sizeof h);
    memcpy(&h, data, sizeof h);
    data += sizeof h;
    bytes -= (uint32_t)sizeof h;
    if (f->item == FT_TXN_PUT) {
        answered(e, from, f->id, &h, data, bytes);
        return;
    }
    switch ((enum ft_what)h.what) {
    case FT_WHAT_PROGRAM:
        if (e->closing && f->item == FT_TXN_HEADER)
            ft_answer_closed(e, from, e->incarnation[from], f->id);
        else
            event_with(e, f->item == FT_TXN_HEADER ? FTT_EV_HEADER : FTT_EV_MESSAGE, from, f->id,
                       h.tag, data, bytes);
        break;
    case FT_WHAT_FETCH: ft_fetch_asked(e, from, f->id, (const struct ft_wish *)(const void *)data); break;
    case FT_WHAT_PIECE: piece(e, &h, data, bytes); break;
    case FT_WHAT_STORE:
    case FT_WHAT_STORED:
    case FT_WHAT_LOAD: ft_reached(e, from, f->id, (enum ft_what)h.what, data, bytes); break;
    case FT_WHAT_PUT: memory_used(e, FTT_EV_PUT_HERE, from, &h); break;
    case FT_WHAT_GET: memory_used(e, FTT_EV_GET_HERE, from, &h); break;
    case FT_WHAT_ROUND: {
        struct ft_round_message m;
        FT_ASSERT(bytes >= sizeof m);
        memcpy(&m, data, sizeof m);
        FT_ASSERT(memchr(m.label, '\0', sizeof m.label));
        ft_rounds_message(e->rounds, from, &m, data + sizeof m);
        break;
    }
    default: FT_ASSERT(!"an answer to nothing");
    }
}

/* The block of an item becomes the event that tells of it. */
static void becomes(struct ft_endpoint *e, struct ft_parcel *b, enum FTT_Kind kind, int with_data)
{
    const struct ft_head *h = head_of(b);
    size_t bytes = with_data ? b->bytes - sizeof *h : (size_t)h->bytes;
    b->ev = (FTT_Event){.kind = kind,
                        .rank = b->to,
                        .incarnation = e->incarnation[b->to],
                        .generation = e->generation,
                        .tag = h->tag,
                        .id = b->id,
                        .data = with_data ? b->data + sizeof *h : NULL,
                        .bytes = bytes};
    ft_event_add(e, b);
}

static void header_acked(struct ft_endpoint *e, struct ft_parcel *b)
{
    const struct ft_head *h = head_of(b);
    b->acked = 1;
    if (b->ack)
        event_with(e, FTT_EV_ACK, b->to, b->id, h->tag, b->data + sizeof *h,
                   b->bytes - (uint32_t)sizeof *h);
    free_header(e, b);
}

void ft_item_acked(struct ft_endpoint *e, struct ft_parcel *b)
{
    ft_failpoint(FTT_ACKED);
    int what = head_of(b)->what;
    if (b->kind == FT_TXN_HEADER)
        header_acked(e, b);
    else if (!b->ack)
        ft_block_put(e, b);
    else if (what == FT_WHAT_PUT || what == FT_WHAT_GET) /* by a replacement, which dropped it */
        becomes(e, b,
                b->incarnation != e->incarnation[b->to] ? FTT_EV_GONE
                : what == FT_WHAT_PUT                   ? FTT_EV_PUT
                                                        : FTT_EV_GET,
                0);
    else
        becomes(e, b, b->kind == FT_TXN_PUT ? FTT_EV_ANSWERED : FTT_EV_ACK, 1);
}

void ft_item_gone(struct ft_endpoint *e, struct ft_parcel *b)
{
    if (b->ack)
        becomes(e, b, FTT_EV_GONE, 1);
    else
        ft_block_put(e, b);
}
