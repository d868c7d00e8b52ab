/* SPDX-License-Identifier: BSD-3-Clause
 *
 * homelog.c - writes the home log, and reads it in a replacement.
 *
 * It is a part of the file that all processes of the job hold (base/homelogs.h). It begins with a
 * page that holds the headers of the three segments and the amount of space ever taken; chunks
 * follow. All of it belongs to the main of this rank, which takes file space as it needs it; nobody
 * else does anything there.
 */
#include "alog/homelog.h"

#include <stdlib.h>
#include <string.h>

#include "alog/homelog_replay.h"
#include "alog/log_read.h"
#include "alog/unused.h"
#include "base/copy.h"
#include "base/failpoint.h"
#include "base/offheap.h"

FT_STATE(enum ft_replay_mode, ft_replay);
FT_STATE(enum ft_log_level, ft_level) = FT_LOG_ALL;
FT_STATE(int, ft_told);
FT_STATE(uint64_t, ft_calls);
FT_STATE(uint64_t, ft_calls_aside);
FT_STATE(int, ft_uncounted);
FT_STATE(__typeof__(void (*)(void)), ft_replay_drain);
FT_STATIC(_Atomic uint64_t, nowhere);
FT_STATE(_Atomic uint64_t *, ft_calls_published) = FT_AT(nowhere);
FT_STATE(ft_diverged_fn *, ft_replay_diverged);
static void nothing_started(void);
FT_STATE(__typeof__(void (*)(void)), ft_replay_advance) = nothing_started;

/* (window, target) -> where its last CLOSE and LOCK are. */
struct last {
    uint32_t win;
    int target, used;
    size_t close, lock; /* 1 + index */
};

struct homelog {
    struct ft_tp *tp;
    int rank;
    /* unused space of the file; for a rank's first process there is none */
    struct ft_unused unused;
    char *base;                   /* address of the log; NULL: not mapped */
    struct ft_homelog_head *head; /* NULL: the log cannot be reached */
    struct ft_log_mem mem;
    struct ft_log log;
    enum ft_segment seg;
    int logging;
    uint64_t cut_seq[2], cut_version[2];
    /* from this number on the log is complete, unless `broken` says otherwise: it began again there
     * for an image taken alone */
    uint64_t anew_seq;
    /* the last call that a replay of this log must have begun before it is at the end */
    uint64_t reached;
    /* The state of a replay. */
    struct ft_act **act;
    size_t n, cap, next;
    struct last *last;
    size_t nlast, cap_last;
    int32_t *wild; /* [nwild]: 1 + source of wildcard number first_wild + i */
    uint64_t first_wild, nwild;
    uint64_t fetched_bytes, last_stamp, ncancelled;
    const char *setup; /* as given; NULL: nothing */
    size_t setup_bytes;
    ft_homelog_read_fn *fetch; /* NULL: the lost process's log is on this node */
};
FT_STATIC(struct homelog, g);
#define g FT_MY(g)
FT_STATE(struct ft_homelog_state, ft_homelog_now);

/* --- its memory --- */

/* Of addresses: as much as an arena has. */
static uint64_t space(void) { return ft_min_u64(g.tp->own->bytes, FT_HOMELOG_SPAN); }

/* Takes file space for the log, and maps it. */
static enum ft_status grow(uint64_t off, uint64_t bytes)
{
    return g.tp->ops->keep(g.tp, g.rank, off, bytes, g.base + off);
}

static void find_unused(void)
{
    if (g.head)
        ft_unused_find(&g.unused, g.base, atomic_load_explicit(&g.head->end, memory_order_relaxed),
                       g.head->seg, FT_SEG_COUNT);
}

static uint64_t take(struct ft_log_mem *m, uint64_t bytes, void **addr)
{
    (void)m;
    if (g.seg == FT_SEG_RUN)
        ft_log_pressed(bytes);
    uint64_t off, whole = ft_align_up(bytes, ft_page_bytes());
    if (ft_log_budget.used + bytes > ft_log_budget.limit)
        return 0;
    if ((off = ft_unused_take(&g.unused, whole))) {
        ft_log_budget.used += bytes;
        *addr = g.base + off;
        return off;
    }
    off = atomic_load_explicit(&g.head->end, memory_order_relaxed);
    if (off + whole > space() || grow(off, whole) != FT_OK)
        return 0;
    atomic_store_explicit(&g.head->end, off + whole, memory_order_release);
    ft_log_budget.used += bytes;
    *addr = g.base + off;
    return off;
}

/* The space is not given back to the system before the job ends. */
static void give(struct ft_log_mem *m, uint64_t off, uint64_t bytes, void *addr)
{
    (void)m, (void)off, (void)bytes, (void)addr;
}

/* Maps what there is of the log. Returns 0 if it cannot be reached. */
static int open_log(void)
{
    uint64_t page = ft_page_bytes();
    g.base = ft_arena_reserve(NULL, space());
    if (!g.base || grow(0, page) != FT_OK)
        return 0;
    struct ft_homelog_head *head = (struct ft_homelog_head *)(void *)g.base;
    uint64_t end = atomic_load_explicit(&head->end, memory_order_acquire);
    if (end == 0)
        atomic_store_explicit(&head->end, page, memory_order_release);
    if (end > page && grow(page, end - page) != FT_OK)
        return 0;
    g.head = head;
    return 1;
}

/* --- from another node --- */

void ft_homelog_fetch_by(ft_homelog_read_fn *read) { g.fetch = read; }

/* There is nothing here, whatever a carrier of this rank had on this node before. */
static void forget_all(void)
{
    for (int i = 0; i < FT_SEG_COUNT; i++)
        atomic_store_explicit(&g.head->seg[i].chunk, 0, memory_order_relaxed);
    atomic_store_explicit(&g.head->end, ft_page_bytes(), memory_order_release);
}

static int fetch_chunks(uint64_t off, uint64_t end)
{
    while (off) {
        const struct ft_log_chunk *c = (const struct ft_log_chunk *)(const void *)(g.base + off);
        if (off >= end || sizeof *c > end - off || !g.fetch(off, g.base + off, sizeof *c) ||
            c->bytes < sizeof *c || c->bytes > end - off)
            return 0;
        ft_failpoint(REPLAY_HOME);
        if (!g.fetch(off, g.base + off, c->bytes))
            return 0;
        off = atomic_load_explicit(&c->next, memory_order_relaxed);
    }
    return 1;
}

/* Everything lies where it lay there. A process that dies before the end leaves an empty log, since
 * the head is written last. */
static int fetch_log(void)
{
    struct ft_homelog_head head;
    uint64_t page = ft_page_bytes();
    forget_all();
    if (!g.fetch(0, &head, sizeof head))
        return 0;
    uint64_t end = atomic_load_explicit(&head.end, memory_order_relaxed);
    if (end == 0) /* nothing was ever logged */
        return 1;
    if (end < page || end > space() || end % page)
        return 0;
    while (end > page && grow(page, end - page) != FT_OK)
        if (!ft_no_room(end - page))
            return 0;
    for (int i = 0; i < FT_SEG_COUNT; i++)
        if (!fetch_chunks(atomic_load_explicit(&head.seg[i].chunk, memory_order_relaxed), end))
            return 0;
    for (int i = 0; i < FT_SEG_COUNT; i++)
        atomic_store_explicit(&g.head->seg[i].chunk,
                              atomic_load_explicit(&head.seg[i].chunk, memory_order_relaxed),
                              memory_order_relaxed);
    atomic_store_explicit(&g.head->end, end, memory_order_release);
    ft_failpoint(REPLAY_HOME_DONE);
    return 1;
}

static int kept(void) { return g.seg != FT_SEG_RUN; }

/* Records a gap. part: FT_WHOLE_OWN or FT_WHOLE_NEVER, in the run. */
static void broken(enum ft_whole_part part, enum ft_unkept why)
{
    if (!ft_homelog_now.on)
        return;
    if (ft_homelog_now.broken && kept() && ft_whole_unkept()) /* for the reason that is known */
        return;
    ft_homelog_now.broken = FT_HOMELOG_HOLE;
    ft_whole_lost(kept() ? FT_WHOLE_KEPT : part, why);
}

void ft_homelog_incomplete(enum ft_unkept why) { broken(FT_WHOLE_NEVER, why); }

static void mended(void)
{
    ft_homelog_now.broken = g.head ? 0 : FT_HOMELOG_HOLE;
    ft_whole_own_begins();
}

static struct last *last_of(uint32_t win, int target, int make)
{
    if (make && 2 * (g.nlast + 1) > g.cap_last) {
        size_t was = g.cap_last;
        struct last *old = g.last;
        g.cap_last = was ? 2 * was : 64;
        g.last = ft_offheap_zeroed(g.cap_last * sizeof *g.last);
        FT_ASSERT(g.last);
        g.nlast = 0;
        for (size_t i = 0; i < was; i++)
            if (old[i].used)
                *last_of(old[i].win, old[i].target, 1) = old[i];
        ft_offheap_free(old);
    }
    if (!g.cap_last)
        return NULL;
    size_t h = (win * 0x9E3779B1u ^ (uint32_t)target * 0x85EBCA6Bu) & (g.cap_last - 1);
    while (g.last[h].used && (g.last[h].win != win || g.last[h].target != target))
        h = (h + 1) & (g.cap_last - 1);
    if (g.last[h].used)
        return &g.last[h];
    if (!make)
        return NULL;
    g.nlast++;
    g.last[h] = (struct last){.win = win, .target = target, .used = 1};
    return &g.last[h];
}

static void note_reached(const struct ft_act *a)
{
    if (a->kind != FT_ACT_WILD)
        g.reached = ft_max_u64(g.reached, a->kind == FT_ACT_REACHED ? a->off : a->call);
}

static void take_in(struct ft_act *a)
{
    note_reached(a);
    if (g.n == g.cap) {
        g.cap = g.cap ? 2 * g.cap : 256;
        g.act = ft_offheap_realloc(g.act, g.cap * sizeof *g.act);
        FT_ASSERT(g.act);
    }
    g.act[g.n++] = a;
    g.fetched_bytes += a->bytes;
    if (a->kind == FT_ACT_ATOMIC && (a->flags & FT_ACT_SELF))
        g.last_stamp =
            ft_max_u64(g.last_stamp, atomic_load_explicit(&a->stamp, memory_order_relaxed));
    g.ncancelled += a->kind == FT_ACT_OUTCOME && a->where == FT_ACT_CANCELLED;
    if (a->kind == FT_ACT_CLOSE)
        last_of(a->win, a->where, 1)->close = g.n;
    else if (a->kind == FT_ACT_LOCK)
        last_of(a->win, a->where, 1)->lock = g.n;
}

static void index_wildcards(void)
{
    uint64_t least = UINT64_MAX, most = 0;
    for (size_t i = 0; i < g.n; i++)
        if (g.act[i]->kind == FT_ACT_WILD) {
            least = ft_min_u64(least, g.act[i]->count);
            most = ft_max_u64(most, g.act[i]->count);
        }
    ft_offheap_free(g.wild);
    g.wild = NULL;
    g.nwild = least <= most ? most - least + 1 : 0;
    if (!g.nwild)
        return;
    g.first_wild = least;
    g.wild = ft_offheap_zeroed(g.nwild * sizeof *g.wild);
    FT_ASSERT(g.wild);
    for (size_t i = 0; i < g.n; i++)
        if (g.act[i]->kind == FT_ACT_WILD)
            g.wild[g.act[i]->count - least] = g.act[i]->where + 1;
}

/* Reads a kept segment from its beginning; 0: there is nothing. */
static int read_kept(enum ft_segment seg, struct ft_log_reader *r)
{
    struct ft_log_place start = {0, 0, 0};
    return g.head && ft_log_read_from(r, g.base, &g.head->seg[seg], start);
}

/* The log is read where it lies, and goes on there. */
static uint64_t adopt_kept(enum ft_segment seg)
{
    ft_homelog_read(seg, NULL);
    return g.n;
}

static size_t act_bytes(const struct ft_act *a) { return ft_align_up(sizeof *a + a->bytes, 8); }

size_t ft_homelog_setup_bytes(void)
{
    struct ft_log_reader r;
    size_t n = 0;
    if (g.logging && read_kept(FT_SEG_SETUP, &r))
        for (const struct ft_act *a; (a = ft_log_read(&r));)
            n += act_bytes(a);
    return n;
}

void ft_homelog_setup_save(char *out)
{
    struct ft_log_reader r;
    if (g.logging && read_kept(FT_SEG_SETUP, &r))
        for (const struct ft_act *a; (a = ft_log_read(&r)); out += act_bytes(a)) {
            memset(out, 0, act_bytes(a));
            memcpy(out, a, sizeof *a + a->bytes);
        }
}

void ft_homelog_give_setup(const char *setup, size_t bytes)
{
    g.setup = setup;
    g.setup_bytes = bytes;
}

static int append_copy(const struct ft_act *a)
{
    struct ft_act *b = ft_log_begin(&g.log, a->bytes);
    if (!b)
        return 0;
    b->call = a->call;
    b->off = a->off;
    b->count = a->count;
    b->win = a->win;
    b->where = a->where;
    b->kind = a->kind;
    b->flags = a->flags;
    b->hole = a->hole;
    atomic_store_explicit(&b->stamp, atomic_load_explicit(&a->stamp, memory_order_relaxed),
                          memory_order_relaxed);
    memcpy(b->data, a->data, a->bytes);
    ft_log_publish(&g.log, b);
    return 1;
}

/* [A replacement on this node died while it wrote here what it had been given.] */
static uint64_t adopt_setup(void)
{
    uint64_t given = 0, found = adopt_kept(FT_SEG_SETUP);
    const struct ft_act *a;
    for (size_t at = 0; at < g.setup_bytes; at += act_bytes(a), given++)
        a = (const struct ft_act *)(const void *)(g.setup + at);
    if (found >= given)
        return found;
    atomic_store_explicit(&g.head->seg[FT_SEG_SETUP].chunk, 0, memory_order_release);
    ft_log_init(&g.log, &g.mem, &g.head->seg[FT_SEG_SETUP], 0);
    for (size_t at = 0; at < g.setup_bytes; at += act_bytes(a)) {
        a = (const struct ft_act *)(const void *)(g.setup + at);
        while (!append_copy(a))
            if (!ft_no_room(FT_LOG_CHUNK))
                return 0;
    }
    return adopt_kept(FT_SEG_SETUP);
}

int ft_homelog_init(struct ft_tp *tp, int myrank, int replacement, uint64_t recorded, int logging)
{
    g.tp = tp;
    g.rank = myrank;
    g.mem = (struct ft_log_mem){.take = take, .give = give};
    g.logging = ft_homelog_now.on = logging;
    g.seg = FT_SEG_SETUP;
    ft_whole_init(&tp->board->slot[tp->self].testament);
    ft_calls_published = &ft_whole.testament->calls;
    atomic_store(&ft_whole.testament->log_here, !logging);
    if (!logging)
        return 1;
    if (!open_log()) {
        ft_homelog_now.broken = FT_HOMELOG_HOLE; /* reported when there is something to log */
        return recorded == 0;
    }
    if (!replacement) {
        ft_log_init(&g.log, &g.mem, &g.head->seg[FT_SEG_SETUP], 0);
        atomic_store(&ft_whole.testament->log_here, 1);
        return 1;
    }
    ft_homelog_now.missing = g.fetch && !fetch_log();
    find_unused();
    uint64_t found = adopt_kept(FT_SEG_POST);
    found += adopt_setup(); /* last, because setup is replayed first */
    atomic_store(&ft_whole.testament->events, found);
    atomic_store(&ft_whole.testament->log_here, !ft_homelog_now.missing);
    return found >= recorded;
}

void ft_homelog_all_went_back(void)
{
    ft_homelog_now.missing = 0;
    atomic_store(&ft_whole.testament->log_here, 1);
}

void ft_homelog_segment(enum ft_segment seg, int on)
{
    /* a rollback: the run's log begins again */
    if (seg == FT_SEG_RUN && g.seg == FT_SEG_RUN && g.head) {
        if (ft_homelog_now.on)
            ft_log_clear(&g.log, g.log.seq);
    } else if (g.head) {
        ft_log_init(&g.log, &g.mem, &g.head->seg[seg], 0);
        atomic_store_explicit(&g.head->seg[seg].chunk, 0, memory_order_release);
        if (g.unused.used)
            find_unused();
    }
    g.seg = seg;
    g.reached = 0;
    g.cut_seq[0] = g.cut_seq[1] = 0; /* numbers of the segment before have no meaning in this one */
    ft_homelog_now.on = on && g.logging;
    g.anew_seq = 0;
    mended();
}

struct ft_log_place ft_homelog_cut(uint64_t version)
{
    g.cut_seq[version & 1] = g.log.seq;
    g.cut_version[version & 1] = version;
    if (g.head) {
        mended(); /* what was lost lies before the cut */
        ft_whole_own_again(version);
    }
    return g.head ? ft_log_end(&g.log) : (struct ft_log_place){0, 0, 0};
}

void ft_homelog_set_cut(uint64_t version, uint64_t seq)
{
    g.cut_seq[version & 1] = seq;
    g.cut_version[version & 1] = version;
    g.cut_version[1 - (version & 1)] = 0;
    if (ft_homelog_logs())
        ft_whole_own_restored(version);
}

void ft_homelog_trim(uint64_t committed)
{
    if (g.seg == FT_SEG_RUN && g.head && committed && g.cut_version[committed & 1] == committed &&
        ft_replay == FT_LIVE)
        ft_log_trim(&g.log, g.cut_seq[committed & 1]);
}

struct ft_log_place ft_homelog_place(void) { return ft_log_end(&g.log); }

int ft_homelog_begin_anew(void)
{
    if (!ft_homelog_now.on || !ft_homelog_now.broken)
        return ft_homelog_now.on;
    if (!g.head || kept() || ft_whole_misses(FT_WHOLE_NEVER))
        return 0;
    /* the old actions have a hole and are useless; the new number shows that an image is later */
    ft_log_clear(&g.log, g.log.seq + 1);
    g.anew_seq = g.log.seq;
    g.reached = 0;
    mended();
    return 1;
}

int ft_homelog_cover(uint64_t version, uint64_t seq)
{
    if (g.cut_version[version & 1] != version || ft_replay != FT_LIVE)
        return 0;
    g.cut_seq[version & 1] = ft_max_u64(g.cut_seq[version & 1], seq);
    ft_homelog_trim(version);
    if (ft_homelog_now.broken || seq < g.anew_seq ||
        atomic_load(&ft_whole.testament->own_from) != UINT64_MAX)
        return 0;
    ft_whole_own_again(version);
    return 1;
}

uint64_t ft_homelog_kept(void) { return g.seg == FT_SEG_RUN && g.head ? g.log.bytes : 0; }

struct ft_act *ft_homelog_begin(enum ft_act_kind kind, uint32_t win, int where, uint64_t off,
                                uint32_t bytes)
{
    if (FT_UNLIKELY(!ft_homelog_now.on ||
                    /* uncounted: it is called again before the image's safepoint, out of the order
                     * of the log */
                    ft_uncounted))
        return NULL;
    struct ft_act *a = FT_UNLIKELY(ft_homelog_now.broken) ? NULL : ft_log_begin(&g.log, bytes);
    if (FT_UNLIKELY(!a)) {
        broken(FT_WHOLE_OWN, ft_log_refused());
        return NULL;
    }
    a->call = ft_calls;
    a->kind = (uint8_t)kind;
    a->win = win;
    a->where = where;
    a->off = off;
    return a;
}

void ft_homelog_publish(struct ft_act *a)
{
    ft_failpoint(LOG_EVENT);
    ft_log_publish(&g.log, a);
    note_reached(a);
    ft_failpoint(LOG_EVENT_DONE);
    if (FT_UNLIKELY(kept()))
        atomic_fetch_add_explicit(&ft_whole.testament->events, 1, memory_order_relaxed);
}

void ft_homelog_note(enum ft_act_kind kind, uint32_t win, int where, uint64_t off, const void *data,
                     uint32_t bytes)
{
    struct ft_act *a = ft_homelog_begin(kind, win, where, off, bytes);
    if (!a)
        return;
    /* the closing note of a single target whose puts share one lo (rma/putlog.c): a function call
     * takes longer than this copy */
    if (bytes == 40)
        memcpy(a->data, data, 40);
    else if (bytes == 8) /* a get of one word */
        memcpy(a->data, data, 8);
    else if (bytes >= FT_COPY_PAST_FROM)
        ft_copy_past(a->data, data, bytes);
    else if (bytes)
        memcpy(a->data, data, bytes);
    ft_homelog_publish(a);
}

void ft_homelog_reached(uint64_t call)
{
    if (call <= g.reached)
        return;
    struct ft_act *a = ft_homelog_begin(FT_ACT_REACHED, 0, 0, call, 0);
    if (a)
        ft_homelog_publish(a);
}

/* --- replay --- */

void ft_homelog_read(enum ft_segment seg, const struct ft_log_place *from)
{
    struct ft_log_place start = {0, 0, 0};
    struct ft_log_reader r;
    struct ft_act *a;
    g.n = g.next = 0;
    if (g.cap_last)
        memset(g.last, 0, g.cap_last * sizeof *g.last);
    g.nlast = 0;
    g.fetched_bytes = g.nwild = g.ncancelled = g.reached = 0;
    g.seg = seg;
    if (!g.head)
        return;
    struct ft_log_hdr *hdr = &g.head->seg[seg];
    int lost = ft_homelog_now.missing && seg == FT_SEG_RUN; /* the place is of what is not here */
    if (lost || !ft_log_read_from(&r, g.base, hdr, from ? *from : start)) {
        ft_log_init(&g.log, &g.mem, hdr, from ? from->seq : 0);
        return;
    }
    while ((a = ft_log_read(&r)))
        take_in(a);
    index_wildcards();
    ft_log_resume(&g.log, &g.mem, hdr, g.base, &r);
}

int ft_homelog_at_end(void)
{
    while (g.next < g.n &&
           (g.act[g.next]->kind == FT_ACT_WILD ||
            (g.act[g.next]->kind == FT_ACT_REACHED && g.act[g.next]->off <= ft_calls)))
        g.next++;
    return g.next == g.n;
}

const struct ft_act *ft_homelog_next(void) { return ft_homelog_at_end() ? NULL : g.act[g.next]; }

const struct ft_act *ft_homelog_advance_due(void)
{
    if (ft_homelog_at_end())
        return NULL;
    const struct ft_act *a = g.act[g.next];
    if (FT_LIKELY(a->kind != FT_ACT_ADVANCE || a->call > ft_calls))
        return NULL;
    if (a->call < ft_calls)
        ft_replay_diverged(a, FT_ACT_ADVANCE, a->win, a->where, a->off, NULL);
    return a;
}

void ft_homelog_advance_passed(void) { g.next++; }

static void nothing_started(void) { ft_replay_diverged(g.act[g.next], FT_ACT_NONE, 0, 0, 0, NULL); }

const struct ft_act *ft_homelog_expect(enum ft_act_kind kind, uint32_t win, int where, uint64_t off,
                                       int64_t bytes)
{
    ft_replay_settle();
    if (ft_homelog_at_end())
        return NULL;
    const struct ft_act *a = g.act[g.next];
    if (a->call != ft_calls || a->kind != kind || a->win != win || a->where != where ||
        a->off != off || (bytes >= 0 && a->bytes != (uint64_t)bytes)) {
        struct ft_mismatch mismatch = {0};
        if (bytes >= 0 && a->kind == kind)
            ft_mismatch_number(&mismatch, "bytes", bytes, a->bytes);
        ft_replay_diverged(a, kind, win, where, off, &mismatch);
    }
    g.next++;
    return a;
}

const struct ft_act *ft_homelog_outcome(int *end)
{
    ft_replay_settle();
    *end = ft_homelog_at_end();
    if (*end || g.act[g.next]->call > ft_calls)
        return NULL;
    const struct ft_act *a = g.act[g.next];
    if (a->call != ft_calls || a->kind != FT_ACT_OUTCOME)
        ft_replay_diverged(a, FT_ACT_OUTCOME, 0, 0, 0, NULL);
    g.next++;
    return a;
}

void ft_homelog_discard(void)
{
    FT_ASSERT(g.next > 0);
    struct ft_act *a = g.act[g.next - 1];
    /* Only the very last action can be undone: nothing followed it in the lost process. */
    if (!ft_homelog_at_end())
        ft_replay_diverged(a, FT_ACT_ATOMIC, a->win, a->where, a->off, NULL);
    /* [It stays, f' does the operation again and is lost: the next replacement is given the result
     * of the undone one.] */
    if (g.act[g.n - 1] != a || !ft_log_take_back(&g.log)) {
        ft_homelog_incomplete(FT_UNKEPT_UNDONE);
        return;
    }
    g.n = --g.next;
    g.reached = 0; /* that action may have been the one */
    if (kept())
        atomic_fetch_sub_explicit(&ft_whole.testament->events, 1, memory_order_relaxed);
}

int ft_homelog_wild(uint64_t n)
{
    return n - g.first_wild < g.nwild ? g.wild[n - g.first_wild] - 1 : -1;
}

int ft_homelog_cancelled(uint64_t call, uint64_t nth)
{
    for (size_t i = g.next; g.ncancelled > 0 && i < g.n; i++) {
        const struct ft_act *a = g.act[i];
        if (a->kind == FT_ACT_OUTCOME && a->where == FT_ACT_CANCELLED && a->off == call &&
            a->count == nth)
            return 1;
    }
    return 0;
}

int ft_homelog_closed_ahead(uint32_t win, int target)
{
    struct last *l = last_of(win, target, 0), *all = last_of(win, -1, 0);
    return (l && l->close > g.next) || (all && all->close > g.next);
}

int ft_homelog_locked_ahead(uint32_t win, int target)
{
    struct last *l = last_of(win, target, 0);
    return l && l->lock > g.next;
}

uint64_t ft_homelog_last_stamp(void) { return g.last_stamp; }

const struct ft_act *ft_homelog_own(size_t *i)
{
    while (*i < g.n) {
        const struct ft_act *a = g.act[(*i)++];
        if (a->kind == FT_ACT_ATOMIC && (a->flags & FT_ACT_SELF) && (a->flags & FT_ACT_LEFT))
            return a;
    }
    return NULL;
}

void ft_homelog_replay_over(void)
{
    g.n = g.next = 0;
    g.nwild = g.ncancelled = 0;
    g.nlast = 0;
    if (g.cap_last)
        memset(g.last, 0, g.cap_last * sizeof *g.last);
}

size_t ft_homelog_fetched(uint64_t *bytes)
{
    *bytes = g.fetched_bytes;
    return g.n;
}
