/* SPDX-License-Identifier: BSD-3-Clause
 *
 * putlog.c - the put logs: one for each target rank, made when it is first needed.
 */
#include "rma/putlog.h"

#include <stdlib.h>
#include <string.h>

#include "alog/homelog.h"
#include "alog/log_read.h"
#include "base/failpoint.h"
#include "base/near.h"
#include "base/offheap.h"
#include "rma/far_log.h"

FT_STATE(int, ft_putlog_on);

struct putlog {
    struct ft_log_hdr *hdr; /* [FT_SEG_COUNT], in the own arena; NULL: never used */
    struct ft_log log;
    struct ft_log_reader tail; /* stands before the first action without a stamp */
    int has_tail;
    uint64_t open; /* number of actions without a stamp */
    /* the newest action that was logged without a stamp; it may have got one since */
    struct ft_act *newest;
    uint64_t cut_seq[2];
};

struct putlogs {
    struct ft_tp *tp;
    int nranks, me;
    struct putlog *to; /* [nranks] */
    struct ft_log_mem mem;
    enum ft_segment seg;
    int wanted;
    uint64_t interval, cut_version[2];
};
FT_STATIC(struct putlogs, g);
#define g FT_MY(g)

static void trim_when_full(struct ft_log *log);

static uint64_t take(struct ft_log_mem *m, uint64_t bytes, void **addr)
{
    (void)m;
    if (g.seg == FT_SEG_RUN)
        ft_log_pressed(bytes);
    if (ft_log_budget.used + bytes > ft_log_budget.limit && !ft_whole_frozen())
        return 0;
    uint64_t off = ft_arena_alloc(g.tp->own, bytes, FT_CACHE_LINE);
    if (off) {
        ft_log_budget.used += bytes;
        *addr = ft_arena_ptr(g.tp->own, off);
    }
    return off;
}

static void give(struct ft_log_mem *m, uint64_t off, uint64_t bytes, void *addr)
{
    (void)m, (void)addr;
    ft_log_budget.used -= bytes;
    ft_arena_free(g.tp->own, off);
}

void ft_putlog_init(struct ft_tp *tp, int nranks, int myrank)
{
    g.tp = tp;
    g.nranks = nranks;
    g.me = myrank;
    g.mem = (struct ft_log_mem){.take = take, .give = give, .trim = trim_when_full};
    g.to = calloc((size_t)nranks, sizeof *g.to);
    FT_ASSERT(g.to);
}

static void begin_log(struct putlog *l)
{
    ft_log_init(&l->log, &g.mem, &l->hdr[g.seg], 0);
    l->has_tail = 0;
    l->open = 0;
}

void ft_putlog_segment(enum ft_segment seg, int on)
{
    int again = seg == FT_SEG_RUN && g.seg == FT_SEG_RUN; /* this is a rollback */
    g.seg = seg;
    for (int r = 0; r < g.nranks; r++) {
        struct putlog *l = &g.to[r];
        l->cut_seq[0] = l->cut_seq[1] =
            0; /* numbers of the segment before have no meaning in this one */
        if (!l->hdr)
            continue;
        if (again)
            ft_log_clear(&l->log, l->log.seq);
        else
            begin_log(l);
        l->has_tail = 0;
        l->open = 0;
    }
    g.wanted = ft_putlog_on = on;
}

static int open_log(int rank)
{
    struct putlog *l = &g.to[rank];
    uint64_t off = ft_arena_alloc(g.tp->own, FT_SEG_COUNT * sizeof *l->hdr, FT_CACHE_LINE);
    if (!off)
        return 0;
    l->hdr = ft_arena_ptr(g.tp->own, off);
    for (int i = 0; i < FT_SEG_COUNT; i++)
        atomic_store_explicit(&l->hdr[i].chunk, 0, memory_order_relaxed);
    begin_log(l);
    atomic_store_explicit(&g.tp->own->ctl->peer[rank].putlog, off, memory_order_release);
    return 1;
}

static void lost(enum ft_unkept why)
{
    ft_whole_lost(g.seg == FT_SEG_RUN ? FT_WHOLE_OTHERS : FT_WHOLE_KEPT, why);
}

void ft_putlog_stop(enum ft_unkept why)
{
    ft_putlog_on = 0;
    lost(why);
}

/* There is no room. A vote may have said that nothing is missing: then the limit does not count.
 * From here on puts begin no epoch, so nothing closes one (R1). Outside of the run nobody can be
 * replaced then. */
static struct ft_act *begin_over(struct putlog *l, uint32_t bytes)
{
    enum ft_unkept why = ft_log_refused();
    lost(why);
    struct ft_act *a = ft_whole_frozen() && l->hdr ? ft_log_begin(&l->log, bytes) : NULL;
    if (!a && ft_whole_frozen())
        (void)ft_need(NULL, bytes, "a put that a lost rank may need");
    if (!a && g.seg == FT_SEG_RUN)
        ft_homelog_incomplete(why);
    if (!a)
        ft_putlog_on = 0;
    return a;
}

struct ft_act *ft_putlog_begin(int rank, uint32_t win, uint64_t off, uint64_t lo, uint32_t bytes)
{
    struct putlog *l = &g.to[rank];
    FT_ASSERT(rank != g.me && ft_putlog_on);
    struct ft_act *a =
        FT_LIKELY(l->hdr != NULL) || open_log(rank) ? ft_log_begin(&l->log, bytes) : NULL;
    if (FT_UNLIKELY(!a) && !(a = begin_over(l, bytes)))
        return NULL;
    a->kind = FT_ACT_PUT;
    a->win = win;
    a->off = off;
    a->call = lo;
    a->where = (int32_t)g.interval;
    return a;
}

void ft_putlog_publish(int rank, struct ft_act *a)
{
    struct putlog *l = &g.to[rank];
    ft_failpoint(LOG_PUT);
    ft_log_publish(&l->log, a);
    if (FT_UNLIKELY(!l->has_tail)) {
        struct ft_log_place start = {0, 0, 0};
        l->has_tail = ft_log_read_from(&l->tail, g.tp->own->base, &l->hdr[g.seg], start);
        FT_ASSERT(l->has_tail);
    }
    if (atomic_load_explicit(&a->stamp, memory_order_relaxed) == 0) {
        l->open++;
        l->newest = a;
    }
}

/* A closing note has one of these for each target, followed by its runs: a number of puts, in the
 * order of the log, and their lo; with FTRMA_CHECK=data one word more. */
struct closed {
    int32_t rank;
    uint32_t nruns;
    uint64_t stamp, hash; /* hash: of where the puts went (R0, log.h) */
};
/* Hashes of puts in their order. Each step of the first can be inverted: where there was one put,
 * its place is known. */
struct hashes {
    uint64_t place, data;
};
struct lo_run {
    uint64_t lo, n;
};
struct closing_note {
    char *data;
    size_t len, cap;
    /* A put that was the only one. It comes after `data`, and usually it is everything. */
    struct ft_putlog_one one;
    int one_rank; /* 1 + its target's rank; 0: there is none */
};
FT_STATIC(struct closing_note, note);
#define note FT_MY(note)

static inline void *note_room(size_t bytes)
{
    if (FT_UNLIKELY(note.len + bytes > note.cap)) {
        note.cap = 2 * (note.len + bytes) + 1024;
        note.data = ft_offheap_realloc(note.data, note.cap);
        FT_ASSERT(note.data);
    }
    void *at = note.data + note.len;
    note.len += bytes;
    return at;
}

void ft_putlog_note_begin(void)
{
    note.len = 0;
    note.one_rank = 0;
}

/* The note of one put. */
struct of_one {
    struct closed c;
    struct lo_run r;
    uint64_t data_hash;
};
_Static_assert(sizeof(struct of_one) == FT_PUTLOG_NOTE_OF_ONE, "as long as putlog.h says");

uint32_t ft_putlog_note_of_one(int rank, const struct ft_putlog_one *one, char *out)
{
    struct of_one n = {{.rank = rank, .nruns = 1, .stamp = one->stamp, .hash = one->hash[0]},
                       {one->lo, 1},
                       one->hash[1]};
    size_t bytes = sizeof n - (ft_check_data ? 0 : sizeof n.data_hash);
    memcpy(out, &n, bytes);
    return (uint32_t)bytes;
}

/* Called when more follows, or the complete note is wanted. */
static void spill(void)
{
    char of_one[FT_PUTLOG_NOTE_OF_ONE];
    if (!note.one_rank)
        return;
    uint32_t bytes = ft_putlog_note_of_one(note.one_rank - 1, &note.one, of_one);
    memcpy(note_room(bytes), of_one, bytes);
    note.one_rank = 0;
}

const struct ft_putlog_one *ft_putlog_note_one(void)
{
    return note.one_rank && note.len == 0 ? &note.one : NULL;
}

const char *ft_putlog_note(uint32_t *bytes)
{
    spill();
    *bytes = (uint32_t)note.len;
    return note.data;
}

/* Iterates over the actions of window win without a stamp, and moves the tail past actions that
 * have one. */
struct open_puts {
    struct putlog *l;
    struct ft_log_reader r;
    uint32_t win;
    int all; /* so far, every action has a stamp */
};

static struct open_puts open_puts_of(int rank, uint32_t win)
{
    struct putlog *l = &g.to[rank];
    return (struct open_puts){.l = l, .r = l->tail, .win = win, .all = l->has_tail};
}

static struct ft_act *next_open_put(struct open_puts *o)
{
    struct ft_act *a;
    while (o->l->has_tail && (a = ft_log_read(&o->r))) {
        int open = atomic_load_explicit(&a->stamp, memory_order_relaxed) == 0;
        if (open && a->win != o->win)
            o->all = 0;
        if (o->all)
            o->l->tail = o->r;
        if (open && a->win == o->win)
            return a;
    }
    return NULL;
}

#define PLACE_BITS 40 /* bits of a displacement that are not mixed with its size */
static inline void hash_put(struct hashes *h, const struct ft_act *a)
{
    h->place = ft_hash_word(h->place, a->off ^ (uint64_t)a->bytes << PLACE_BITS);
    if (FT_UNLIKELY(ft_check_data))
        h->data = ft_hash_bytes(h->data, a->data, a->bytes);
}

static inline void note_data_hash(uint64_t hash)
{
    if (FT_UNLIKELY(ft_check_data))
        memcpy(note_room(sizeof hash), &hash, sizeof hash);
}

static inline void stamp(struct putlog *l, struct ft_act *a, uint64_t t)
{
    atomic_store_explicit(&a->stamp, t, memory_order_release);
    l->open--;
}

/* A put that was flushed at once and is the only one without a stamp in its log: no search is
 * needed. */
static void stamp_newest(struct putlog *l, int rank, _Atomic uint64_t *last)
{
    uint64_t t = 1 + atomic_fetch_add(last, 1);
    stamp(l, l->newest, t);
    struct hashes h = {0, 0};
    hash_put(&h, l->newest);
    spill();
    note.one = (struct ft_putlog_one){t, l->newest->call, {h.place, h.data}};
    note.one_rank = 1 + rank;
    l->tail.chunk = l->log.cur;
    l->tail.pos = l->log.pos;
    l->tail.seq = l->log.seq;
}

void ft_putlog_stamp(int rank, uint32_t win, _Atomic uint64_t *last)
{
    struct putlog *l = &g.to[rank];
    if (FT_LIKELY(l->open == 1 && l->newest->win == win &&
                  atomic_load_explicit(&l->newest->stamp, memory_order_relaxed) == 0)) {
        stamp_newest(l, rank, last);
        return;
    }
    struct open_puts o = open_puts_of(rank, win);
    struct ft_act *a = next_open_put(&o);
    if (!a)
        return;
    uint64_t t = 1 + atomic_fetch_add(last, 1), lo = 0, n = 0;
    struct hashes h = {0, 0};
    spill();
    size_t head = note.len;
    uint32_t nruns = 0;
    (void)note_room(sizeof(struct closed));
    for (; a; a = next_open_put(&o)) {
        stamp(l, a, t);
        hash_put(&h, a);
        if (n && a->call != lo) {
            *(struct lo_run *)note_room(sizeof(struct lo_run)) = (struct lo_run){lo, n};
            nruns++;
            n = 0;
        }
        lo = a->call;
        n++;
    }
    *(struct lo_run *)note_room(sizeof(struct lo_run)) = (struct lo_run){lo, n};
    *(struct closed *)(void *)(note.data + head) =
        (struct closed){.rank = rank, .nruns = nruns + 1, .stamp = t, .hash = h.place};
    note_data_hash(h.data);
}

/* A note's part for one target, compared with the present puts: those that it stands for, and
 * all. */
struct compared {
    struct hashes was, is;
    uint64_t nwas, nis;
    struct ft_act *last;
};

/* There is only one put on both sides, so its hashes are not of others as well. */
static void one_differs(const struct compared *c, struct ft_putlog_differs *d)
{
    const uint64_t low = (1ull << PLACE_BITS) - 1;
    const struct ft_act *a = c->last;
    uint64_t place = ft_unhash_word(c->was.place), n;
    char was[8];
    d->one = 1;
    d->off = a->off;
    if (a->off > low) /* an address and its size */
        ft_mismatch_hash(&d->mismatch, "hash of its place", c->is.place, c->was.place);
    ft_mismatch_number(&d->mismatch, "displacement", (int64_t)a->off,
                       (int64_t)(a->off > low ? a->off : place & low));
    ft_mismatch_number(&d->mismatch, "bytes", a->bytes,
                       (int64_t)(a->off > low ? a->bytes : place >> PLACE_BITS));
    if (!ft_check_data || c->is.data == c->was.data)
        return;
    n = c->is.place == c->was.place ? a->bytes
        : a->off > low              ? sizeof was + 1
                                    : place >> PLACE_BITS;
    if (n > 0 && n <= sizeof was) {
        ft_unhash_bytes(c->was.data, was, n);
        ft_mismatch_data(&d->mismatch, "data", a->data, a->bytes, was, n);
    } else {
        ft_mismatch_hash(&d->mismatch, "hash of its data", c->is.data, c->was.data);
    }
}

static void puts_differ(const struct compared *c, struct ft_putlog_differs *d)
{
    if (c->nwas == 1 && c->nis == 1) {
        one_differs(c, d);
        return;
    }
    ft_mismatch_number(&d->mismatch, "puts", (int64_t)c->nis, (int64_t)c->nwas);
    ft_mismatch_hash(&d->mismatch, "hash of displacements and sizes", c->is.place, c->was.place);
    ft_mismatch_hash(&d->mismatch, "hash of data", c->is.data, c->was.data);
}

/* Counts the puts that are left: there are more than there were. */
static void count_rest(struct open_puts *o, struct compared *c)
{
    for (struct ft_act *a; (a = next_open_put(o)); c->nis++)
        hash_put(&c->is, a);
}

int ft_putlog_stamp_again(uint32_t win, const char *data, uint32_t bytes,
                          struct ft_putlog_differs *d)
{
    for (const char *at = data; at < data + bytes;) {
        struct closed c;
        struct compared n = {.nwas = 0};
        memcpy(&c, at, sizeof c);
        at += sizeof c;
        struct open_puts o = open_puts_of(c.rank, win);
        for (uint32_t i = 0; i < c.nruns; i++, at += sizeof(struct lo_run)) {
            struct lo_run run;
            memcpy(&run, at, sizeof run);
            n.nwas += run.n;
            for (struct ft_act *a; n.nis < n.nwas && (a = next_open_put(&o)); n.nis++) {
                hash_put(&n.is, a);
                a->call = run.lo;
                stamp(o.l, a, c.stamp);
                n.last = a;
            }
        }
        n.was.place = c.hash;
        if (ft_check_data) {
            memcpy(&n.was.data, at, sizeof n.was.data);
            at += sizeof n.was.data;
        }
        if (n.nis < n.nwas && !ft_putlog_on) /* this time the log is over the budget */
            return 1;
        count_rest(&o, &n);
        if (n.nis != n.nwas || n.is.place != n.was.place || n.is.data != n.was.data) {
            d->rank = c.rank;
            puts_differ(&n, d);
            return 0;
        }
    }
    return 1;
}

void ft_putlog_cut(uint64_t version)
{
    struct ft_ctl *ctl = g.tp->own->ctl;
    g.interval++;
    g.cut_version[version & 1] = version;
    for (int r = 0; r < g.nranks; r++)
        g.to[r].cut_seq[version & 1] = g.to[r].hdr ? g.to[r].log.seq : 0;
    atomic_store(&ctl->cut[version & 1].version, 0);
    atomic_store(&ctl->cut[version & 1].interval, g.interval);
    atomic_store_explicit(&ctl->cut[version & 1].version, version, memory_order_release);
    ft_putlog_on = g.wanted;
}

/* Drops what lies before seq; all of it has stamps. */
static void drop_before(struct putlog *l, uint64_t seq)
{
    struct ft_log_place start = {0, 0, 0};
    int stands = l->has_tail && l->tail.seq >= seq;
    uint64_t was = l->log.bytes;
    ft_log_trim(&l->log, seq);
    if (!stands && l->log.bytes != was)
        l->has_tail = ft_log_read_from(&l->tail, g.tp->own->base, &l->hdr[g.seg], start);
}

static int is_cut(uint64_t version)
{
    return g.seg == FT_SEG_RUN && version && g.cut_version[version & 1] == version;
}

void ft_putlog_trim(uint64_t committed)
{
    for (int r = 0; is_cut(committed) && r < g.nranks; r++)
        if (g.to[r].hdr && g.to[r].log.cur)
            drop_before(&g.to[r], g.to[r].cut_seq[committed & 1]); /* a cut closes all epochs */
}

/* A log that wants a chunk takes from its own front what lies before a committed cut, so one
 * interval's memory serves all. Only the log to which is appended is trimmed: its target is live
 * then, and this process is inside an access, so nobody reads it in the target's place (L7). If
 * this process is lost before others know of the commit, no harm is done: the put log is lost with
 * it, and rebuilt from the image that is restored. */
static void trim_when_full(struct ft_log *log)
{
    struct putlog *l = (struct putlog *)(void *)((char *)log - offsetof(struct putlog, log));
    uint64_t v = atomic_load_explicit(&ft_msg_committed, memory_order_acquire);
    if (is_cut(v) && ft_replay == FT_LIVE && log->cur)
        drop_before(l, l->cut_seq[v & 1]);
}

uint64_t ft_putlog_cover(int rank, uint64_t stamp)
{
    struct putlog *l = &g.to[rank];
    struct ft_log_place start = {0, 0, 0};
    struct ft_log_reader r;
    if (g.seg != FT_SEG_RUN || !l->hdr || !l->log.cur || l->log.cur == l->log.oldest ||
        !ft_log_read_from(&r, g.tp->own->base, &l->hdr[g.seg], start))
        return 0;
    uint64_t seq = r.seq, was = l->log.bytes;
    for (const struct ft_act *a; (a = ft_log_read(&r)); seq = r.seq) {
        uint64_t t = atomic_load_explicit(&a->stamp, memory_order_relaxed);
        if (t == 0 || t > stamp)
            break;
    }
    drop_before(l, seq);
    if (l->log.bytes == was)
        return 0;
    ft_log_give_free(&l->log);
    return was - l->log.bytes;
}

uint64_t ft_putlog_kept_for(int rank)
{
    return g.seg == FT_SEG_RUN && g.to[rank].hdr ? g.to[rank].log.bytes : 0;
}

struct ft_eligible_act *ft_putlog_gather(struct ft_tp *tp, int nranks, int me, const int *slot_of,
                                         enum ft_segment seg, uint64_t version, uint64_t covered,
                                         size_t *n, uint64_t *bytes)
{
    size_t cap = 0;
    struct ft_eligible_act *acts = NULL;
    *n = 0;
    *bytes = 0;
    for (int r = 0; r < nranks; r++) {
        int near = ft_board_near(tp->board, slot_of[r]);
        const struct ft_ctl *ctl = r == me ? NULL
                                   : near  ? ft_tp_ctl(tp, slot_of[r])
                                           : ft_far_log_ctl(r);
        uint64_t off = ctl ? atomic_load_explicit(&ctl->peer[me].putlog, memory_order_acquire) : 0;
        if (!off)
            continue;
        char *base = near ? tp->ops->map(tp, slot_of[r], 0, tp->own->bytes, FT_TP_LOG)
                          : (char *)(uintptr_t)ctl; /* as much as was fetched */
        struct ft_log_place start = {0, 0, 0};
        struct ft_log_reader rd;
        uint64_t from = 0;
        if (!base ||
            !ft_log_read_from(&rd, base, (struct ft_log_hdr *)(void *)(base + off) + seg, start))
            continue;
        if (version &&
            atomic_load_explicit(&ctl->cut[version & 1].version, memory_order_acquire) == version)
            from = atomic_load(&ctl->cut[version & 1].interval);
        for (struct ft_act *a; (a = ft_log_read(&rd));) {
            uint64_t stamp = atomic_load_explicit(&a->stamp, memory_order_acquire);
            if ((uint64_t)a->where < from || (stamp && stamp <= covered))
                continue;
            if (*n == cap) {
                cap = cap ? 2 * cap : 256;
                acts = ft_offheap_realloc(acts, cap * sizeof *acts);
                FT_ASSERT(acts);
            }
            acts[(*n)++] = (struct ft_eligible_act){
                .lo = a->call, .stamp = stamp, .serial = rd.seq, .source = r, .what = a};
            *bytes += a->bytes;
        }
    }
    return acts;
}
