/* SPDX-License-Identifier: BSD-3-Clause
 *
 * accesses.c - carries one-sided accesses between nodes, and applies those to this node's
 * processes.
 */
#include "gate/accesses.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/failpoint.h"
#include "base/homelogs.h"
#include "gate/lock_words.h"
#include "rma/attached.h"
#include "rma/far_ring.h"
#include "rma/rma.h"

#define STRETCH (2ull << 20)    /* mirrored memory is mapped by multiples of it */
#define PATIENCE_NS 2000000     /* a lock that is not granted is asked for again after this time */
#define BY_GATEWAY (1ull << 32) /* in the critical section for one access: no slot's number */

/* An access that cannot be applied yet. */
struct waiting {
    struct waiting *next;
    struct ft_item item;
    uint64_t since_ns;
    char data[];
};

/* A piece of an arena's file that is mapped: [begin, end). */
struct mapped_piece {
    uint64_t begin, end;
    char *at;
};

struct party {
    /* of this node */
    char *base; /* of its arena; NULL: not mapped yet */
    struct ft_far_ring *ring;
    uint64_t taken; /* entries of the ring */
    struct mapped_piece *mapped;
    int nmapped, window; /* window: the entry found last */
    int forgotten;       /* its arena was given back */
    /* of another node */
    struct waiting *first, *last;
};

struct ft_access {
    struct ft_access_config cfg;
    uint64_t now_ns;
    int nwaiting; /* processes with accesses that wait */
    int homelogs; /* the file of this node's home logs; -1: it was not needed yet */
    int stopped;
    char why[200];
    struct party of[]; /* [nslots] */
};

/* An item, taken apart. */
struct asked_for {
    int from, to;
    uint64_t number;
    uint64_t calls, stamp; /* for the answer */
    uint64_t came_ns;      /* of a timed one */
    struct ft_far_op op;
    const char *data;
    uint32_t bytes;
};

/* What became of an access. */
enum access_end { ANSWERED, LATER, WRONG };

__attribute__((format(printf, 2, 3))) static void stop(struct ft_access *a, const char *fmt, ...)
{
    va_list ap;
    if (a->stopped)
        return;
    a->stopped = 1;
    va_start(ap, fmt);
    vsnprintf(a->why, sizeof a->why, fmt, ap);
    va_end(ap);
}

const char *ft_access_why(const struct ft_access *a) { return a->stopped ? a->why : NULL; }

struct ft_access *ft_access_open(const struct ft_access_config *cfg)
{
    struct ft_access *a = calloc(1, sizeof *a + (size_t)cfg->board->nslots * sizeof a->of[0]);
    if (a) {
        a->cfg = *cfg;
        a->homelogs = -1;
    }
    return a;
}

void ft_access_forget(struct ft_access *a, int near)
{
    struct party *p = &a->of[near];
    for (int k = 0; k < p->nmapped; k++)
        a->cfg.tp->ops->unmap(a->cfg.tp, near, p->mapped[k].begin, p->mapped[k].at,
                              p->mapped[k].end - p->mapped[k].begin);
    free(p->mapped);
    *p = (struct party){.first = p->first, .last = p->last, .taken = p->taken, .forgotten = 1};
}

void ft_access_close(struct ft_access *a)
{
    for (int i = 0; a && i < a->cfg.board->nslots; i++) {
        struct party *p = &a->of[i];
        ft_access_forget(a, i);
        for (struct waiting *w = p->first, *next; w; w = next) {
            next = w->next;
            free(w);
        }
    }
    if (a && a->homelogs >= 0)
        ft_fd_close(a->homelogs);
    free(a);
}

static struct ft_ctl *ctl_of(struct ft_access *a, int slot)
{
    struct party *p = &a->of[slot];
    if (!p->base)
        p->base = a->cfg.tp->ops->map(a->cfg.tp, slot, 0, a->cfg.arena_bytes, FT_TP_WINDOW);
    return (struct ft_ctl *)(void *)p->base;
}

/* ---- the origin's node ---- */

static struct ft_item item_of(int from, uint64_t number, const struct ft_far_entry *e)
{
    return (struct ft_item){.kind = FT_ITEM_ACCESS,
                            .from = from,
                            .to = e->slot,
                            .bytes = e->bytes,
                            .number = number,
                            .at = e->op.kind | (uint64_t)e->op.how << 8 |
                                  (uint64_t)e->op.flags << 16 | (uint64_t)e->op.esize << 24 |
                                  (uint64_t)(uint32_t)e->op.rank << 32,
                            .of = {e->op.win, e->op.off, e->op.len}};
}

static int in_stage(const struct ft_far_entry *e, uint64_t bytes)
{
    return bytes <= FT_FAR_PIECE && e->at <= FT_FAR_STAGE - bytes;
}

/* To the entry of this number. */
static void give_answer(struct ft_access *a, int near, uint64_t number, enum ft_status st)
{
    struct ft_far_entry *e = &a->of[near].ring->entry[number % FT_FAR_ENTRIES];
    e->status = (int32_t)st;
    atomic_store_explicit(&e->done, number + 1, memory_order_release);
    atomic_thread_fence(memory_order_seq_cst); /* before it looks whether main sleeps */
    ft_tp_shm_ring_ctl(ctl_of(a, near));
}

/* The target's node is out. */
static void give_none(struct ft_access *a, int near, uint64_t number)
{
    struct ft_far_ring *r = a->of[near].ring;
    int kind = r->entry[number % FT_FAR_ENTRIES].op.kind;
    if (kind != FT_FAR_READ && kind != FT_FAR_HOME)
        atomic_store(&r->lost, ft_max_u64(atomic_load(&r->lost), number + 1));
    give_answer(a, near, number, FT_ERR_DEAD);
}

int ft_access_take(struct ft_access *a, int near)
{
    struct party *p = &a->of[near];
    const struct ft_ctl *ctl = ctl_of(a, near);
    uint64_t off = ctl ? atomic_load_explicit(&ctl->far_ring, memory_order_acquire) : 0;
    if (!off)
        return 1;
    p->ring = (struct ft_far_ring *)(void *)(p->base + off);
    uint64_t to = atomic_load_explicit(&p->ring->submitted, memory_order_acquire);
    for (; p->taken != to; p->taken++) {
        struct ft_far_entry *e = &p->ring->entry[p->taken % FT_FAR_ENTRIES];
        struct ft_item item = item_of(near, p->taken, e);
        if (!in_stage(e, item.bytes) || item.to < 0 || item.to >= a->cfg.board->nslots ||
            e->lo_at % 8 || e->lo_at > a->cfg.arena_bytes - 8) {
            stop(a, "the accesses of process %d are damaged", near);
            return 1;
        }
        if (a->cfg.out(a->cfg.gate, item.to)) {
            give_none(a, near, p->taken);
            continue;
        }
        if (a->cfg.full(a->cfg.gate, item.to))
            return 0;
        if (e->op.flags & FT_FAR_TIMED)
            e->times.taken = ft_now_ns();
        a->cfg.send(a->cfg.gate, item.to, &item, p->ring->stage + e->at);
        ft_failpoint(GATE_ACCESS_TAKEN);
    }
    return 1;
}

int ft_access_answered(struct ft_access *a, const struct ft_item *item, const void *data)
{
    struct party *p = &a->of[item->from];
    if (p->forgotten)
        return 1;
    if (!p->ring || p->taken - item->number - 1 >= FT_FAR_ENTRIES)
        return 0;
    struct ft_far_entry *e = &p->ring->entry[item->number % FT_FAR_ENTRIES];
    if (e->slot != item->to || !in_stage(e, item->bytes))
        return 0;
    if (item->bytes)
        memcpy(p->ring->stage + e->at, data, item->bytes);
    e->calls = item->of[0];
    e->stamp = item->of[1];
    if (e->op.flags & FT_FAR_TIMED) {
        e->times.held = item->of[2];
        e->times.answered = ft_now_ns();
    }
    if (e->lo_at) /* nobody reads the record's lo before the access is done */
        memcpy(p->base + e->lo_at, &e->calls, sizeof e->calls);
    ft_failpoint(GATE_ANSWERED);
    give_answer(a, item->from, item->number, (enum ft_status)item->at);
    return 1;
}

/* What was sent to these slots and not answered. */
static void answer_dead(struct ft_access *a, int near, int from, int end)
{
    const struct party *p = &a->of[near];
    uint64_t first = p->taken > FT_FAR_ENTRIES ? p->taken - FT_FAR_ENTRIES : 0;
    for (uint64_t n = first; p->ring && n != p->taken; n++) {
        const struct ft_far_entry *e = &p->ring->entry[n % FT_FAR_ENTRIES];
        if (e->slot >= from && e->slot < end &&
            atomic_load_explicit(&e->done, memory_order_acquire) <= n)
            give_none(a, near, n);
    }
}

void ft_access_closed(struct ft_access *a, int far)
{
    struct party *p = &a->of[far];
    if (!p->first)
        return;
    for (struct waiting *w = p->first, *next; w; w = next) {
        next = w->next;
        free(w);
    }
    p->first = p->last = NULL;
    a->nwaiting--;
}

void ft_access_out(struct ft_access *a, int from, int end)
{
    for (int i = from; i < end; i++)
        ft_access_closed(a, i);
    for (int i = 0; i < a->cfg.board->nslots; i++)
        answer_dead(a, i, from, end);
}

/* ---- the target's node ---- */

static void answer(struct ft_access *a, const struct asked_for *x, enum ft_status st,
                   const void *result, uint64_t bytes)
{
    struct ft_item item = {.kind = FT_ITEM_ANSWER,
                           .from = x->from,
                           .to = x->to,
                           .number = x->number,
                           .at = (uint64_t)st,
                           .bytes = (uint32_t)bytes,
                           .of = {x->calls, x->stamp, x->came_ns ? ft_now_ns() - x->came_ns : 0}};
    a->cfg.send(a->cfg.gate, x->from, &item, result);
}

static struct ft_win_entry *window_of(struct ft_access *a, int slot, uint64_t id)
{
    struct ft_ctl *ctl = ctl_of(a, slot);
    int *i = &a->of[slot].window;
    if (!ctl || !atomic_load_explicit(&ctl->live, memory_order_acquire))
        return NULL;
    for (int k = 0; k < FT_MAX_WINDOWS; k++, *i = (*i + 1) % FT_MAX_WINDOWS)
        if (atomic_load_explicit(&ctl->win[*i].id, memory_order_acquire) == id)
            return &ctl->win[*i];
    return NULL;
}

/* Where [off, off + len) of slot's file is mapped here. It lies in [begin, end), of which more will
 * be wanted. A mapping never becomes wrong: what is shared lies where its address says. NULL: it
 * cannot be mapped. */
static char *address(struct ft_access *a, int slot, uint64_t off, uint64_t len, uint64_t begin,
                     uint64_t end)
{
    struct party *p = &a->of[slot];
    if (off < FT_MIRROR)
        return off + len <= a->cfg.arena_bytes && ctl_of(a, slot) ? p->base + off : NULL;
    for (int k = p->nmapped - 1; k >= 0; k--)
        if (off >= p->mapped[k].begin && off + len <= p->mapped[k].end)
            return p->mapped[k].at + (off - p->mapped[k].begin);
    struct mapped_piece m = {.begin = begin & ~(STRETCH - 1), .end = ft_align_up(end, STRETCH)};
    m.at = a->cfg.tp->ops->map(a->cfg.tp, slot, m.begin, m.end - m.begin, FT_TP_WINDOW);
    struct mapped_piece *more =
        m.at ? reallocarray(p->mapped, (size_t)p->nmapped + 1, sizeof *more) : NULL;
    if (!more) {
        stop(a, "it cannot map the windows of process %d", slot);
        return NULL;
    }
    p->mapped = more;
    p->mapped[p->nmapped++] = m;
    return m.at + (off - m.begin);
}

/* A part, and the place in it that an access is for. at NULL: the place is outside. */
struct place {
    struct ft_win_locks *locks;
    char *at;
};

/* 0: the table is being changed. */
static int attached_at(struct ft_access *a, const struct asked_for *x, struct place *p)
{
    const struct ft_attached_head *h = &p->locks->attached;
    struct ft_attached_found f;
    uint64_t v = atomic_load_explicit(&h->version, memory_order_acquire),
             table = ft_attached_get(&h->table), n = ft_attached_get(&h->n);
    atomic_thread_fence(memory_order_acquire);
    if ((v & 1) || ft_attached_get(&h->version) != v)
        return 0;
    ft_attached_around((const struct ft_attached *)(void *)(a->of[x->to].base + table), n,
                       x->op.off, x->op.off + x->op.len, &f);
    atomic_thread_fence(memory_order_acquire);
    if (ft_attached_get(&h->version) != v)
        return 0;
    p->at = n && ft_attached_has(&f, x->op.off, x->op.len)
                ? address(a, x->to, f.off + (x->op.off - f.begin), x->op.len, f.off,
                          f.off + (f.end - f.begin))
                : NULL;
    return 1;
}

/* Of an access of blocks: their number, their distance, and where the lowest begins. */
struct far_blocks {
    uint64_t n, bytes, low, span;
    int64_t stride;
};

/* 0: it is none, or not a sound one. */
static int read_blocks(const struct asked_for *x, struct far_blocks *b)
{
    b->bytes = (uint32_t)x->op.rank;
    if (!(x->op.flags & FT_FAR_BLOCKS) || x->bytes < sizeof b->stride || b->bytes == 0 ||
        x->op.len == 0 || x->op.len % b->bytes)
        return 0;
    memcpy(&b->stride, x->data, sizeof b->stride);
    b->n = x->op.len / b->bytes;
    int64_t last;
    if (__builtin_mul_overflow((int64_t)b->n - 1, b->stride, &last) || last == INT64_MIN)
        return 0;
    b->low = last < 0 ? x->op.off + (uint64_t)last : x->op.off;
    b->span = (uint64_t)(last < 0 ? -last : last) + b->bytes;
    return b->low <= x->op.off;
}

/* 0: the window is not there yet, or changes. */
static int find_place(struct ft_access *a, const struct asked_for *x, struct place *p)
{
    const struct ft_win_entry *e = window_of(a, x->to, x->op.win);
    if (!e)
        return 0;
    p->locks = (struct ft_win_locks *)(void *)(a->of[x->to].base + e->locks);
    p->at = NULL;
    if (x->op.kind == FT_FAR_LOCK || x->op.kind == FT_FAR_UNLOCK)
        return 1;
    if (x->op.flags & FT_FAR_DYNAMIC)
        return attached_at(a, x, p);
    struct far_blocks b;
    uint64_t low = x->op.off, span = x->op.len;
    if (read_blocks(x, &b))
        low = b.low, span = b.span;
    if (low > e->bytes || span > e->bytes - low)
        return 1;
    uint64_t base = e->home ? e->segment : e->base;
    p->at = address(a, e->home ? e->home - 1 : x->to, base + low, span, base, base + e->bytes);
    if (p->at)
        p->at += x->op.off - low;
    return 1;
}

static int take_section(struct ft_win_locks *l, uint64_t who)
{
    uint64_t free = 0;
    return atomic_load_explicit(&l->crit, memory_order_relaxed) == 0 &&
           atomic_compare_exchange_strong_explicit(&l->crit, &free, who, memory_order_acquire,
                                                   memory_order_relaxed);
}

static void leave_section(struct ft_win_locks *l)
{
    atomic_store_explicit(&l->crit, 0, memory_order_release);
}

/* One store for a word: others may look at it at any time. */
static void copy_word(void *to, const void *from, size_t n)
{
    if (n == 8)
        memcpy(to, from, 8);
    else if (n == 4)
        memcpy(to, from, 4);
    else
        memcpy(to, from, n);
}

static void apply_word(const struct asked_for *x, char *at, char *old)
{
    size_t n = x->op.esize;
    copy_word(old, at, n);
    switch (x->op.how) {
    case FT_FETCH_ADD:
        if (n == 8) {
            uint64_t v, add;
            memcpy(&v, old, 8);
            memcpy(&add, x->data, 8);
            v += add;
            memcpy(at, &v, 8);
        } else {
            uint32_t v, add;
            memcpy(&v, old, 4);
            memcpy(&add, x->data, 4);
            v += add;
            memcpy(at, &v, 4);
        }
        break;
    case FT_FETCH_CAS:
        if (memcmp(old, x->data + n, n) == 0)
            copy_word(at, x->data, n);
        break;
    case FT_FETCH_REPLACE: copy_word(at, x->data, n); break;
    default: break;
    }
}

/* An access inside the critical section, in one message. */
static enum access_end apply_inside(struct ft_access *a, const struct asked_for *x,
                                    const struct place *p)
{
    uint64_t result = x->op.flags & FT_FAR_RESULT ? x->op.len : 0;
    char old[16];
    if (!take_section(p->locks, BY_GATEWAY))
        return LATER;
    ft_failpoint(GATE_ACCESS_INSIDE);
    if (x->op.kind == FT_FAR_WORD) {
        apply_word(x, p->at, old);
        answer(a, x, FT_OK, old, result);
    } else {
        answer(a, x, FT_OK, p->at, result);
        ft_fold_fn *fold = ft_fold((enum ft_fold_op)x->op.how, (enum ft_kind)x->op.esize);
        if (fold)
            fold(NULL, x->data, p->at, x->op.len / ft_kind_bytes((enum ft_kind)x->op.esize));
        else if (x->bytes)
            memcpy(p->at, x->data, x->bytes);
    }
    leave_section(p->locks);
    return ANSWERED;
}

static enum access_end apply_lock(struct ft_access *a, const struct asked_for *x,
                                  struct ft_win_locks *l, uint64_t since_ns)
{
    uint32_t rank = (uint32_t)x->op.rank;
    int long_ago = a->now_ns - since_ns >= PATIENCE_NS;
    if (rank >= l->nshared)
        return WRONG;
    if (x->op.kind == FT_FAR_UNLOCK)
        ft_lock_words_free(l, rank, x->op.how);
    else if (!ft_lock_words_try(l, rank, x->op.how, long_ago)) {
        if (!long_ago)
            return LATER;
        answer(a, x, FT_ERR_AGAIN, NULL, 0);
        return ANSWERED;
    }
    if (x->op.kind == FT_FAR_LOCK)
        ft_failpoint(GATE_LOCK);
    answer(a, x, FT_OK, NULL, 0);
    return ANSWERED;
}

/* Words that the asking process does not hold any more, or never held: its lost carrier may have
 * been granted a lock that it could not note. */
static void free_left(struct ft_access *a, const struct asked_for *x)
{
    for (uint32_t at = 0; at < x->bytes; at += (uint32_t)sizeof(struct ft_far_held)) {
        struct ft_far_held h;
        memcpy(&h, x->data + at, sizeof h);
        const struct ft_win_entry *e = window_of(a, x->to, h.win);
        struct ft_win_locks *l =
            e ? (struct ft_win_locks *)(void *)(a->of[x->to].base + e->locks) : NULL;
        if (!l || h.rank >= l->nshared)
            continue;
        uint64_t me = (uint64_t)h.rank + 1;
        atomic_compare_exchange_strong(&l->claimant, &me, 0);
        if (h.held != FT_HELD_EXCL)
            ft_lock_words_free(l, h.rank, 1);
        if (h.held != FT_HELD_SHARED)
            ft_lock_words_free(l, h.rank, 0);
    }
}

/* The window was freed since. All had released their locks by then, and it is a replacement that
 * repeats a release. [It waits for ever for a window that nobody makes.] */
static int releases_what_is_gone(struct ft_access *a, const struct asked_for *x)
{
    return x->op.kind == FT_FAR_UNLOCK && /* live before it is looked for: then it has all of its */
           atomic_load_explicit(&ctl_of(a, x->to)->live, memory_order_acquire) &&
           !window_of(a, x->to, x->op.win);
}

static uint64_t take_stamp(struct ft_ctl *ctl) { return 1 + atomic_fetch_add(&ctl->stamp, 1); }

static void apply_blocks(struct ft_access *a, const struct asked_for *x, char *at)
{
    char got[FT_FAR_PIECE];
    struct far_blocks b;
    int sound = read_blocks(x, &b); /* it was already */
    const char *from = x->data + sizeof b.stride;
    FT_ASSERT(sound);
    for (uint64_t i = 0; i < x->op.len; i += b.bytes, at += b.stride)
        if (x->op.kind == FT_FAR_PUT)
            copy_word(at, from + i, b.bytes);
        else
            copy_word(got + i, at, b.bytes);
    answer(a, x, FT_OK, got, x->op.kind == FT_FAR_PUT ? 0 : x->op.len);
}

/* A part of a rank's home log. Its carrier has ended: nobody writes there. What was never written
 * is zero. */
static void answer_home(struct ft_access *a, const struct asked_for *x)
{
    char part[FT_FAR_PIECE];
    uint64_t from = (uint64_t)x->op.rank * FT_HOMELOG_SPAN + x->op.off, got = 0;
    ssize_t n = 1;
    if (a->homelogs < 0)
        a->homelogs = ft_homelogs_open(a->cfg.board, O_RDONLY);
    memset(part, 0, x->op.len);
    for (; n > 0 && got < x->op.len; got += (uint64_t)n)
        n = pread(a->homelogs, part + got, x->op.len - got, (off_t)(from + got));
    answer(a, x, n < 0 ? FT_ERR_SYS : FT_OK, part, n < 0 ? 0 : x->op.len);
}

/* Those that are no accesses to a window. 0: it is one. */
static int apply_to_process(struct ft_access *a, struct asked_for *x)
{
    struct ft_ctl *ctl = ctl_of(a, x->to);
    const void *result = NULL;
    uint64_t bytes = 0;
    switch (x->op.kind) {
    case FT_FAR_STAMP: x->stamp = take_stamp(ctl); break;
    case FT_FAR_READ:
        bytes = x->op.len;
        result = (const char *)ctl + x->op.off;
        break;
    case FT_FAR_COUNT:
        atomic_store_explicit(&ctl->peer[x->op.rank].acc, x->op.off, memory_order_release);
        break;
    case FT_FAR_FREE: free_left(a, x); break;
    default: return 0;
    }
    answer(a, x, FT_OK, result, bytes);
    return 1;
}

static enum access_end commit(struct ft_access *a, const struct asked_for *x, const struct place *p)
{
    struct ft_far_commit c;
    struct ft_ctl *ctl = ctl_of(a, x->to);
    if (atomic_load_explicit(&p->locks->crit, memory_order_relaxed) != (uint64_t)x->from + 1)
        return WRONG;
    memcpy(&c, x->data, sizeof c);
    if (x->op.len && p->at)
        ft_hole_copy(p->at, x->data + sizeof c, x->op.len, c.hole);
    if (c.count) /* L4 */
        atomic_store_explicit(&ctl->peer[c.rank].acc, c.count, memory_order_release);
    leave_section(p->locks);
    answer(a, x, FT_OK, NULL, 0);
    return ANSWERED;
}

static enum access_end apply_to(struct ft_access *a, struct asked_for *x, uint64_t since_ns)
{
    struct place p;
    uint64_t who = (uint64_t)x->from + 1;
    /* Before anything is written at the target. [f loads x, tells r, r tells p, p puts x: by an
     * older calls(f) the replay of f would apply the put before the load.] */
    x->calls =
        atomic_load_explicit(&a->cfg.board->slot[x->to].testament.calls, memory_order_acquire);
    if (x->op.kind == FT_FAR_HOME) {
        answer_home(a, x);
        return ANSWERED;
    }
    if (!ctl_of(a, x->to))
        return LATER;
    if (apply_to_process(a, x))
        return ANSWERED;
    if (releases_what_is_gone(a, x)) {
        answer(a, x, FT_OK, NULL, 0);
        return ANSWERED;
    }
    if (!find_place(a, x, &p) || a->stopped) /* stopped: it cannot be mapped, and this node ends */
        return LATER;
    if (x->op.flags & FT_FAR_OUTSIDE) {
        atomic_store_explicit(&a->cfg.board->phase_rma, 1, memory_order_relaxed);
        atomic_store_explicit(&a->cfg.board->phase_far, 1, memory_order_relaxed);
    }
    if (x->op.kind == FT_FAR_LOCK || x->op.kind == FT_FAR_UNLOCK)
        return apply_lock(a, x, p.locks, since_ns);
    if (x->op.kind == FT_FAR_COMMIT) /* whatever it may write, it leaves */
        return commit(a, x, &p);
    if (!p.at) {
        answer(a, x, FT_ERR_RANGE, NULL, 0);
        return ANSWERED;
    }
    if (x->op.flags & FT_FAR_BLOCKS) {
        apply_blocks(a, x, p.at);
        return ANSWERED;
    }
    switch (x->op.kind) {
    case FT_FAR_PUT:
        memcpy(p.at, x->data, x->op.len);
        answer(a, x, FT_OK, NULL, 0);
        return ANSWERED;
    case FT_FAR_GET: answer(a, x, FT_OK, p.at, x->op.len); return ANSWERED;
    case FT_FAR_ENTER:
        if (!take_section(p.locks, who))
            return LATER;
        if (x->op.flags & FT_FAR_LOGGED)
            x->stamp = take_stamp(ctl_of(a, x->to));
        ft_failpoint(GATE_ACCESS_INSIDE);
        answer(a, x, FT_OK, p.at, x->op.len);
        return ANSWERED;
    default: return apply_inside(a, x, &p);
    }
}

/* What cannot be applied to a process that has ended never can: nobody frees its critical section,
 * or makes its window. */
static enum access_end apply(struct ft_access *a, struct asked_for *x, uint64_t since_ns)
{
    int ended = atomic_load(&a->cfg.board->slot[x->to].ended);
    enum access_end end = apply_to(a, x, since_ns);
    if (end == ANSWERED)
        ft_failpoint(GATE_ACCESS_APPLIED);
    if (end != LATER || !ended || a->stopped)
        return end;
    answer(a, x, FT_ERR_DEAD, NULL, 0);
    return ANSWERED;
}

/* Of COMMIT, and of those that are no accesses to a window. */
static int is_sound_control(const struct ft_access *a, const struct asked_for *x)
{
    const struct ft_far_op *o = &x->op;
    struct ft_far_commit c;
    switch (o->kind) {
    case FT_FAR_COMMIT:
        if (x->bytes != sizeof c + o->len)
            return 0;
        memcpy(&c, x->data, sizeof c);
        return c.rank < (uint32_t)a->cfg.board->nslots && ft_hole_is_sound(c.hole, o->len);
    case FT_FAR_STAMP: return x->bytes == 0;
    case FT_FAR_READ:
        return x->bytes == 0 && o->off <= a->cfg.arena_bytes &&
               o->len <= a->cfg.arena_bytes - o->off;
    case FT_FAR_HOME:
        return x->bytes == 0 && o->rank >= 0 && o->rank < a->cfg.board->nslots &&
               o->off <= FT_HOMELOG_SPAN && o->len <= FT_HOMELOG_SPAN - o->off;
    case FT_FAR_COUNT: return x->bytes == 0 && o->rank >= 0 && o->rank < a->cfg.board->nslots;
    case FT_FAR_FREE: return x->bytes == o->len && o->len % sizeof(struct ft_far_held) == 0;
    default: return 0;
    }
}

/* Whether the data that has come is what such an access needs. */
static int is_sound(const struct ft_access *a, const struct asked_for *x)
{
    const struct ft_far_op *o = &x->op;
    struct far_blocks b;
    if (o->len > FT_FAR_PIECE)
        return 0;
    if (o->flags & FT_FAR_BLOCKS)
        return read_blocks(x, &b) && !(o->flags & FT_FAR_DYNAMIC) &&
               ((o->kind == FT_FAR_PUT && x->bytes == sizeof b.stride + o->len) ||
                (o->kind == FT_FAR_GET && x->bytes == sizeof b.stride));
    switch (o->kind) {
    case FT_FAR_PUT: return x->bytes == o->len;
    case FT_FAR_SWAP:
        return o->how ? x->bytes == o->len && o->how < FT_FOLDS && o->esize < FT_KINDS &&
                            ft_fold((enum ft_fold_op)o->how, (enum ft_kind)o->esize) != NULL
                      : o->esize == 0 && (x->bytes == 0 || x->bytes == o->len);
    case FT_FAR_WORD:
        return o->esize == o->len && o->esize <= 16 && o->how <= FT_FETCH_CAS &&
               (o->how != FT_FETCH_ADD || o->esize == 4 || o->esize == 8) &&
               x->bytes == (o->how == FT_FETCH_NOOP  ? 0u
                            : o->how == FT_FETCH_CAS ? 2u * o->esize
                                                     : o->esize);
    case FT_FAR_GET:
    case FT_FAR_ENTER:
    case FT_FAR_LOCK:
    case FT_FAR_UNLOCK: return x->bytes == 0;
    default: return is_sound_control(a, x);
    }
}

static struct asked_for read_item(const struct ft_item *item, const void *data)
{
    return (struct asked_for){.from = item->from,
                              .to = item->to,
                              .number = item->number,
                              .op = {.kind = (uint8_t)item->at,
                                     .how = (uint8_t)(item->at >> 8),
                                     .flags = (uint8_t)(item->at >> 16),
                                     .esize = (uint8_t)(item->at >> 24),
                                     .rank = (int32_t)(item->at >> 32),
                                     .win = item->of[0],
                                     .off = item->of[1],
                                     .len = item->of[2]},
                              .data = data,
                              .bytes = item->bytes};
}

static void let_wait(struct ft_access *a, const struct ft_item *item, const void *data)
{
    struct party *p = &a->of[item->from];
    struct waiting *w = malloc(sizeof *w + item->bytes);
    if (!w) {
        stop(a, "there is no memory for the accesses of process %d", item->from);
        return;
    }
    *w = (struct waiting){.item = *item, .since_ns = a->now_ns};
    if (item->bytes)
        memcpy(w->data, data, item->bytes);
    if (p->last) {
        p->last->next = w;
    } else {
        p->first = w;
        a->nwaiting++;
    }
    p->last = w;
}

int ft_access_came(struct ft_access *a, const struct ft_item *item, const void *data)
{
    struct asked_for x = read_item(item, data);
    if (!is_sound(a, &x))
        return 0;
    if (x.op.flags & FT_FAR_TIMED)
        x.came_ns = ft_now_ns();
    enum access_end o = a->of[item->from].first ? LATER : apply(a, &x, a->now_ns);
    if (o == LATER)
        let_wait(a, item, data);
    return o != WRONG;
}

/* Those of one process, in their order. */
static void apply_waiting(struct ft_access *a, struct party *p)
{
    for (struct waiting *w; (w = p->first) && !a->stopped;) {
        struct asked_for x = read_item(&w->item, w->data);
        if (x.op.flags & FT_FAR_TIMED)
            x.came_ns = w->since_ns;
        enum access_end o = apply(a, &x, w->since_ns);
        if (o == LATER)
            return;
        if (o == WRONG)
            stop(a, "the accesses of process %d do not follow one another", x.from);
        p->first = w->next;
        free(w);
    }
    p->last = NULL;
    a->nwaiting--;
}

void ft_access_step(struct ft_access *a, uint64_t now_ns)
{
    a->now_ns = now_ns;
    for (int i = 0; i < a->cfg.board->nslots && a->nwaiting > 0; i++)
        if (a->of[i].first)
            apply_waiting(a, &a->of[i]);
}
