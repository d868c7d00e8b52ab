/* SPDX-License-Identifier: BSD-3-Clause
 *
 * txn.c - outstanding items: one list for each peer, in the order of their numbers, with two marks:
 * the first item that the peer has not acknowledged, and the first that is to be sent. Headers
 * whose transaction lasts stay in front of both.
 */
#include "proto/txn.h"

#include <string.h>

#define NONE (-1)

struct sending { /* kind 0: free, and next is the next free one */
    uint8_t kind, ack;
    uint8_t acked; /* by whoever carries the peer now */
    uint8_t known; /* it was acknowledged once, and that was told if it was to be */
    uint8_t ended; /* HEADER: its transaction is over */
    uint8_t tell;  /* FT_TXN_ACKED or FT_TXN_GONE is to be told */
    uint16_t pad;
    int32_t to, prev, next, next_told;
    uint32_t number;
    uint64_t id, body;
};
struct peer {
    uint32_t incarnation;
    uint32_t next, expected; /* number of the next item that is sent, received */
    int32_t first, last, unacked, unsent;
    uint32_t resumed;                         /* RESUME of this generation has come */
    uint32_t asks, says;                      /* RESUME is to be sent, with or without asking */
    uint32_t owes;                            /* an acknowledgement */
    uint32_t later, later_number, later_asks; /* a RESUME of generation `later`; 0: none */
    int32_t next_busy, busy;
};
struct ft_txn {
    int32_t n, room, self, nitems;
    uint32_t generation, broken;
    uint64_t count; /* of items ever sent: ids are count * room + index */
    int32_t free, busy, busy_last, told, told_last;
    int32_t pad;
    /* peer[n], item[room] */
};

static struct peer *peer_of(const struct ft_txn *t, int p) { return (struct peer *)(t + 1) + p; }
static struct sending *item_of(const struct ft_txn *t, int i)
{
    return (struct sending *)peer_of(t, t->n) + i;
}

size_t ft_txn_bytes(int n, int room)
{
    return sizeof(struct ft_txn) + (size_t)n * sizeof(struct peer) +
           (size_t)room * sizeof(struct sending);
}

/* Numbers come round, and the shell takes 0 for none. They begin so that they come round soon, in
 * each test. What is not acknowledged is always less than half of them apart. */
#define FIRST (UINT32_MAX - 5)
static uint32_t after(uint32_t number) { return number + 1 ? number + 1 : 1; }
static int is_before(uint32_t a, uint32_t b) { return (int32_t)(a - b) < 0; }

static void peer_begins(struct peer *p, uint32_t incarnation)
{
    p->incarnation = incarnation;
    p->next = p->expected = FIRST;
    p->owes = 0;
}

void ft_txn_init(struct ft_txn *t, int n, int room, int self, uint32_t generation,
                 const uint32_t *incarnations)
{
    FT_ASSERT(n > 0 && room > 0 && self >= 0 && self < n);
    memset(t, 0, ft_txn_bytes(n, room));
    t->n = n;
    t->room = room;
    t->self = self;
    t->generation = generation;
    t->busy = t->busy_last = t->told = t->told_last = NONE;
    for (int i = 0; i < n; i++) {
        struct peer *p = peer_of(t, i);
        peer_begins(p, incarnations[i]);
        p->first = p->last = p->unacked = p->unsent = p->next_busy = NONE;
        p->resumed = generation == 0; /* all begin it together */
    }
    t->free = NONE;
    for (int i = room; i-- > 0;) {
        item_of(t, i)->next = t->free;
        t->free = i;
    }
}

void ft_txn_break(struct ft_txn *t, enum ft_txn_broken how) { t->broken = how; }
uint32_t ft_txn_incarnation(const struct ft_txn *t, int rank)
{
    return peer_of(t, rank)->incarnation;
}
int ft_txn_outstanding(const struct ft_txn *t) { return t->nitems; }

/* There is something to send to peer i. */
static void busy(struct ft_txn *t, int i)
{
    struct peer *p = peer_of(t, i);
    if (p->busy)
        return;
    p->busy = 1;
    p->next_busy = NONE;
    if (t->busy_last == NONE)
        t->busy = i;
    else
        peer_of(t, t->busy_last)->next_busy = i;
    t->busy_last = i;
}

static void append(struct ft_txn *t, int i)
{
    struct sending *it = item_of(t, i);
    struct peer *p = peer_of(t, it->to);
    it->number = p->next;
    p->next = after(p->next);
    it->prev = p->last;
    it->next = NONE;
    if (p->last == NONE)
        p->first = i;
    else
        item_of(t, p->last)->next = i;
    p->last = i;
    if (p->unacked == NONE)
        p->unacked = i;
    if (p->unsent == NONE)
        p->unsent = i;
    busy(t, it->to);
}

static void take_off(struct ft_txn *t, int i)
{
    struct sending *it = item_of(t, i);
    struct peer *p = peer_of(t, it->to);
    if (p->unacked == i)
        p->unacked = it->next;
    if (p->unsent == i)
        p->unsent = it->next;
    if (it->prev == NONE)
        p->first = it->next;
    else
        item_of(t, it->prev)->next = it->next;
    if (it->next == NONE)
        p->last = it->prev;
    else
        item_of(t, it->next)->prev = it->prev;
    it->prev = it->next = NONE;
}

static void release(struct ft_txn *t, int i)
{
    struct sending *it = item_of(t, i);
    memset(it, 0, sizeof *it);
    it->next = t->free;
    t->free = i;
    t->nitems--;
}

static void tell(struct ft_txn *t, int i, enum ft_txn_do what)
{
    struct sending *it = item_of(t, i);
    it->tell = (uint8_t)what;
    it->next_told = NONE;
    if (t->told_last == NONE)
        t->told = i;
    else
        item_of(t, t->told_last)->next_told = i;
    t->told_last = i;
}

/* The peer has it, and nobody will ever need it again. */
static int is_done(const struct ft_txn *t, const struct sending *it)
{
    if (it->kind == FT_TXN_MESSAGE && t->broken == FT_TXN_RESENDS)
        return 0;
    return it->acked && (it->kind != FT_TXN_HEADER || it->ended);
}

/* Its delivery is known, whoever says so (T6). */
static void is_known(struct ft_txn *t, int i)
{
    struct sending *it = item_of(t, i);
    if (!it->known && it->ack)
        tell(t, i, FT_TXN_ACKED);
    it->known = 1;
}

static void drop_if_done(struct ft_txn *t, int i)
{
    if (!is_done(t, item_of(t, i)))
        return;
    take_off(t, i);
    if (!item_of(t, i)->tell)
        release(t, i);
}

enum ft_txn_status ft_txn_send(struct ft_txn *t, enum ft_txn_kind kind, int to, uint64_t body,
                               int ack, uint32_t incarnation, uint64_t *id)
{
    FT_ASSERT(to >= 0 && to < t->n);
    if (kind == FT_TXN_PUT && incarnation != peer_of(t, to)->incarnation)
        return FT_TXN_REPLACED; /* T4 */
    int i = t->free;
    if (i == NONE)
        return FT_TXN_FULL;
    struct sending *it = item_of(t, i);
    t->free = it->next;
    t->nitems++;
    *it = (struct sending){.kind = (uint8_t)kind, .ack = ack != 0, .to = to, .body = body};
    if (kind != FT_TXN_PUT)
        *id = ++t->count * (uint64_t)t->room + (uint64_t)i;
    it->id = *id;
    append(t, i);
    return FT_TXN_OK;
}

/* All items before `number` have been delivered to the peer. */
static void acknowledged(struct ft_txn *t, struct peer *p, uint32_t number, int told)
{
    while (p->unacked != NONE && is_before(item_of(t, p->unacked)->number, number)) {
        int i = p->unacked;
        struct sending *it = item_of(t, i);
        FT_ASSERT(p->unsent != i);
        p->unacked = it->next;
        it->acked = 1;
        it->known |= !told;
        is_known(t, i);
        drop_if_done(t, i);
    }
}

static void resume_is_due(struct ft_txn *t, int to)
{
    peer_of(t, to)->says = 1;
    busy(t, to);
}

static void resume(struct ft_txn *t, int from, uint32_t number, int asked)
{
    struct peer *p = peer_of(t, from);
    if (!p->resumed) {
        p->resumed = 1;
        p->unsent = p->unacked;
        while (p->unsent != NONE && is_before(item_of(t, p->unsent)->number, number) &&
               t->broken != FT_TXN_TWICE)
            p->unsent = item_of(t, p->unsent)->next;
    }
    if (t->broken != FT_TXN_TWICE)
        acknowledged(t, p, number, t->broken != FT_TXN_FORGETS_ACK);
    if (asked)
        resume_is_due(t, from);
    busy(t, from);
}

/* The header that this answers; NONE: its transaction is over. */
static int open_header(const struct ft_txn *t, uint64_t id)
{
    int i = (int)(id % (uint64_t)t->room);
    const struct sending *it = item_of(t, i);
    return it->kind == FT_TXN_HEADER && it->id == id && !it->ended ? i : NONE;
}

static int on_put(struct ft_txn *t, uint64_t id)
{
    int i = open_header(t, id);
    if (i == NONE)
        return 0;
    item_of(t, i)->ended = 1;
    is_known(t, i);
    drop_if_done(t, i);
    return 1;
}

static int on_item(struct ft_txn *t, int from, const struct ft_txn_frame *f)
{
    struct peer *p = peer_of(t, from);
    FT_ASSERT(f->number == p->expected);
    p->expected = after(p->expected);
    p->owes = 1;
    busy(t, from);
    return f->item != FT_TXN_PUT || on_put(t, f->id);
}

int ft_txn_frame(struct ft_txn *t, int from, const struct ft_txn_frame *f)
{
    struct peer *p = peer_of(t, from);
    if (f->generation != t->generation && t->broken != FT_TXN_OLD_FRAMES) {
        if (f->kind == FT_TXN_FRAME_RESUME && f->generation > t->generation &&
            f->generation >= p->later && t->broken != FT_TXN_DEAF) {
            p->later_asks = f->asks | (f->generation == p->later ? p->later_asks : 0);
            p->later = f->generation;
            p->later_number = f->number;
        }
        return 0;
    }
    switch ((enum ft_txn_frame_kind)f->kind) {
    case FT_TXN_FRAME_ITEM: return on_item(t, from, f);
    case FT_TXN_FRAME_ACK: acknowledged(t, p, f->number, 1); return 0;
    case FT_TXN_FRAME_RESUME: resume(t, from, f->number, (int)f->asks); return 0;
    }
    FT_ASSERT(0);
}

/* What was for the lost carrier of peer i goes to the next one, or nowhere. */
static void replace(struct ft_txn *t, int i, uint32_t incarnation)
{
    struct peer *p = peer_of(t, i);
    int at = p->first;
    p->first = p->last = p->unacked = p->unsent = NONE;
    peer_begins(p, incarnation);
    while (at != NONE) {
        struct sending *it = item_of(t, at);
        int next = it->next, acked = it->acked;
        int stays = it->kind == FT_TXN_HEADER ? !it->ended : it->kind == FT_TXN_MESSAGE;
        if (it->kind == FT_TXN_PUT && t->broken == FT_TXN_OLD_PUT)
            stays = 1;
        if (t->broken == FT_TXN_ONCE || (acked && t->broken == FT_TXN_HEADER_ACK))
            stays = 0;
        if (stays) {
            it->acked = 0;
            append(t, at);
        } else if (it->kind == FT_TXN_PUT && it->ack) {
            tell(t, at, FT_TXN_GONE);
        } else if (!it->tell) {
            release(t, at);
        } else {
            it->acked = it->ended = 1; /* released when it was told */
        }
        at = next;
    }
}

void ft_txn_generation(struct ft_txn *t, uint32_t generation, const uint32_t *incarnations)
{
    FT_ASSERT(generation > t->generation &&
              incarnations[t->self] == peer_of(t, t->self)->incarnation);
    t->generation = generation;
    for (int i = 0; i < t->n; i++) {
        struct peer *p = peer_of(t, i);
        int is_new = p->incarnation != incarnations[i];
        if (is_new)
            replace(t, i, incarnations[i]);
        p->resumed = p->asks = p->says = p->owes = 0;
        p->unsent = p->unacked;
        if (t->broken == FT_TXN_EAGER)
            p->resumed = 1;
        /* Of a new carrier the number may be the one before it. [It had adopted a decision of this
         * number that is lost with all who had.] It will be asked. */
        if (p->later == generation && !is_new)
            resume(t, i, p->later_number, (int)p->later_asks);
        else if (p->later == generation && p->later_asks)
            resume_is_due(t, i);
        if (p->later <= generation)
            p->later = p->later_number = p->later_asks = 0;
        if (p->unacked != NONE)
            busy(t, i);
    }
}

/* The next thing to send to peer i. */
static int next_of(struct ft_txn *t, int i, struct ft_txn_frame *f)
{
    struct peer *p = peer_of(t, i);
    int asks = !p->resumed && p->unacked != NONE && !p->asks;
    *f = (struct ft_txn_frame){.generation = t->generation, .number = p->expected};
    if (asks || p->says) {
        f->kind = FT_TXN_FRAME_RESUME;
        f->asks = asks;
        p->asks |= asks;
        p->says = p->owes = 0;
    } else if (p->owes) {
        f->kind = FT_TXN_FRAME_ACK;
        p->owes = 0;
    } else if (p->resumed && p->unsent != NONE) {
        const struct sending *it = item_of(t, p->unsent);
        p->unsent = it->next;
        f->kind = FT_TXN_FRAME_ITEM;
        f->item = it->kind;
        f->number = it->number;
        f->id = it->id;
        f->body = it->body;
    } else {
        return 0;
    }
    return 1;
}

int ft_txn_next(struct ft_txn *t, struct ft_txn_action *a)
{
    if (t->told != NONE) {
        int i = t->told;
        struct sending *it = item_of(t, i);
        t->told = it->next_told;
        if (t->told == NONE)
            t->told_last = NONE;
        *a = (struct ft_txn_action){
            .kind = (enum ft_txn_do)it->tell, .peer = it->to, .id = it->id, .body = it->body};
        it->tell = 0;
        if (a->kind == FT_TXN_GONE || is_done(t, it))
            release(t, i);
        return 1;
    }
    while (t->busy != NONE) {
        int i = t->busy;
        struct peer *p = peer_of(t, i);
        *a = (struct ft_txn_action){.kind = FT_TXN_SEND, .peer = i};
        if (next_of(t, i, &a->frame))
            return 1;
        t->busy = p->next_busy;
        if (t->busy == NONE)
            t->busy_last = NONE;
        p->busy = 0;
    }
    return 0;
}

void ft_txn_check(const struct ft_txn *t)
{
    int seen = 0;
    for (int i = 0; i < t->n; i++) {
        const struct peer *p = peer_of(t, i);
        int unacked = 0, unsent = 0;
        uint32_t before = p->next; /* of those that are not acknowledged; next: there is none */
        for (int at = p->first; at != NONE; at = item_of(t, at)->next) {
            const struct sending *it = item_of(t, at);
            unacked |= p->unacked == at;
            unsent |= p->unsent == at;
            FT_ASSERT(it->kind && it->to == i);
            FT_ASSERT(it->acked == !unacked && (!unsent || unacked));
            if (unacked) {
                FT_ASSERT(is_before(it->number, p->next));
                FT_ASSERT(before == p->next || is_before(before, it->number));
                before = it->number;
            }
            seen++;
        }
        FT_ASSERT(unacked == (p->unacked != NONE) && unsent == (p->unsent != NONE));
    }
    for (int at = t->told; at != NONE; at = item_of(t, at)->next_told)
        seen += is_done(t, item_of(t, at)) || item_of(t, at)->tell == FT_TXN_GONE;
    FT_ASSERT(seen == t->nitems);
}
