/* SPDX-License-Identifier: BSD-3-Clause
 *
 * far_access.c - submits accesses to processes of other nodes, and takes the answers.
 */
#include "rma/far_access.h"

#include <string.h>

#include "base/near.h"
#include "rma/far_log.h"
#include "rma/far_ring.h"
#include "transport/polled.h"

/* An entry that was submitted. */
struct open_access {
    void *to;                 /* where its result belongs; NULL: nowhere */
    struct ft_far_told *told; /* likewise, what the target's node said */
    uint32_t len;
    uint32_t block; /* 0: in one piece; else in blocks of this length, at this distance */
    ptrdiff_t stride;
    int taken; /* its answer was */
    uint64_t stage_end;
};

struct far_asked {
    struct ft_far_ring *ring; /* NULL: nothing was ever asked */
    uint64_t from, to;        /* these entries were submitted, and the first is not answered */
    uint64_t stage_from, stage_to;
    enum ft_status failed; /* what the last failed answer says */
    int dead;              /* an access was for a node that is out */
    struct open_access open[FT_FAR_ENTRIES];
};
FT_STATIC(struct far_asked, asked);
#define asked FT_MY(asked)

/* The lock words of every part on another node: always taken. */
FT_STATIC(struct ft_win_locks, taken_words) = {.crit = UINT64_MAX, .excl = UINT64_MAX};
#define taken_words FT_MY(taken_words)

static void make_ring(void)
{
    uint64_t off = ft_arena_need(ft_transport->own, sizeof(struct ft_far_ring), FT_CACHE_LINE);
    struct ft_far_ring *r = ft_need(off ? ft_arena_ptr(ft_transport->own, off) : NULL, sizeof *r,
                                    "accesses to other nodes");
    memset((void *)r, 0, offsetof(struct ft_far_ring, stage));
    asked = (struct far_asked){.ring = r};
    atomic_store_explicit(&ft_transport->own->ctl->far_ring, off, memory_order_release);
}

void ft_far_part(const struct ft_win *w, struct ft_winpart *p)
{
    p->far = 1;
    p->base = NULL;
    p->off = 0;
    p->lent = 0;
    p->locks = &taken_words;
    if (w->dynamic) { /* the other node's gateway knows what is attached */
        p->from = 0;
        p->bytes = SIZE_MAX;
        p->version = 0;
    }
}

/* ---- answers ---- */

static struct ft_far_entry *entry(uint64_t n) { return &asked.ring->entry[n % FT_FAR_ENTRIES]; }
static struct open_access *open_of(uint64_t n) { return &asked.open[n % FT_FAR_ENTRIES]; }

static void spread(const struct open_access *o, const char *from)
{
    char *to = o->to;
    if (!o->block)
        memcpy(to, from, o->len);
    for (uint32_t at = 0; o->block && at < o->len; at += o->block, to += o->stride)
        memcpy(to, from + at, o->block);
}

/* The access has no result. Its target was lost with its node: then all go back. Or the target had
 * ended before it could be asked, and another process will carry its rank. What was to change
 * something is in a log then. */
static void met_the_dead(uint64_t n)
{
    const struct ft_far_entry *e = entry(n);
    int lost = atomic_load_explicit(&asked.ring->lost, memory_order_acquire) > n;
    if (!(e->op.flags & FT_FAR_LOGGED) || lost || e->op.kind == FT_FAR_READ ||
        e->op.kind == FT_FAR_HOME)
        asked.dead = 1;
    else if (e->op.kind == FT_FAR_GET || e->op.kind == FT_FAR_SWAP || e->op.kind == FT_FAR_WORD ||
             e->op.kind == FT_FAR_ENTER || e->op.kind == FT_FAR_LOCK)
        asked.failed = FT_ERR_DEAD;
}

static void add_stages(const struct ft_far_entry *e)
{
    struct ft_board *b = ft_transport->board;
    struct ft_link_counts *c = &b->link[ft_board_node_of(b, e->slot)];
    const struct ft_far_times *t = &e->times;
    if (e->status == FT_ERR_DEAD)
        return;
    atomic_fetch_add(&c->timed, 1);
    atomic_fetch_add(&c->stage_ns[FT_LINK_HAND_OVER], t->taken - t->begun);
    atomic_fetch_add(&c->stage_ns[FT_LINK_WIRE], t->answered - t->taken - t->held);
    atomic_fetch_add(&c->stage_ns[FT_LINK_APPLY], t->held);
    atomic_fetch_add(&c->stage_ns[FT_LINK_ANSWER], ft_now_ns() - t->answered);
}

static void take_answer(uint64_t n)
{
    struct ft_far_entry *e = entry(n);
    struct open_access *o = open_of(n);
    if (o->taken || atomic_load_explicit(&e->done, memory_order_acquire) <= n)
        return;
    o->taken = 1;
    if (e->op.flags & FT_FAR_TIMED)
        add_stages(e);
    if (o->told)
        *o->told = (struct ft_far_told){e->calls, e->stamp};
    if (e->status == FT_ERR_DEAD) {
        met_the_dead(n);
    } else if (e->status != FT_OK) {
        FT_ASSERT(e->op.flags & FT_FAR_DYNAMIC || e->op.kind == FT_FAR_LOCK ||
                  e->op.kind == FT_FAR_HOME);
        asked.failed = (enum ft_status)e->status;
    } else if (o->to) {
        spread(o, asked.ring->stage + e->at);
        ft_note_acquired();
    }
}

static void take_answers(void)
{
    for (uint64_t n = asked.from; n != asked.to; n++)
        take_answer(n);
    for (; asked.from != asked.to && open_of(asked.from)->taken; asked.from++)
        asked.stage_from = open_of(asked.from)->stage_end;
}

/* Whether anything from entry `first` on, to slot (-1: any), waits for its answer. */
static int is_open(uint64_t first, int slot)
{
    for (uint64_t n = ft_max_u64(first, asked.from); n != asked.to; n++)
        if (!open_of(n)->taken && (slot < 0 || entry(n)->slot == slot))
            return 1;
    return 0;
}

/* The access has no result, and the program must not go on with none: main waits for the rollback,
 * or the job's end, which leaves from here. */
static void until_all_go_back(void)
{
    struct ft_waiter wait = FT_WAITER_UNRUNG;
    ft_leave_access();
    while (asked.dead)
        ft_wait(&wait);
    ft_wait_end(&wait);
}

static void await_answers(uint64_t first, int slot)
{
    struct ft_waiter wait = {.deaf = 1}; /* rung with each answer */
    while (take_answers(), is_open(first, slot))
        ft_wait(&wait);
    ft_wait_end(&wait);
}

static void await(uint64_t first, int slot)
{
    await_answers(first, slot);
    if (FT_UNLIKELY(asked.dead))
        until_all_go_back();
}

void ft_rma_settle_far(int left)
{
    if (!asked.ring)
        return;
    for (uint64_t n = asked.from; left && n != asked.to; n++) {
        open_of(n)->to = NULL;
        open_of(n)->told = NULL;
    }
    await_answers(asked.from, -1);
    if (left)
        atomic_store_explicit(&asked.ring->settled, asked.to, memory_order_release);
    asked.dead = 0;
    asked.failed = FT_OK;
}

static enum ft_status take_failure(void)
{
    enum ft_status st = asked.failed;
    asked.failed = FT_OK;
    return st;
}

/* All from entry `first` on is answered. Returns what failed. */
static enum ft_status settle(uint64_t first)
{
    await(first, -1);
    return take_failure();
}

/* ---- asking ---- */

/* A place in the stage, as a number that only grows. No data wraps around. */
static uint64_t place_for(uint64_t bytes)
{
    uint64_t at = asked.stage_to;
    return at % FT_FAR_STAGE + bytes > FT_FAR_STAGE ? ft_align_up(at, FT_FAR_STAGE) : at;
}

static int has_room(uint64_t bytes)
{
    return asked.to - asked.from < FT_FAR_ENTRIES &&
           place_for(bytes) + bytes - asked.stage_from <= FT_FAR_STAGE;
}

static uint64_t room_for(uint64_t bytes)
{
    struct ft_waiter wait = {.deaf = 1};
    take_answers();
    while (!has_room(bytes)) {
        ft_wait(&wait);
        take_answers();
    }
    ft_wait_end(&wait);
    return place_for(bytes);
}

struct operand {
    const void *data;
    size_t bytes;
    size_t block; /* as in struct open_access */
    ptrdiff_t stride;
};

static void gather(char *to, const struct operand *o)
{
    const char *from = o->data;
    if (o->bytes && !o->block)
        memcpy(to, from, o->bytes);
    for (size_t at = 0; o->block && at < o->bytes; at += o->block, from += o->stride)
        memcpy(to + at, from, o->block);
}

/* What is asked for. */
struct far_request {
    struct ft_far_op op;
    struct operand a, b; /* data that go with it */
    void *to;            /* where op.len bytes of the result belong; NULL: nowhere */
    struct ft_far_told *told;
    uint64_t lo_at; /* far_ring.h */
};

static void submit_to(int slot, const struct far_request *q)
{
    uint64_t bytes =
        ft_align_up(ft_max_u64(q->a.bytes + q->b.bytes, q->to ? q->op.len : 0), FT_CACHE_LINE);
    FT_ASSERT(bytes <= FT_FAR_PIECE);
    if (!asked.ring)
        make_ring();
    uint64_t at = room_for(bytes);
    struct ft_far_entry *e = entry(asked.to);
    e->op = q->op;
    if (q->to)
        e->op.flags |= FT_FAR_RESULT;
    if (ft_rma_logs())
        e->op.flags |= FT_FAR_LOGGED;
    if (asked.to % FT_FAR_SAMPLE == 0) {
        e->op.flags |= FT_FAR_TIMED;
        e->times.begun = ft_now_ns();
    }
    e->slot = slot;
    e->bytes = (uint32_t)(q->a.bytes + q->b.bytes);
    e->at = at % FT_FAR_STAGE;
    e->lo_at = q->lo_at;
    gather(asked.ring->stage + e->at, &q->a);
    gather(asked.ring->stage + e->at + q->a.bytes, &q->b);
    asked.stage_to = at + bytes;
    *open_of(asked.to) = (struct open_access){
        .to = q->to, .told = q->told, .len = (uint32_t)q->op.len, .stage_end = asked.stage_to};
    atomic_store_explicit(&asked.ring->submitted, ++asked.to, memory_order_release);
    ft_transport->ops->ring(ft_transport, slot);
}

/* An access is not in the logs, or not as it was: neither can this rank be run again alone, nor one
 * of the others. */
static void not_logged(void)
{
    ft_homelog_incomplete(FT_UNKEPT_NODES);
    ft_putlog_stop(FT_UNKEPT_NODES);
}

static void submit(struct ft_win *w, int target, struct far_request q)
{
    struct ft_winpart *p = &w->part[target];
    FT_ASSERT(p->far);
    q.op.win = w->id;
    if (!(q.op.flags & FT_FAR_BLOCKS))
        q.op.rank = w->ctx.rank;
    if (w->dynamic)
        q.op.flags |= FT_FAR_DYNAMIC;
    if (ft_rma_outside)
        q.op.flags |= FT_FAR_OUTSIDE;
    if (FT_UNLIKELY(ft_rma_outside) && ft_rma_logs())
        not_logged();
    w->asked_far = 1;
    submit_to(p->slot, &q);
}

/* ft_win_create_dynamic's windows tell only there what is attached: the call waits for the answer,
 * since an error is raised by the call. */
static enum ft_status answer_of(const struct ft_win *w, uint64_t first)
{
    return w->dynamic ? settle(first) : FT_OK;
}

/* Outside of an access on return: the rank has another carrier, or all go back. */
static void await_carrier(struct ft_win *w, int target)
{
    struct ft_waiter wait = FT_WAITER_UNRUNG;
    ft_leave_access();
    while (w->part[target].known)
        ft_wait(&wait);
    ft_wait_end(&wait);
}

/* NULL: the rank's present carrier is on this node, and nothing was entered. [It was lost, and its
 * node had no spare.] */
static struct ft_winpart *enter(struct ft_win *w, int target)
{
    for (;;) {
        struct ft_winpart *p = ft_winpart_for_access(w, target);
        if (FT_UNLIKELY(!p->far))
            return NULL;
        if (FT_LIKELY(ft_enter_access()))
            return p;
        ft_leave_access();
        ft_attend();
    }
}

/* The record is written before the put is submitted. Its lo is open until the answer is there,
 * which an epoch's end waits for, and so does the agent before it says that nothing is under way
 * (L5). */
static uint64_t log_put(struct ft_win *w, int target, size_t off, const void *buf, uint32_t n)
{
    int rank = w->ctx.world[target];
    struct ft_act *a = ft_putlog_on ? ft_putlog_begin(rank, (uint32_t)w->id, off, 0, n) : NULL;
    if (!a)
        return 0;
    memcpy(a->data, buf, n);
    ft_mark_dirty(w, &w->part[target], target);
    ft_putlog_publish(rank, a);
    return ft_arena_off(ft_transport->own, &a->call);
}

enum ft_status ft_far_put(struct ft_win *w, int target, size_t off, const void *buf, size_t len)
{
    uint64_t first = asked.to;
    for (size_t at = 0, n; at < len; at += n) {
        n = ft_min_u64(len - at, FT_FAR_PIECE);
        const char *from = (const char *)buf + at;
        submit(w, target,
               (struct far_request){.op = {.kind = FT_FAR_PUT, .off = off + at, .len = n},
                                    .a = {.data = from, .bytes = n},
                                    .lo_at = log_put(w, target, off + at, from, (uint32_t)n)});
    }
    enum ft_status st = answer_of(w, first);
    if (FT_UNLIKELY(st != FT_OK) && ft_putlog_on) /* the record says that it was done */
        not_logged();
    return st;
}

enum ft_status ft_far_get(struct ft_win *w, int target, size_t off, void *buf, size_t len)
{
    for (;;) {
        uint64_t first = asked.to;
        for (size_t at = 0, n; at < len; at += n) {
            n = ft_min_u64(len - at, FT_FAR_PIECE);
            submit(w, target,
                   (struct far_request){.op = {.kind = FT_FAR_GET, .off = off + at, .len = n},
                                        .to = (char *)buf + at});
        }
        /* L2: what is logged must be known before the program may use it */
        enum ft_status st = ft_homelog_logs() ? settle(first) : answer_of(w, first);
        if (FT_LIKELY(st != FT_ERR_DEAD))
            return st;
        await_carrier(w, target);
        if (!enter(w, target))
            return FT_ERR_AGAIN;
    }
}

/* The blocks lie in the part, whose window is not dynamic. */
static void submit_blocks(struct ft_win *w, int target, size_t off, char *here,
                          const struct ft_spaced *b, int is_put)
{
    int64_t stride = b->there;
    for (size_t i = 0, n; i < b->n; i += n) {
        n = ft_min_u64(b->n - i, (FT_FAR_PIECE - sizeof stride) / b->len);
        char *first = here + (ptrdiff_t)i * b->here;
        struct far_request q = {.op = {.kind = is_put ? FT_FAR_PUT : FT_FAR_GET,
                                       .flags = FT_FAR_BLOCKS,
                                       .rank = (int32_t)b->len,
                                       .off = off + (size_t)((ptrdiff_t)i * b->there),
                                       .len = n * b->len},
                                .a = {.data = &stride, .bytes = sizeof stride}};
        if (is_put)
            q.b = (struct operand){
                .data = first, .bytes = n * b->len, .block = b->len, .stride = b->here};
        else
            q.to = first;
        submit(w, target, q);
        struct open_access *last = open_of(asked.to - 1);
        last->block = (uint32_t)b->len;
        last->stride = b->here;
    }
}

static void log_blocks(const struct ft_win *w, int target, size_t off, const char *here,
                       const struct ft_spaced *b)
{
    for (size_t i = 0; i < b->n; i++)
        ft_homelog_note(FT_ACT_GET, (uint32_t)w->id, target,
                        off + (size_t)((ptrdiff_t)i * b->there), here + (ptrdiff_t)i * b->here,
                        (uint32_t)b->len);
}

int ft_far_blocks(struct ft_win *w, int target, size_t off, void *here, const struct ft_spaced *b,
                  int is_put)
{
    if (ft_replay != FT_LIVE || (is_put && ft_putlog_on)) /* each block has a record */
        return 0;
    const struct ft_winpart *p = ft_winpart_for_access(w, target);
    ptrdiff_t last = (ptrdiff_t)(b->n - 1) * b->there;
    size_t low = last < 0 ? off + (size_t)last : off, span = (size_t)(last < 0 ? -last : last);
    if (!p->far || w->dynamic || b->n < 2 || b->len > FT_FAR_PIECE / 4 || low > off ||
        ft_outside(p, low, span + b->len))
        return 0;
    p = enter(w, target);
    if (!p)
        return 0;
    ft_note_access(w, &w->part[target], target);
    uint64_t first = asked.to;
    int logs = !is_put && ft_homelog_logs();
    submit_blocks(w, target, off, here, b, is_put);
    if (logs && settle(first) == FT_ERR_DEAD) { /* nothing was learnt */
        await_carrier(w, target);
        return 0;
    }
    ft_leave_access();
    if (logs && ft_level < FT_LOG_ALL)
        ft_homelog_incomplete(FT_UNKEPT_GETS);
    else if (logs)
        log_blocks(w, target, off, here, b);
    return 1;
}

/* ---- combining operations ---- */

/* As settle, for an ENTER, the entry `first`. A process that is to go back leaves the section first,
 * and changes nothing. [Others wait for the section, deaf, and all wait for them to go back.] */
static enum ft_status settle_entered(struct ft_win *w, int target, size_t off, uint64_t first)
{
    await_answers(first, -1);
    if (FT_UNLIKELY(asked.dead)) {
        if (entry(first)->status == (int32_t)FT_OK)
            (void)ft_far_leave(w, target, off, NULL, 0, FT_NO_HOLE, 0);
        until_all_go_back();
    }
    return take_failure();
}

enum ft_status ft_far_look(struct ft_win *w, int target, size_t off, size_t len, int change,
                           void *now, struct ft_far_told *told)
{
    for (;;) {
        struct ft_winpart *p = enter(w, target);
        uint64_t first = asked.to;
        if (FT_UNLIKELY(!p))
            return FT_ERR_AGAIN;
        if (ft_outside(p, off, len))
            return FT_ERR_RANGE;
        ft_note_access(w, p, target);
        submit(w, target,
               (struct far_request){
                   .op = {.kind = change ? FT_FAR_ENTER : FT_FAR_SWAP, .off = off, .len = len},
                   .to = now,
                   .told = told});
        enum ft_status st = change ? settle_entered(w, target, off, first) : settle(first);
        if (FT_LIKELY(st != FT_ERR_DEAD))
            return st;
        await_carrier(w, target); /* then not inside */
    }
}

enum ft_status ft_far_leave(struct ft_win *w, int target, size_t off, const void *left, size_t len,
                            struct ft_hole hole, uint64_t count)
{
    struct ft_far_commit c = {.count = count, .rank = (uint32_t)ft_rma_me, .hole = hole};
    uint64_t first = asked.to;
    submit(w, target,
           (struct far_request){.op = {.kind = FT_FAR_COMMIT, .off = off, .len = left ? len : 0},
                                .a = {.data = &c, .bytes = sizeof c},
                                .b = {.data = left, .bytes = left ? len : 0}});
    return answer_of(w, first);
}

/* The operation is one of this process's program, so it is applied here: the section at the target
 * is held over the way. */
static enum ft_status combine(struct ft_win *w, int target, size_t off, size_t len,
                              const void *origin, size_t count, void *result,
                              const struct ft_reducer *reducer)
{
    FT_ALIGNED_LINE char now[FT_PIECE];
    uint64_t first = asked.to;
    submit(w, target,
           (struct far_request){.op = {.kind = FT_FAR_ENTER, .off = off, .len = len}, .to = now});
    enum ft_status st = settle_entered(w, target, off, first);
    if (st != FT_OK) /* the section was not entered */
        return st;
    if (result)
        memcpy(result, now, len);
    if (reducer->apply)
        reducer->apply(reducer->arg, origin, now, count);
    else
        memcpy(now, origin, len);
    return ft_far_leave(w, target, off, now, len, reducer->hole, 0);
}

enum ft_status ft_far_accumulate(struct ft_win *w, int target, size_t off, const void *origin,
                                 void *result, size_t count, size_t esize,
                                 const struct ft_reducer *op)
{
    struct ft_winpart *p = enter(w, target);
    if (FT_UNLIKELY(!p))
        return FT_ERR_AGAIN;
    uint64_t first = asked.to;
    int here = origin && op && (op->apply || op->hole.stride) && !op->fold;
    enum ft_status st = ft_outside(p, off, count * esize) ? FT_ERR_RANGE : FT_OK;
    ft_note_access(w, p, target);
    for (size_t i = 0, n; i < count && st == FT_OK; i += n) {
        n = ft_min_u64(count - i, (here ? FT_PIECE : FT_FAR_PIECE) / esize);
        struct ft_far_op piece = {.kind = FT_FAR_SWAP, .off = off + i * esize, .len = n * esize};
        const char *from = origin ? (const char *)origin + i * esize : NULL;
        char *to = result ? (char *)result + i * esize : NULL;
        if (from && op && op->fold) {
            piece.how = (uint8_t)op->fold;
            piece.esize = (uint8_t)op->kind;
        }
        if (here)
            st = combine(w, target, piece.off, piece.len, from, n, to, op);
        else
            submit(w, target,
                   (struct far_request){
                       .op = piece, .a = {.data = from, .bytes = from ? piece.len : 0}, .to = to});
    }
    if (st == FT_OK)
        st = answer_of(w, first);
    ft_leave_access();
    ft_polled(!origin);
    return st;
}

enum ft_status ft_far_fetch_word(struct ft_win *w, int target, size_t off, enum ft_fetch_kind kind,
                                 size_t esize, const void *operand, const void *compare,
                                 void *result)
{
    struct ft_winpart *p = enter(w, target);
    if (FT_UNLIKELY(!p))
        return FT_ERR_AGAIN;
    uint64_t first = asked.to;
    enum ft_status st = ft_outside(p, off, esize) ? FT_ERR_RANGE : FT_OK;
    ft_note_access(w, p, target);
    if (st == FT_OK) {
        submit(
            w, target,
            (struct far_request){.op = {.kind = FT_FAR_WORD,
                                        .how = (uint8_t)kind,
                                        .esize = (uint8_t)esize,
                                        .off = off,
                                        .len = esize},
                                 .a = {.data = operand, .bytes = kind == FT_FETCH_NOOP ? 0 : esize},
                                 .b = {.data = compare, .bytes = kind == FT_FETCH_CAS ? esize : 0},
                                 .to = result});
        st = answer_of(w, first);
    }
    ft_leave_access();
    ft_polled(kind == FT_FETCH_NOOP || kind == FT_FETCH_CAS);
    return st;
}

/* ---- locks ---- */

int ft_far_lock(struct ft_win *w, int target, int exclusive)
{
    uint64_t first = asked.to;
    submit(w, target,
           (struct far_request){.op = {.kind = FT_FAR_LOCK, .how = (uint8_t)(exclusive != 0)}});
    return settle(first) == FT_OK;
}

void ft_far_unlock(struct ft_win *w, int target)
{
    int exclusive = w->part[target].held == FT_HELD_EXCL;
    submit(w, target,
           (struct far_request){.op = {.kind = FT_FAR_UNLOCK, .how = (uint8_t)exclusive}});
}

/* What this process holds at rank r, for r's node. */
static uint32_t held_at(int r, struct ft_far_held *h, uint32_t room)
{
    uint32_t n = 0;
    for (const struct ft_win *w = ft_windows; w && n < room; w = w->next)
        for (int t = 0; t < w->ctx.size; t++)
            if (w->ctx.world[t] == r && n < room)
                h[n++] =
                    (struct ft_far_held){w->id, (uint32_t)w->ctx.rank, (uint32_t)w->part[t].held};
    return n;
}

int ft_far_free_left_over(int *next)
{
    struct ft_far_held h[FT_FAR_PIECE / sizeof(struct ft_far_held)];
    for (; *next < ft_rma_nranks; ++*next) {
        if (ft_board_near(ft_transport->board, ft_rma_slots[*next]))
            continue;
        uint32_t bytes = held_at(*next, h, FT_COUNTOF(h)) * (uint32_t)sizeof h[0];
        take_answers();
        if (!has_room(FT_FAR_PIECE))
            return 0;
        if (bytes)
            submit_to(ft_rma_slots[*next],
                      &(struct far_request){.op = {.kind = FT_FAR_FREE, .len = bytes},
                                            .a = {.data = h, .bytes = bytes}});
    }
    return 1;
}

/* ---- epochs ---- */

void ft_far_await(struct ft_win *w, int target)
{
    if (target < 0) {
        await(asked.from, -1);
        w->asked_far = 0;
    } else if (w->part[target].known) {
        await(asked.from, w->part[target].slot);
    } else { /* it has another carrier since */
        await(asked.from, -1);
    }
}

/* -1: the part is on this node. */
static int far_slot(const struct ft_win *w, int target)
{
    int slot = ft_rma_slots[w->ctx.world[target]];
    return ft_board_near(ft_transport->board, slot) ? -1 : slot;
}

static int is_meant(const struct ft_win *w, int i, int target)
{
    return target < 0 || w->dirty[i] == target;
}

/* All of these are known, and this process is inside of an access. */
static void enter_all(struct ft_win *w, int target)
{
    for (;;) {
        int unknown = 0;
        for (int i = 0; i < w->ndirty; i++)
            if (is_meant(w, i, target))
                (void)ft_winpart_lookup(w,
                                        w->dirty[i]); /* of a rank that is being recovered: waits */
        for (int i = 0; i < w->ndirty; i++)
            unknown |= is_meant(w, i, target) && !w->part[w->dirty[i]].known;
        if (!unknown && ft_enter_access())
            return;
        ft_leave_access();
        ft_attend();
    }
}

/* Returns how many there are. */
static int ask_stamps(struct ft_win *w, int target)
{
    int n = 0;
    for (int i = 0; i < w->ndirty; i++) {
        int slot = is_meant(w, i, target) ? far_slot(w, w->dirty[i]) : -1;
        struct ft_far_told *told = &w->part[w->dirty[i]].told;
        if (slot < 0)
            continue;
        *told = (struct ft_far_told){0, 1}; /* its node may be out: then all go back */
        submit_to(slot, &(struct far_request){.op = {.kind = FT_FAR_STAMP}, .told = told});
        n++;
    }
    return n;
}

static void stamp_all(struct ft_win *w, int target)
{
    int left = 0;
    for (int i = 0; i < w->ndirty; i++) {
        int t = w->dirty[i];
        struct ft_winpart *p = &w->part[t];
        if (!is_meant(w, i, target) || far_slot(w, t) < 0) {
            w->dirty[left++] = t;
            continue;
        }
        _Atomic uint64_t before = p->told.stamp - 1;
        ft_putlog_stamp(w->ctx.world[t], (uint32_t)w->id, &before);
        p->dirty = 0;
    }
    w->ndirty = left;
}

void ft_far_stamp(struct ft_win *w, int target)
{
    int far = 0;
    for (int i = 0; i < w->ndirty; i++)
        far |= is_meant(w, i, target) && far_slot(w, w->dirty[i]) >= 0;
    if (!far)
        return;
    enter_all(w, target);
    uint64_t first = asked.to;
    ask_stamps(w, target);
    await(first, -1);
    stamp_all(w, target);
    ft_leave_access();
}

void ft_far_stamp_at_cut(struct ft_win *w)
{
    if (ask_stamps(w, -1) == 0)
        return;
    await_answers(asked.from, -1); /* of a node that is out: all go back */
    stamp_all(w, -1);
}

/* ---- what other nodes' processes have in their arenas ---- */

static int read_there(int slot, struct ft_far_op op, void *to, uint64_t len)
{
    uint64_t first = asked.to;
    for (uint64_t n, end = op.off + len; op.off < end; op.off += n, to = (char *)to + n) {
        n = op.len = ft_min_u64(end - op.off, FT_FAR_PIECE);
        submit_to(slot, &(struct far_request){.op = op, .to = to});
    }
    await_answers(first, -1);
    int there = !asked.dead && asked.failed == FT_OK;
    asked.dead = 0;
    asked.failed = FT_OK;
    return there;
}

int ft_far_read(int slot, uint64_t off, void *to, uint64_t len)
{
    return read_there(slot, (struct ft_far_op){.kind = FT_FAR_READ, .off = off}, to, len);
}

int ft_far_read_home(int slot, int rank, uint64_t off, void *to, uint64_t len)
{
    return read_there(slot, (struct ft_far_op){.kind = FT_FAR_HOME, .rank = rank, .off = off}, to,
                      len);
}

void ft_far_tell_count(int rank, uint64_t count)
{
    if (!ft_rma_logs())
        return;
    submit_to(ft_rma_slots[rank],
              &(struct far_request){.op = {.kind = FT_FAR_COUNT, .rank = ft_rma_me, .off = count}});
}

static const struct ft_far_ring *ring_of(const struct ft_arena *own)
{
    uint64_t off = atomic_load_explicit(&own->ctl->far_ring, memory_order_acquire);
    return off ? ft_arena_ptr(own, off) : NULL;
}

int ft_far_lost(const struct ft_arena *own)
{
    const struct ft_far_ring *r = ring_of(own);
    return r && atomic_load_explicit(&r->lost, memory_order_acquire) >
                    atomic_load_explicit(&r->settled, memory_order_acquire);
}

int ft_far_unanswered(const struct ft_arena *own, int back)
{
    const struct ft_far_ring *r = ring_of(own);
    uint64_t to = r ? atomic_load_explicit(&r->submitted, memory_order_acquire) : 0;
    for (uint64_t n = to > FT_FAR_ENTRIES ? to - FT_FAR_ENTRIES : 0; n != to; n++)
        if (atomic_load_explicit(&r->entry[n % FT_FAR_ENTRIES].done, memory_order_acquire) <= n)
            return 1;
    return !back && ft_far_lost(own);
}
