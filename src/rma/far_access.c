/* SPDX-License-Identifier: BSD-3-Clause
 *
 * far_access.c - submits accesses to processes of other nodes, and takes the answers.
 */
#include "rma/far_access.h"

#include <string.h>

#include "base/near.h"
#include "rma/far_ring.h"

/* An entry that was submitted. */
struct open_access {
    void *to; /* where its result belongs; NULL: nowhere */
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
    int dead;              /* an access met a process that is no more */
    struct open_access open[FT_FAR_ENTRIES];
};
static FT_STATE(struct far_asked, asked);
#define asked FT_MY(asked)

/* The lock words of every part on another node: always taken. */
static FT_STATE(struct ft_win_locks, taken_words) = {.crit = UINT64_MAX, .excl = UINT64_MAX};
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
    if (!asked.ring)
        make_ring();
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

static void take_answer(uint64_t n)
{
    struct ft_far_entry *e = entry(n);
    struct open_access *o = open_of(n);
    if (o->taken || !atomic_load_explicit(&e->done, memory_order_acquire))
        return;
    o->taken = 1;
    if (e->status == FT_ERR_DEAD) {
        asked.dead = 1;
    } else if (e->status != FT_OK) {
        FT_ASSERT(e->op.flags & FT_FAR_DYNAMIC || e->op.kind == FT_FAR_LOCK);
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
    for (uint64_t n = asked.from; left && n != asked.to; n++)
        open_of(n)->to = NULL;
    await_answers(asked.from, -1);
    asked.dead = 0;
    asked.failed = FT_OK;
}

/* All from entry `first` on is answered. Returns what failed. */
static enum ft_status settle(uint64_t first)
{
    await(first, -1);
    enum ft_status st = asked.failed;
    asked.failed = FT_OK;
    return st;
}

/* ---- asking ---- */

/* A place in the stage, as a number that only grows. No data wraps around. */
static uint64_t place_for(uint64_t bytes)
{
    uint64_t at = asked.stage_to;
    return at % FT_FAR_STAGE + bytes > FT_FAR_STAGE ? ft_align_up(at, FT_FAR_STAGE) : at;
}

static uint64_t room_for(uint64_t bytes)
{
    struct ft_waiter wait = {.deaf = 1};
    take_answers();
    while (asked.to - asked.from == FT_FAR_ENTRIES ||
           place_for(bytes) + bytes - asked.stage_from > FT_FAR_STAGE) {
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

/* Nothing of what goes to windows of other nodes is in logs yet: neither can this rank be run again
 * alone, nor one of the others. */
static void not_logged(void)
{
    ft_homelog_incomplete(FT_UNKEPT_NODES);
    ft_putlog_stop(FT_UNKEPT_NODES);
}

/* to: where op->len bytes of the result belong; NULL: nowhere. The target is dirty until the next
 * ft_far_await. */
static void submit(struct ft_win *w, int target, struct ft_far_op op, struct operand a,
                   struct operand b, void *to)
{
    struct ft_winpart *p = &w->part[target];
    uint64_t bytes = ft_align_up(ft_max_u64(a.bytes + b.bytes, to ? op.len : 0), FT_CACHE_LINE);
    FT_ASSERT(p->far && bytes <= FT_FAR_PIECE);
    if (ft_putlog_on || ft_homelog_logs())
        not_logged();
    uint64_t at = room_for(bytes);
    struct ft_far_entry *e = entry(asked.to);
    op.win = w->id;
    if (!(op.flags & FT_FAR_BLOCKS))
        op.rank = w->ctx.rank;
    if (w->dynamic)
        op.flags |= FT_FAR_DYNAMIC;
    if (to)
        op.flags |= FT_FAR_RESULT;
    if (ft_rma_outside)
        op.flags |= FT_FAR_OUTSIDE;
    e->op = op;
    e->slot = p->slot;
    e->bytes = (uint32_t)(a.bytes + b.bytes);
    e->at = at % FT_FAR_STAGE;
    gather(asked.ring->stage + e->at, &a);
    gather(asked.ring->stage + e->at + a.bytes, &b);
    atomic_store_explicit(&e->done, 0, memory_order_relaxed);
    asked.stage_to = at + bytes;
    *open_of(asked.to) =
        (struct open_access){.to = to, .len = (uint32_t)op.len, .stage_end = asked.stage_to};
    atomic_store_explicit(&asked.ring->submitted, ++asked.to, memory_order_release);
    if (!p->dirty) {
        ft_mark_dirty(w, p, target);
        w->nfar++;
    }
    ft_transport->ops->ring(ft_transport, p->slot);
}

void ft_rma_cut_far(void)
{
    for (const struct ft_win *w = asked.ring && ft_putlog_on ? ft_windows : NULL; w; w = w->next)
        for (int t = 0; t < w->ctx.size; t++)
            if (w->part[t].far && w->part[t].held != FT_HELD_NONE) {
                not_logged();
                return;
            }
}

#define NOTHING ((struct operand){NULL, 0, 0, 0})

/* ft_win_create_dynamic's windows tell only there what is attached: the call waits for the answer,
 * since an error is raised by the call. */
static enum ft_status answer_of(const struct ft_win *w, uint64_t first)
{
    return w->dynamic ? settle(first) : FT_OK;
}

enum ft_status ft_far_put(struct ft_win *w, int target, size_t off, const void *buf, size_t len)
{
    uint64_t first = asked.to;
    for (size_t at = 0, n; at < len; at += n) {
        n = ft_min_u64(len - at, FT_FAR_PIECE);
        submit(w, target, (struct ft_far_op){.kind = FT_FAR_PUT, .off = off + at, .len = n},
               (struct operand){.data = (const char *)buf + at, .bytes = n}, NOTHING, NULL);
    }
    return answer_of(w, first);
}

enum ft_status ft_far_get(struct ft_win *w, int target, size_t off, void *buf, size_t len)
{
    uint64_t first = asked.to;
    for (size_t at = 0, n; at < len; at += n) {
        n = ft_min_u64(len - at, FT_FAR_PIECE);
        submit(w, target, (struct ft_far_op){.kind = FT_FAR_GET, .off = off + at, .len = n},
               NOTHING, NOTHING, (char *)buf + at);
    }
    return answer_of(w, first);
}

static struct ft_winpart *enter(struct ft_win *w, int target)
{
    for (;;) {
        struct ft_winpart *p = ft_winpart_for_access(w, target);
        if (FT_LIKELY(ft_enter_access()))
            return p;
        ft_leave_access();
        ft_attend();
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
        struct ft_far_op op = {.kind = is_put ? FT_FAR_PUT : FT_FAR_GET,
                               .flags = FT_FAR_BLOCKS,
                               .rank = (int32_t)b->len,
                               .off = off + (size_t)((ptrdiff_t)i * b->there),
                               .len = n * b->len};
        struct operand o = {.data = first, .bytes = n * b->len, .block = b->len, .stride = b->here};
        submit(w, target, op, (struct operand){.data = &stride, .bytes = sizeof stride},
               is_put ? o : NOTHING, is_put ? NULL : first);
        struct open_access *last = open_of(asked.to - 1);
        last->block = (uint32_t)b->len;
        last->stride = b->here;
    }
}

int ft_far_blocks(struct ft_win *w, int target, size_t off, void *here, const struct ft_spaced *b,
                  int is_put)
{
    const struct ft_winpart *p = ft_winpart_for_access(w, target);
    ptrdiff_t last = (ptrdiff_t)(b->n - 1) * b->there;
    size_t low = last < 0 ? off + (size_t)last : off, span = (size_t)(last < 0 ? -last : last);
    if (!p->far || w->dynamic || b->n < 2 || b->len > FT_FAR_PIECE / 4 || low > off ||
        ft_outside(p, low, span + b->len))
        return 0;
    p = enter(w, target);
    ft_note_access(w, &w->part[target], target);
    submit_blocks(w, target, off, here, b, is_put);
    ft_leave_access();
    return 1;
}

/* The operation is one of this process's program, so it is applied here: the section at the target
 * is held over the way. */
static enum ft_status combine(struct ft_win *w, int target, struct ft_far_op op, const void *origin,
                              size_t count, void *result, const struct ft_reducer *reducer)
{
    _Alignas(64) char now[FT_FAR_PIECE];
    uint64_t first = asked.to;
    op.kind = FT_FAR_ENTER;
    submit(w, target, op, NOTHING, NOTHING, now);
    enum ft_status st = settle(first);
    if (st != FT_OK) /* the section was not entered */
        return st;
    if (result)
        memcpy(result, now, op.len);
    reducer->apply(reducer->arg, origin, now, count);
    op.kind = FT_FAR_COMMIT;
    first = asked.to;
    submit(w, target, op, (struct operand){.data = now, .bytes = op.len}, NOTHING, NULL);
    return answer_of(w, first);
}

enum ft_status ft_far_accumulate(struct ft_win *w, int target, size_t off, const void *origin,
                                 void *result, size_t count, size_t esize,
                                 const struct ft_reducer *op)
{
    struct ft_winpart *p = enter(w, target);
    uint64_t first = asked.to;
    enum ft_status st = ft_outside(p, off, count * esize) ? FT_ERR_RANGE : FT_OK;
    ft_note_access(w, p, target);
    for (size_t i = 0, n; i < count && st == FT_OK; i += n) {
        n = ft_min_u64(count - i, FT_FAR_PIECE / esize);
        struct ft_far_op piece = {.kind = FT_FAR_SWAP, .off = off + i * esize, .len = n * esize};
        const char *from = origin ? (const char *)origin + i * esize : NULL;
        char *to = result ? (char *)result + i * esize : NULL;
        if (from && op && op->fold) {
            piece.how = (uint8_t)op->fold;
            piece.esize = (uint8_t)op->kind;
        }
        if (from && op && op->apply && !op->fold)
            st = combine(w, target, piece, from, n, to, op);
        else
            submit(w, target, piece, (struct operand){.data = from, .bytes = from ? piece.len : 0},
                   NOTHING, to);
    }
    if (st == FT_OK && (result || w->dynamic))
        st = settle(first);
    ft_leave_access();
    ft_polled(!origin);
    return st;
}

enum ft_status ft_far_fetch_word(struct ft_win *w, int target, size_t off, enum ft_fetch_kind kind,
                                 size_t esize, const void *operand, const void *compare,
                                 void *result)
{
    struct ft_winpart *p = enter(w, target);
    uint64_t first = asked.to;
    enum ft_status st = ft_outside(p, off, esize) ? FT_ERR_RANGE : FT_OK;
    ft_note_access(w, p, target);
    if (st == FT_OK) {
        submit(w, target,
               (struct ft_far_op){.kind = FT_FAR_WORD,
                                  .how = (uint8_t)kind,
                                  .esize = (uint8_t)esize,
                                  .off = off,
                                  .len = esize},
               (struct operand){.data = operand, .bytes = kind == FT_FETCH_NOOP ? 0 : esize},
               (struct operand){.data = compare, .bytes = kind == FT_FETCH_CAS ? esize : 0},
               result);
        st = answer_of(w, first);
    }
    ft_leave_access();
    ft_polled(kind == FT_FETCH_NOOP || kind == FT_FETCH_CAS);
    return st;
}

int ft_far_lock(struct ft_win *w, int target, int exclusive)
{
    uint64_t first = asked.to;
    submit(w, target, (struct ft_far_op){.kind = FT_FAR_LOCK, .how = (uint8_t)(exclusive != 0)},
           NOTHING, NOTHING, NULL);
    return settle(first) == FT_OK;
}

void ft_far_unlock(struct ft_win *w, int target)
{
    int exclusive = w->part[target].held == FT_HELD_EXCL;
    submit(w, target, (struct ft_far_op){.kind = FT_FAR_UNLOCK, .how = (uint8_t)exclusive}, NOTHING,
           NOTHING, NULL);
}

void ft_far_await(struct ft_win *w, int target)
{
    int left = 0;
    for (int i = 0; i < w->ndirty; i++) {
        int t = w->dirty[i];
        if (!w->part[t].far || (target >= 0 && t != target)) {
            w->dirty[left++] = t;
            continue;
        }
        await(asked.from, w->part[t].slot);
        w->part[t].dirty = 0;
        w->nfar--;
    }
    w->ndirty = left;
}
