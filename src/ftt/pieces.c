/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pieces.c - memory of processes of other nodes, which nobody here has mapped. Its owner does all
 * copies: the data travels in messages, and a header and its answer say that all of it was copied.
 * Messages and answers come in the order in which they were sent, so an answer comes after all
 * pieces. Who is lost has sent a part of them; the header then goes to the replacement.
 */
#include <string.h>

#include "ftt/buffers.h"

/* --- the owner --- */

struct ft_parcel *ft_piece_new(struct ft_endpoint *e, int to, uint64_t id, uint64_t at, uint64_t n,
                               char **data)
{
    struct ft_head h = {.what = FT_WHAT_PIECE, .incarnation = e->incarnation[to]};
    struct ft_far_piece p = {.id = id, .at = at};
    struct ft_parcel *b = ft_block_get(e, sizeof h + sizeof p + n);
    memcpy(b->data, &h, sizeof h);
    memcpy(b->data + sizeof h, &p, sizeof p);
    *data = (char *)b->data + sizeof h + sizeof p;
    b->kind = FT_TXN_MESSAGE;
    b->to = to;
    return b;
}

void ft_answer_came(struct ft_endpoint *e, int to, uint64_t id, int status, uint64_t bytes)
{
    struct ft_head h = {.what = FT_WHAT_CAME, .status = (uint8_t)status, .bytes = bytes};
    ft_failpoint(FTT_PIECES);
    ft_item_send(e, ft_answer_new(e, to, id, &h, 0), 1);
}

static void load(struct ft_endpoint *e, int from, uint64_t id, const struct ft_reach *r)
{
    int st = ft_buffer_check(e, &r->memory, r->offset, r->bytes);
    for (uint64_t at = 0, n; st == FTT_OK && at < r->bytes; at += n) {
        char *to;
        n = ft_min_u64(r->bytes - at, FT_PIECE_BYTES);
        struct ft_parcel *b = ft_piece_new(e, from, id, at, n, &to);
        st = ft_buffer_copy(e, &r->memory, r->offset + at, to, n, 0);
        if (st == FTT_OK)
            ft_item_send(e, b, 1);
        else
            ft_block_put(e, b);
    }
    ft_answer_came(e, from, id, st, r->bytes);
}

/* [The item was for the process that this one replaces: its memory is not here, and the handle is
 * refused.] */
void ft_reached(struct ft_endpoint *e, int from, uint64_t id, enum ft_what what,
                const unsigned char *data, uint32_t bytes)
{
    struct ft_reach r;
    FT_ASSERT(bytes >= sizeof r);
    memcpy(&r, data, sizeof r);
    FT_ASSERT(r.memory.rank == e->rank);
    if (what == FT_WHAT_LOAD)
        load(e, from, id, &r);
    else if (what == FT_WHAT_STORED)
        ft_answer_came(e, from, id, ft_buffer_check(e, &r.memory, r.offset, r.bytes), r.bytes);
    else
        (void)ft_buffer_copy(e, &r.memory, r.offset, (void *)(uintptr_t)(data + sizeof r),
                             bytes - sizeof r, 1);
}

/* --- whoever asks --- */

void ft_piece_came(struct ft_wanting *f, const struct ft_far_piece *p, const unsigned char *data,
                   uint32_t bytes)
{
    if (!f->to)
        return; /* nobody waits for it any more */
    FT_ASSERT(p->at <= f->bytes && bytes <= f->bytes - p->at);
    memcpy((char *)f->to + p->at, data, bytes);
    ft_failpoint(FTT_PIECE);
}

static struct ft_parcel *reach(struct ft_endpoint *e, enum ft_what what, const FTT_Buffer *memory,
                               uint64_t offset, uint64_t bytes, const void *data)
{
    struct ft_head h = {.what = (uint8_t)what};
    struct ft_reach r = {.memory = *memory, .offset = offset, .bytes = bytes};
    struct ft_parcel *b = ft_block_get(e, sizeof h + sizeof r + (data ? bytes : 0));
    memcpy(b->data, &h, sizeof h);
    memcpy(b->data + sizeof h, &r, sizeof r);
    if (data)
        memcpy(b->data + sizeof h + sizeof r, data, bytes);
    b->kind = what == FT_WHAT_STORE ? FT_TXN_MESSAGE : FT_TXN_HEADER;
    b->to = memory->rank;
    return b;
}

int ft_far_copy(struct ft_endpoint *e, const FTT_Buffer *h, uint64_t offset, void *here,
                uint64_t bytes, int out)
{
    static const char nowhere; /* of a copy of nothing */
    if (h->incarnation != e->incarnation[h->rank])
        return h->incarnation < e->incarnation[h->rank] ? FTT_ERR_DEAD : FTT_ERR_HANDLE;
    if (offset > h->bytes || bytes > h->bytes - offset)
        return FTT_ERR_SIZE;
    for (uint64_t at = 0, n; out && at < bytes; at += n) {
        n = ft_min_u64(bytes - at, FT_PIECE_BYTES);
        ft_item_send(e, reach(e, FT_WHAT_STORE, h, offset + at, n, (char *)here + at), 1);
    }
    struct ft_wanting *f = ft_small_get(e);
    *f = (struct ft_wanting){
        .to = here ? here : (void *)(uintptr_t)&nowhere, .bytes = out ? 0 : bytes, .waits = 1};
    struct ft_parcel *b = reach(e, out ? FT_WHAT_STORED : FT_WHAT_LOAD, h, offset, bytes, NULL);
    b->fetch = f;
    ft_item_send(e, b, 1);
    ft_progress_out(e);
    ft_endpoint_wait(e, f, -1);
    int st = f->status;
    ft_small_put(e, f);
    return st;
}
