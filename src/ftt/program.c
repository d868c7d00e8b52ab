/* SPDX-License-Identifier: BSD-3-Clause
 *
 * program.c - the program's functions: messages, events, pings, votes and collectives.
 */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "ftt/buffers.h"
#include "ftt/open.h"
#include "runtime/carriers.h"

static int my_rank(FTT_Transport *t) { return ft_endpoint_of(t)->rank; }
static int size(FTT_Transport *t) { return ft_endpoint_of(t)->n; }

static uint32_t incarnation(FTT_Transport *t, int r)
{
    struct ft_endpoint *e = ft_endpoint_of(t);
    if (r < 0 || r >= e->n)
        return UINT32_MAX;
    ft_endpoint_lock(e);
    uint32_t i = e->incarnation[r];
    ft_endpoint_unlock(e);
    return i;
}

static uint32_t generation(FTT_Transport *t)
{
    struct ft_endpoint *e = ft_endpoint_of(t);
    ft_endpoint_lock(e);
    uint32_t g = e->generation;
    ft_endpoint_unlock(e);
    return g;
}

/* --- messages --- */

static int begin(FTT_Transport *t, enum ft_txn_kind kind, int dst, uint32_t tag, const void *msg,
                 size_t bytes, int ack, uint64_t *id)
{
    struct ft_endpoint *e = ft_endpoint_of(t);
    struct ft_head h = {.what = FT_WHAT_PROGRAM, .tag = tag};
    if (dst < 0 || dst >= e->n || (!msg && bytes))
        return FTT_ERR_ARG;
    if (bytes > FTT_MESSAGE_MAX)
        return FTT_ERR_LONG;
    ft_endpoint_lock(e);
    struct ft_parcel *b = ft_block_get(e, sizeof h + bytes);
    memcpy(b->data, &h, sizeof h);
    if (bytes)
        memcpy(b->data + sizeof h, msg, bytes);
    b->kind = (uint8_t)kind;
    b->to = dst;
    b->ack = ack != 0;
    int st = ft_item_send(e, b, 0) ? FTT_OK : FTT_ERR_FULL;
    if (st == FTT_OK && id)
        *id = b->id;
    if (st == FTT_OK)
        ft_progress_out(e);
    else
        ft_block_put(e, b);
    ft_endpoint_unlock(e);
    return st;
}

static int send_message(FTT_Transport *t, int dst, uint32_t tag, const void *msg, size_t bytes,
                        int ack, uint64_t *id)
{
    return begin(t, FT_TXN_MESSAGE, dst, tag, msg, bytes, ack, id);
}

static int send_header(FTT_Transport *t, int dst, uint32_t tag, const void *msg, size_t bytes,
                       int ack, uint64_t *id)
{
    return begin(t, FT_TXN_HEADER, dst, tag, msg, bytes, ack, id);
}

static int answer(FTT_Transport *t, const FTT_Event *header, const void *data, size_t bytes,
                  int ack)
{
    struct ft_endpoint *e = ft_endpoint_of(t);
    struct ft_head h = {.what = FT_WHAT_PROGRAM};
    if (!header || header->kind != FTT_EV_HEADER || header->rank < 0 || header->rank >= e->n ||
        (!data && bytes))
        return FTT_ERR_ARG;
    if (bytes > FTT_MESSAGE_MAX)
        return FTT_ERR_LONG;
    ft_endpoint_lock(e);
    int st = header->incarnation != e->incarnation[header->rank] ? FTT_ERR_DEAD : FTT_OK;
    if (st == FTT_OK) {
        struct ft_parcel *b = ft_block_get(e, sizeof h + bytes);
        memcpy(b->data, &h, sizeof h);
        if (bytes)
            memcpy(b->data + sizeof h, data, bytes);
        b->kind = FT_TXN_PUT;
        b->to = header->rank;
        b->id = header->id;
        b->incarnation = header->incarnation;
        b->ack = ack != 0;
        if (ft_item_send(e, b, 0)) {
            ft_progress_out(e);
        } else {
            ft_block_put(e, b);
            st = FTT_ERR_FULL;
        }
    }
    ft_endpoint_unlock(e);
    return st;
}

static int poll_event(FTT_Transport *t, FTT_Event *event, int timeout)
{
    struct ft_endpoint *e = ft_endpoint_of(t);
    if (!event)
        return FTT_ERR_ARG;
    ft_carriers_door();
    ft_endpoint_lock(e);
    if (e->given)
        ft_block_put(e, e->given);
    e->given = NULL;
    int came = ft_endpoint_wait(e, NULL, timeout);
    struct ft_parcel *b = e->events;
    if (came && b) {
        e->events = b->next;
        e->given = b;
        ft_failpoint(FTT_POLLED);
        *event = b->ev;
    }
    ft_endpoint_unlock(e);
    return came && b ? FTT_OK : FTT_TIMEOUT;
}

/* --- pings --- */

static int ping(FTT_Transport *t, int rank, uint32_t of, FTT_Death *fn, void *arg, uint64_t *id)
{
    struct ft_endpoint *e = ft_endpoint_of(t);
    if (rank < 0 || rank >= e->n || !fn)
        return FTT_ERR_ARG;
    ft_endpoint_lock(e);
    int known = of < e->incarnation[rank] || (of == e->incarnation[rank] && e->dead[rank]);
    if (!known) {
        struct ft_pinger *p = ft_small_get(e);
        *p = (struct ft_pinger){
            .next = e->pings, .id = ++e->next_id, .rank = rank, .incarnation = of, .fn = fn, .arg = arg};
        e->pings = p;
        if (id)
            *id = p->id;
    }
    ft_endpoint_unlock(e);
    if (known)
        fn(arg, rank, of);
    return known ? FTT_KNOWN : FTT_OK;
}

static int take_off(struct ft_endpoint *e, struct ft_pinger **at, uint64_t id)
{
    for (struct ft_pinger *p; (p = *at); at = &p->next)
        if (p->id == id) {
            *at = p->next;
            ft_small_put(e, p);
            return 1;
        }
    return 0;
}

static int cancel(FTT_Transport *t, uint64_t id)
{
    struct ft_endpoint *e = ft_endpoint_of(t);
    ft_endpoint_lock(e);
    int found = take_off(e, &e->pings, id) || take_off(e, &e->due, id);
    ft_endpoint_unlock(e);
    return found ? FTT_OK : FTT_ERR_NOT_FOUND;
}

static void die(FTT_Transport *t)
{
    (void)t;
    for (;;)
        kill(getpid(), SIGKILL);
}

/* --- votes and collectives --- */

static void send_round(void *arg, int to, const struct ft_round_message *m, const void *data)
{
    struct ft_endpoint *e = arg;
    struct ft_head h = {.what = FT_WHAT_ROUND};
    struct ft_parcel *b = ft_block_get(e, sizeof h + sizeof *m + m->bytes);
    memcpy(b->data, &h, sizeof h);
    memcpy(b->data + sizeof h, m, sizeof *m);
    if (m->bytes)
        memcpy(b->data + sizeof h + sizeof *m, data, m->bytes);
    b->kind = FT_TXN_MESSAGE;
    b->to = to;
    ft_item_send(e, b, 1);
}

static void voted(struct ft_endpoint *e, uint32_t tag, const unsigned char *data)
{
    uint32_t now, before;
    struct ft_parcel *b = ft_event_new(e, FTT_EV_VOTED, -1, (size_t)e->n * 4);
    int32_t *failed = (int32_t *)(void *)b->data, n = 0;
    for (int r = 0; r < e->n; r++) {
        memcpy(&now, data + 4 * r, 4);
        memcpy(&before, data + 4 * (r + e->n), 4);
        if (now != before)
            failed[n++] = r;
    }
    b->ev.tag = tag;
    b->ev.bytes = (size_t)n * 4;
}

static void round_done(void *arg, enum ft_round_kind kind, enum ft_round_status st, uint32_t tag,
                       const char *label, int root, const void *data, uint32_t bytes)
{
    struct ft_endpoint *e = arg;
    if (kind == FT_ROUND_VOTE) {
        voted(e, tag, data);
        return;
    }
    if (strcmp(label, FT_CLOSE_LABEL) == 0) {
        e->closing = st == FT_ROUND_OK ? FT_CLOSE_AGREED : FT_CLOSE_AGAIN;
        return;
    }
    int mine = st == FT_ROUND_OK && (kind == FT_ROUND_BROADCAST || kind == FT_ROUND_ALLREDUCE ||
                                     root == e->rank);
    size_t at = mine ? ft_align_up(bytes, 8) : 0;
    struct ft_parcel *b = ft_event_new(e, FTT_EV_COLLECTIVE, -1, at + strlen(label) + 1);
    if (mine && bytes)
        memcpy(b->data, data, bytes);
    strcpy((char *)b->data + at, label);
    b->ev.label = (char *)b->data + at;
    b->ev.bytes = mine ? bytes : 0;
    b->ev.data = mine && bytes ? b->data : NULL;
    b->ev.status = st == FT_ROUND_OK ? FTT_OK : FTT_ERR_DEAD;
}

const struct ft_round_to ft_endpoint_rounds = {.send = send_round, .done = round_done};

static int vote(FTT_Transport *t, uint32_t tag)
{
    struct ft_endpoint *e = ft_endpoint_of(t);
    if (!tag)
        return FTT_ERR_ARG;
    ft_endpoint_lock(e);
    enum ft_round_begun st = ft_rounds_vote(e->rounds, tag);
    ft_progress_out(e);
    ft_endpoint_unlock(e);
    return st == FT_ROUND_BEGUN ? FTT_OK : st == FT_ROUND_UNDER_WAY ? FTT_ERR_BUSY : FTT_ERR_FULL;
}

int ft_collective(FTT_Transport *t, int which, const char *label, int root, int op, int type,
                  const void *data, size_t bytes)
{
    struct ft_endpoint *e = ft_endpoint_of(t);
    size_t n = label ? strnlen(label, FTT_NAME_MAX + 1) : 0, all = bytes;
    int kind = FT_ROUND_BARRIER + which, folds = kind == FT_ROUND_REDUCE || kind == FT_ROUND_ALLREDUCE;
    if (n == 0 || n > FTT_NAME_MAX)
        return FTT_ERR_NAME;
    if (root < 0 || root >= e->n || kind > FT_ROUND_GATHER ||
        (folds && (op < FTT_SUM || op > FTT_MAX || type < FTT_INT64 || type > FTT_DOUBLE)))
        return FTT_ERR_ARG;
    int gives = kind != FT_ROUND_BARRIER && (kind != FT_ROUND_BROADCAST || root == e->rank);
    if (gives && !data && bytes)
        return FTT_ERR_ARG;
    if (kind == FT_ROUND_GATHER)
        all = bytes > FTT_COLLECTIVE_MAX ? bytes : (bytes + 8) * (size_t)e->n;
    if (all > FTT_COLLECTIVE_MAX)
        return FTT_ERR_LONG;
    ft_endpoint_lock(e);
    enum ft_round_begun st = FT_ROUND_NO_ROOM;
    if (ft_rounds_open(e->rounds) < FT_ROUNDS_OWN)
        st = ft_rounds_collective(e->rounds, (enum ft_round_kind)kind, label, root, op << 4 | type,
                                  data, gives ? (uint32_t)bytes : 0);
    ft_progress_out(e);
    ft_endpoint_unlock(e);
    return st == FT_ROUND_BEGUN ? FTT_OK : st == FT_ROUND_UNDER_WAY ? FTT_ERR_BUSY : FTT_ERR_FULL;
}

const struct FTT_Calls ft_endpoint_calls = {
    .close = ft_endpoint_close,
    .rank = my_rank,
    .size = size,
    .incarnation = incarnation,
    .generation = generation,
    .progress = ft_endpoint_progress,
    .send = send_message,
    .send_header = send_header,
    .answer = answer,
    .poll = poll_event,
    .alloc = ft_buffer_alloc,
    .reg = ft_buffer_register,
    .release = ft_buffer_release,
    .put = ft_buffer_put,
    .get = ft_buffer_get,
    .ping = ping,
    .cancel = cancel,
    .vote = vote,
    .collective = ft_collective,
    .publish = ft_shelf_publish,
    .unpublish = ft_shelf_unpublish,
    .fetch = ft_shelf_fetch,
    .die = die,
};
