/* SPDX-License-Identifier: BSD-3-Clause
 *
 * shelf.c - publish and fetch. What lies in the publisher's arena, on the same node, the asker copies
 * by itself. Else a fetch is a header; the publisher copies into the asker's memory, or sends the
 * data with its answer, or, to another node, in pieces before it.
 */
#include <string.h>

#include "ftt/buffers.h"
#include "runtime/carriers.h"

#define INLINE 1024 /* bytes that travel in the answer */

static int is_name(const char *name)
{
    size_t n = name ? strnlen(name, FTT_NAME_MAX + 1) : 0;
    return n > 0 && n <= FTT_NAME_MAX;
}

static struct ft_shelf **find(struct ft_endpoint *e, uint32_t hash, const char *name)
{
    struct ft_shelf **at = &e->shelf[hash % 256];
    while (*at && ((*at)->hash != hash || strcmp((*at)->name, name) != 0))
        at = &(*at)->next;
    return at;
}

/* --- the publisher --- */

static int is_within(uint64_t all, const FTT_Part *p, uint64_t bytes)
{
    if (!p->item)
        return all == bytes;
    if (p->count && p->item > bytes / p->count)
        return 0;
    if (p->item * p->count != bytes || p->offset > all)
        return 0;
    uint64_t rest = all - p->offset;
    return !p->count ||
           (p->item <= rest && (p->count == 1 || p->stride <= (rest - p->item) / (p->count - 1)));
}

/* n bytes of the part, from byte `at` of it on. */
static void copy_part(char *to, const char *from, const FTT_Part *p, uint64_t at, uint64_t n)
{
    if (!p->item || p->stride == p->item || p->count <= 1) {
        ft_copy(to, from + (p->item ? p->offset : 0) + at, n);
        return;
    }
    for (uint64_t done = 0, k; done < n; done += k) {
        uint64_t i = (at + done) / p->item, in = (at + done) % p->item;
        if (i == p->count / 2)
            ft_failpoint(FTT_COPYING);
        k = ft_min_u64(p->item - in, n - done);
        memcpy(to + done, from + p->offset + i * p->stride + in, k);
    }
    ft_failpoint(FTT_COPIED);
}

static void answer_in_pieces(struct ft_endpoint *e, int from, uint64_t id, const struct ft_wish *w,
                             const struct ft_shelf *s)
{
    for (uint64_t at = 0, n; at < w->bytes; at += n) {
        char *to;
        n = ft_min_u64(w->bytes - at, FT_PIECE_BYTES);
        struct ft_parcel *b = ft_piece_new(e, from, id, at, n, &to);
        copy_part(to, s->addr, &w->part, at, n);
        ft_item_send(e, b, 1);
    }
    ft_answer_came(e, from, id, FTT_OK, s->bytes);
}

static void answer(struct ft_endpoint *e, int from, uint64_t id, const struct ft_wish *w,
                   const struct ft_shelf *s)
{
    struct ft_peer *p = &e->peer[from];
    struct ft_head h = {.what = FT_WHAT_THERE, .bytes = s->bytes};
    uint64_t data = 0;
    if (!is_within(s->bytes, &w->part, w->bytes)) {
        h.status = FTT_ERR_SIZE;
    } else if (w->bytes <= INLINE) {
        h.what = FT_WHAT_DATA;
        data = w->bytes;
    } else if (p->far || !w->at) { /* if only one holds, another carrier was asked */
        answer_in_pieces(e, from, id, w, s);
        return;
    } else {
        if (!p->base || w->at > ft_transport->own->bytes ||
            w->bytes > ft_transport->own->bytes - w->at)
            return; /* its process has gone: its replacement asks again */
        copy_part(p->base + w->at, s->addr, &w->part, 0, w->bytes);
    }
    struct ft_parcel *b = ft_answer_new(e, from, id, &h, data);
    if (data)
        copy_part((char *)b->data + sizeof h, s->addr, &w->part, 0, data);
    ft_item_send(e, b, 1);
}

void ft_fetch_asked(struct ft_endpoint *e, int from, uint64_t id, const struct ft_wish *w)
{
    char name[FTT_NAME_MAX + 1];
    FT_ASSERT(w->name_bytes <= FTT_NAME_MAX);
    memcpy(name, w->name, w->name_bytes);
    name[w->name_bytes] = 0;
    struct ft_shelf *s = *find(e, ft_name_hash(name), name);
    if (s) {
        answer(e, from, id, w, s);
        return;
    }
    struct ft_waiting *q = ft_small_get(e), **at = &e->waiting;
    q->from = from;
    q->incarnation = e->incarnation[from];
    q->id = id;
    memcpy(&q->wish, w, offsetof(struct ft_wish, name));
    strcpy(q->wish.name, name);
    while (*at)
        at = &(*at)->next;
    *at = q;
    ft_failpoint(FTT_WAITS);
}

static void answer_waiting(struct ft_endpoint *e, const struct ft_shelf *s)
{
    for (struct ft_waiting **at = &e->waiting, *w; (w = *at);) {
        if (strcmp(w->wish.name, s->name) != 0) {
            at = &w->next;
            continue;
        }
        *at = w->next;
        answer(e, w->from, w->id, &w->wish, s);
        ft_small_put(e, w);
    }
}

int ft_shelf_publish(FTT_Transport *t, const char *name, const void *addr, size_t bytes)
{
    struct ft_endpoint *e = ft_endpoint_of(t);
    if (!is_name(name))
        return FTT_ERR_NAME;
    if (!addr && bytes)
        return FTT_ERR_ARG;
    uint32_t hash = ft_name_hash(name);
    uint64_t off = ft_buffer_at(addr, bytes);
    ft_endpoint_lock(e);
    struct ft_shelf **at = find(e, hash, name), *s = *at;
    if (s) {
        ft_stall_withdraw(e->tables->stall, hash, name);
    } else {
        s = *at = ft_small_get(e);
        s->hash = hash;
        strcpy(s->name, name);
    }
    s->addr = addr;
    s->bytes = bytes;
    if (off)
        (void)ft_stall_list(e->tables->stall, hash, name, off, bytes, ++e->next_stall);
    answer_waiting(e, s);
    ft_progress_out(e);
    ft_endpoint_unlock(e);
    return FTT_OK;
}

int ft_shelf_unpublish(FTT_Transport *t, const char *name)
{
    struct ft_endpoint *e = ft_endpoint_of(t);
    if (!is_name(name))
        return FTT_ERR_NAME;
    uint32_t hash = ft_name_hash(name);
    ft_endpoint_lock(e);
    struct ft_shelf **at = find(e, hash, name), *s = *at;
    if (s) {
        ft_stall_withdraw(e->tables->stall, hash, name);
        *at = s->next;
        ft_small_put(e, s);
    }
    ft_endpoint_unlock(e);
    return s ? (int)FTT_OK : (int)FTT_ERR_NOT_FOUND;
}

/* --- who fetches --- */

void ft_fetch_answered(struct ft_endpoint *e, struct ft_parcel *header, const struct ft_head *h,
                       const unsigned char *data)
{
    struct ft_wanting *f = header->fetch;
    f->status = h->status;
    if (h->what == FT_WHAT_DATA && f->to)
        memcpy(f->to, data, f->bytes);
    if (h->what == FT_WHAT_THERE && f->status == FTT_OK && f->bounce && f->to)
        memcpy(f->to, ft_arena_ptr(ft_transport->own, f->bounce), f->bytes);
    ft_arena_free(ft_transport->own, f->bounce);
    ft_failpoint(FTT_FETCHED);
    f->done = 1;
    e->told++;
    if (f->waits && f->to)
        return; /* its thread frees it */
    if (!f->waits) {
        struct ft_parcel *b = ft_event_new(e, FTT_EV_FETCHED, header->to, 0);
        b->ev.id = header->id;
        b->ev.status = (enum FTT_Status)f->status;
        b->ev.bytes = h->bytes;
    }
    ft_small_put(e, f);
}

static struct ft_parcel *header_for(struct ft_endpoint *e, int rank, const char *name,
                                   const FTT_Part *part, struct ft_wanting *f, uint64_t at)
{
    struct ft_wish w = {.at = at, .bytes = f->bytes, .name_bytes = (uint32_t)strlen(name)};
    struct ft_head h = {.what = FT_WHAT_FETCH};
    size_t bytes = offsetof(struct ft_wish, name) + w.name_bytes;
    struct ft_parcel *b = ft_block_get(e, sizeof h + bytes);
    if (part)
        w.part = *part;
    memcpy(w.name, name, w.name_bytes);
    memcpy(b->data, &h, sizeof h);
    memcpy(b->data + sizeof h, &w, bytes);
    b->kind = FT_TXN_HEADER;
    b->to = rank;
    b->fetch = f;
    return b;
}

/* Where the publisher copies to; *at 0: nowhere, the data is sent. Returns 0 if there is no room. It
 * is never the program's own buffer if main may leave the call: it gets no answer then, and the buffer
 * is its own again. [All go back while it waits, and the publisher comes to its copy after that.] */
static int take_room(struct ft_wanting *f, int far, uint64_t *at)
{
    *at = 0;
    if (f->bytes <= INLINE || far)
        return 1;
    *at = f->waits && ft_carriers_may_take_back() ? 0 : ft_buffer_at(f->to, f->bytes);
    if (*at)
        return 1;
    *at = f->bounce = ft_arena_alloc(ft_transport->own, f->bytes, FT_CACHE_LINE);
    return *at != 0;
}

#define PIECE (1u << 20) /* of a copy; in between others may take the lock */

/* Copies by itself what is listed in the publisher's arena. Under the lock. 0: it is not there, or
 * changes just now: the publisher is asked. What a lost publisher had listed counts until its
 * replacement is known here: it lies in an arena that nobody writes any more, and in the generation
 * of this process that publisher lives. */
static int fetch_directly(struct ft_endpoint *e, int rank, const char *name, const FTT_Part *part,
                          char *to, uint64_t bytes, int *st, uint64_t *there)
{
    static const FTT_Part all;
    struct ft_peer *p = &e->peer[rank];
    struct ft_stall_view v;
    uint32_t generation = e->generation;
    if (!p->tables)
        ft_peer_map(e, rank);
    if (!p->tables || !ft_generation_is_newest(e) ||
        !ft_stall_look(p->tables->stall, ft_name_hash(name), name, &v) ||
        v.at > ft_transport->own->bytes || v.bytes > ft_transport->own->bytes - v.at)
        return 0;
    const char *from = p->base + v.at;
    *there = v.bytes;
    *st = is_within(v.bytes, part ? part : &all, bytes) ? FTT_OK : FTT_ERR_SIZE;
    if (*st == FTT_OK && part) {
        copy_part(to, from, part, 0, bytes);
    } else if (*st == FTT_OK) {
        for (uint64_t at = 0, n; at < bytes; at += n) {
            n = ft_min_u64(bytes - at, PIECE);
            ft_copy(to + at, from + at, n);
            if (at + n == bytes)
                break;
            ft_endpoint_unlock(e);
            ft_endpoint_lock(e);
            if (e->generation != generation)
                return 0; /* its arena is not mapped any more */
        }
    }
    ft_failpoint(FTT_DIRECT);
    return ft_stall_holds(&v);
}

static int direct_fetched(struct ft_endpoint *e, int rank, int waits, int st, uint64_t there,
                          uint64_t *id)
{
    if (waits)
        return st;
    struct ft_parcel *b = ft_event_new(e, FTT_EV_FETCHED, rank, 0);
    b->ev.id = 1ull << 63 | ++e->next_id; /* no item has such a one */
    b->ev.status = (enum FTT_Status)st;
    b->ev.bytes = there;
    if (id)
        *id = b->ev.id;
    return FTT_OK;
}

int ft_shelf_fetch(FTT_Transport *t, int rank, const char *name, const FTT_Part *part, void *buf,
                   size_t bytes, int waits, uint64_t *id)
{
    static const char nowhere; /* of a fetch of nothing */
    struct ft_endpoint *e = ft_endpoint_of(t);
    struct ft_wanting now = {.to = buf ? buf : (void *)(uintptr_t)&nowhere, .bytes = bytes, .waits = waits};
    uint64_t at;
    if (!is_name(name))
        return FTT_ERR_NAME;
    if (rank < 0 || rank >= e->n || (!buf && bytes) || (part && !part->item))
        return FTT_ERR_ARG;
    if (part && (part->count && part->item > SIZE_MAX / part->count))
        return FTT_ERR_SIZE;
    if (part && part->item * part->count != bytes)
        return FTT_ERR_SIZE;
    int st;
    uint64_t there;
    if (waits)
        ft_carriers_door();
    ft_endpoint_lock(e);
    if (fetch_directly(e, rank, name, part, now.to, bytes, &st, &there)) {
        st = direct_fetched(e, rank, waits, st, there, id);
        ft_endpoint_unlock(e);
        return st;
    }
    int far = e->peer[rank].far;
    ft_endpoint_unlock(e);
    if (!take_room(&now, far, &at))
        return FTT_ERR_NO_MEMORY;
    ft_endpoint_lock(e);
    struct ft_wanting *f = ft_small_get(e);
    *f = now;
    struct ft_parcel *b = header_for(e, rank, name, part, f, at);
    if (!ft_item_send(e, b, 0)) {
        ft_block_put(e, b);
        ft_small_put(e, f);
        ft_endpoint_unlock(e);
        ft_arena_free(ft_transport->own, now.bounce);
        return FTT_ERR_FULL;
    }
    if (id)
        *id = b->id;
    ft_progress_out(e);
    st = FTT_OK;
    if (waits) {
        ft_endpoint_wait(e, f, -1);
        st = f->status;
        ft_small_put(e, f);
    }
    ft_endpoint_unlock(e);
    return st;
}
