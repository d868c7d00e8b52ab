/* SPDX-License-Identifier: BSD-3-Clause
 *
 * replay.c - restores the windows of a replacement: applies others' puts and combining operations,
 * and its own combining ones, in the order of rule R4. Also the one-sided layer's own state in an
 * image.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alog/homelog_replay.h"
#include "base/failpoint.h"
#include "base/near.h"
#include "base/offheap.h"
#include "rma/block.h"
#include "rma/dynamic.h"
#include "rma/far_access.h"
#include "rma/far_log.h"
#include "rma/lock_now.h"
#include "rma/rma_internal.h"

FT_STATE(struct ft_rma_replay, ft_rma_replayed);

struct replayed {
    struct ft_eligible_act *act;
    struct ft_eligible eligible;
    int running;
    uint64_t stamp; /* the largest that any process has seen */
    uint64_t calls; /* calls that the lost process had begun */
    int left_over;  /* ft_far_free_left_over */
};
FT_STATIC(struct replayed, g);
#define g FT_MY(g)

static void add_own(size_t *n)
{
    size_t i = 0, cap = *n;
    const struct ft_act *a;
    while ((a = ft_homelog_own(&i))) {
        if (*n >= cap) {
            cap = cap ? 2 * cap : 64;
            g.act = ft_offheap_realloc(g.act, cap * sizeof *g.act);
            FT_ASSERT(g.act);
        }
        g.act[(*n)++] =
            (struct ft_eligible_act){.lo = a->call,
                                     .stamp = atomic_load_explicit(&a->stamp, memory_order_relaxed),
                                     .serial = i,
                                     .source = ft_rma_me,
                                     .what = a};
        ft_rma_replayed.bytes += a->bytes;
    }
}

/* What happens here from now on comes after all that the others have logged. [f dies before it notes
 * what it did to its own word; f' does it again before it is live. The image's stamps would be too
 * low, and f'' would have it before what the others did.] */
static void raise_stamp(void)
{
    struct ft_ctl *ctl = ft_transport->own->ctl;
    uint64_t t = ft_max_u64(g.stamp, ft_homelog_last_stamp());
    if (atomic_load(&ctl->stamp) < t)
        atomic_store(&ctl->stamp, t);
}

void ft_rma_replay_begin(enum ft_segment seg, uint64_t version, uint64_t covered, uint64_t calls,
                         uint64_t lost_calls)
{
    size_t n = 0;
    uint64_t bytes = 0;
    ft_offheap_free(g.act);
    g.act = NULL;
    ft_rma_replayed.missing = ft_far_log_fetch(seg);
    g.left_over = 0;
    g.act = ft_putlog_gather(ft_transport, ft_rma_nranks, ft_rma_me, ft_rma_slots, seg, version,
                             covered, &n, &bytes);
    ft_rma_replayed.bytes += bytes;
    add_own(&n);
    ft_rma_replayed.fetched += n;
    ft_eligible_begin(&g.eligible, g.act, n, calls);
    g.stamp = ft_max_u64(g.stamp, ft_eligible_last_stamp(&g.eligible));
    /* R9. [f's put to q has landed, f dies before its flush; q polls its window, sees it, and puts
     * what f is to see next, which waits for f' to be live.] */
    g.calls = ft_max_u64(lost_calls, ft_eligible_last_call(&g.eligible));
    g.running = 1;
    raise_stamp();
}

static struct ft_win *window_of(uint32_t id)
{
    for (struct ft_win *w = ft_windows; w; w = w->next)
        if ((uint32_t)w->id == id)
            return w;
    return NULL;
}

/* Others have put to a place where the lost process had room. Called by main or the agent. */
static _Noreturn void out_of_window(const struct ft_win *w, uint64_t end)
{
    ft_give_up(WINDOW_BOUNDS, (unsigned)w->id, ft_rma_me, (unsigned long long)w->bytes,
               (unsigned long long)end);
}

static void apply(const struct ft_eligible_act *r)
{
    const struct ft_act *a = r->what;
    struct ft_win *w = window_of(a->win);
    const char *data = a->data;
    uint32_t bytes = a->bytes;
    /* an own operation: the result, if it was wanted, and lo come first */
    if (a->kind == FT_ACT_ATOMIC) {
        uint32_t each = (bytes - (uint32_t)sizeof(uint64_t)) / (a->flags & FT_ACT_RESULT ? 2 : 1);
        data += bytes - each;
        bytes = each;
    }
    if (!w) /* the window was freed later */
        return;
    if (w->dynamic) {
        if (!ft_is_attached(w, a->off, bytes)) /* the memory was detached later */
            return;
        ft_hole_copy((void *)(uintptr_t)a->off, data, bytes, a->hole);
    } else {
        if (FT_UNLIKELY(a->off > w->bytes || bytes > w->bytes - a->off))
            out_of_window(w, a->off + bytes);
        ft_hole_copy((char *)w->base + a->off, data, bytes, a->hole);
    }
    ft_rma_replayed.applied++;
    ft_failpoint(REPLAY_APPLY);
}

void ft_rma_replay_step(void)
{
    const struct ft_eligible_act *r;
    if (!g.running)
        return;
    while ((r = ft_eligible_next(&g.eligible, ft_calls)))
        apply(r);
}

int ft_rma_replay_passed(void) { return !g.running || ft_calls >= g.calls; }

void ft_rma_replay_drop(void)
{
    ft_offheap_free(g.act);
    g.act = NULL;
    ft_far_log_drop();
    ft_rma_replayed.missing = 0;
    g.running = 0;
}

/* Learns ACC(r -> me) as the others count it; the copy here was lost with the process. [r combines
 * here, f dies, r dies before it has anything to do with f' and f's copy: r' finds its operation
 * undone, and does it again.] */
static void hear_counts(void)
{
    for (int r = 0; r < ft_rma_nranks; r++) {
        const struct ft_ctl *ctl = r == ft_rma_me ? NULL : ft_far_log_ctl(r);
        if (ctl)
            atomic_store(
                &ft_transport->own->ctl->peer[r].acc,
                atomic_load_explicit(&ctl->peer[ft_rma_me].acc_mine, memory_order_acquire));
    }
}

int ft_rma_replay_free_left_over(void)
{
    return !ft_transport->board->nodes.n || ft_far_free_left_over(&g.left_over);
}

void ft_rma_replay_live(void)
{
    FT_ASSERT(!g.running || !ft_eligible_next(&g.eligible, UINT64_MAX)); /* ft_rma_replay_passed */
    for (struct ft_win *w = ft_windows; w; w = w->next) {
        ft_rebuild_locks(w);
        ft_free_left_over(w);
    }
    hear_counts();
    raise_stamp();
    g.running = 0;
}

/* --- in an image --- */

struct saved_head {
    uint64_t stamp, windows, made_outside;
};
/* After that [nranks] counts follow; then for each window its id, lock_all, what is held at each
 * target, and what is attached; then memory of MPI_Alloc_mem. */
struct saved_win {
    uint64_t id;
    uint32_t lock_all, size;
    uint64_t attached_bytes;
};

static int count_windows(void)
{
    int n = 0;
    for (const struct ft_win *w = ft_windows; w; w = w->next)
        n++;
    return n;
}

size_t ft_rma_state_bytes(void)
{
    size_t n = sizeof(struct saved_head) + (size_t)ft_rma_nranks * sizeof(uint64_t);
    for (const struct ft_win *w = ft_windows; w; w = w->next)
        n +=
            sizeof(struct saved_win) + ft_align_up((uint64_t)w->ctx.size, 8) + ft_attached_bytes(w);
    return n + ft_mem_state_bytes();
}

void ft_rma_state_save(char *out)
{
    struct saved_head head = {.stamp = atomic_load(&ft_transport->own->ctl->stamp),
                              .windows = (uint64_t)count_windows(),
                              .made_outside = ft_rma_made_outside};
    memcpy(out, &head, sizeof head);
    out += sizeof head;
    for (int r = 0; r < ft_rma_nranks; r++, out += sizeof(uint64_t)) {
        uint64_t n = ft_acc(r);
        memcpy(out, &n, sizeof n);
    }
    for (const struct ft_win *w = ft_windows; w; w = w->next) {
        struct saved_win s = {.id = w->id,
                              .lock_all = (uint32_t)w->lock_all,
                              .size = (uint32_t)w->ctx.size,
                              .attached_bytes = ft_attached_bytes(w)};
        memcpy(out, &s, sizeof s);
        out += sizeof s;
        memset(out, 0, ft_align_up((uint64_t)w->ctx.size, 8));
        for (int t = 0; t < w->ctx.size; t++)
            out[t] = (char)w->part[t].held;
        out += ft_align_up((uint64_t)w->ctx.size, 8);
        ft_attached_save(w, out);
        out += s.attached_bytes;
    }
    ft_mem_state_save(out);
}

uint64_t ft_rma_state_stamp(const char *saved)
{
    uint64_t stamp;
    memcpy(&stamp, saved, sizeof stamp);
    return stamp;
}

/* Writes ACC(me -> rank) at each living target, zeros too: a rollback takes them back. */
static void tell_counts(int zeros)
{
    for (int r = 0; r < ft_rma_nranks; r++) {
        if (!ft_board_near(ft_transport->board, ft_rma_slots[r])) {
            if (zeros) /* else the count there is the same: it comes with each operation */
                ft_far_tell_count(r, ft_acc(r));
            continue;
        }
        struct ft_ctl *ctl = r != ft_rma_me && (zeros || ft_acc(r))
                                 ? ft_tp_ctl(ft_transport, ft_rma_slots[r])
                                 : NULL;
        if (ctl &&
            atomic_load_explicit(&ctl->peer[ft_rma_me].acc, memory_order_relaxed) != ft_acc(r))
            atomic_store_explicit(&ctl->peer[ft_rma_me].acc, ft_acc(r), memory_order_release);
    }
}

void ft_rma_tell_counts(void) { tell_counts(1); }

void ft_rma_state_counts(const char *saved, int tell)
{
    uint64_t stamp = ft_rma_state_stamp(saved);
    g.stamp = ft_max_u64(g.stamp, stamp);
    struct ft_ctl *ctl = ft_transport->own->ctl;
    if (atomic_load(&ctl->stamp) < stamp)
        atomic_store(&ctl->stamp, stamp);
    for (int r = 0; r < ft_rma_nranks; r++) {
        uint64_t n;
        memcpy(&n, saved + sizeof(struct saved_head) + (size_t)r * sizeof n, sizeof n);
        ft_set_acc(r, n);
    }
    if (tell)
        tell_counts(1);
}

/* The saved windows, one after the other. */
struct saved_walk {
    const char *at; /* after the last one that next_saved has given */
    uint64_t left;
    struct saved_win win;
    const char *held, *attached; /* what is saved of it after its head */
};

static struct saved_walk walk_of(const char *saved)
{
    struct saved_head head;
    memcpy(&head, saved, sizeof head);
    return (struct saved_walk){.at = saved + sizeof head + (size_t)ft_rma_nranks * sizeof(uint64_t),
                         .left = head.windows};
}

/* 0: there is no other one. */
static int next_saved(struct saved_walk *x)
{
    if (x->left == 0)
        return 0;
    x->left--;
    memcpy(&x->win, x->at, sizeof x->win);
    x->held = x->at + sizeof x->win;
    x->attached = x->held + ft_align_up(x->win.size, 8);
    x->at = x->attached + x->win.attached_bytes;
    return 1;
}

/* Returns what is saved after the windows; their ids (each at most once) are in an array of
 * ft_offheap_alloc. */
static const char *saved_ids(const char *saved, uint64_t *n, uint64_t **id)
{
    struct saved_walk x = walk_of(saved);
    *n = x.left;
    *id = ft_offheap_alloc((*n + 1) * sizeof **id);
    for (uint64_t i = 0; next_saved(&x); i++)
        (*id)[i] = x.win.id;
    return x.at;
}

static const char *saved_blocks(const char *saved)
{
    uint64_t n, *id;
    saved = saved_ids(saved, &n, &id);
    ft_offheap_free(id);
    return saved;
}

uint64_t ft_rma_state_made_outside(const char *saved)
{
    struct saved_head head;
    memcpy(&head, saved, sizeof head);
    return head.made_outside;
}

void ft_rma_state_windows(const char *saved)
{
    uint64_t n, *id;
    saved_ids(saved, &n, &id);
    ft_rma_at_cut(id, n);
    ft_offheap_free(id);
}

int ft_rma_state_missing(const char *saved)
{
    struct saved_walk x = walk_of(saved);
    int missing = 0;
    while (next_saved(&x))
        missing += !window_of((uint32_t)x.win.id);
    return missing;
}

void ft_rma_state_drop_freed(const char *saved)
{
    uint64_t n, *id;
    saved_ids(saved, &n, &id);
    for (struct ft_win *w = ft_windows, *next; w; w = next) {
        uint64_t i = 0;
        next = w->next;
        while (i < n && id[i] != w->id)
            i++;
        if (i == n)
            ft_win_dispose(w);
    }
    ft_offheap_free(id);
    ft_rma_at_cut(NULL, 0);
}

enum ft_status ft_rma_state_blocks(const char *saved, uint64_t *want)
{
    return ft_mem_state_load(saved_blocks(saved), want);
}

void ft_rma_state_settle(const char *saved) { ft_mem_state_settle(saved_blocks(saved)); }

enum ft_status ft_rma_state_memory(const char *saved)
{
    struct saved_walk x = walk_of(saved);
    enum ft_status st = FT_OK;
    while (st == FT_OK && next_saved(&x)) {
        struct ft_win *w = window_of((uint32_t)x.win.id);
        if (w && w->dynamic)
            st = ft_attached_restore(w, x.attached,
                                     x.win.attached_bytes / (2 * sizeof(uint64_t)));
    }
    return st;
}

const char *ft_saved_held(const char *saved, uint64_t id)
{
    struct saved_walk x = walk_of(saved);
    while (next_saved(&x))
        if (x.win.id == id)
            return x.held;
    return NULL;
}

void ft_rma_state_locks(const char *saved)
{
    struct saved_walk x = walk_of(saved);
    while (next_saved(&x)) {
        struct ft_win *w = window_of((uint32_t)x.win.id);
        if (!w)
            continue;
        for (uint32_t t = 0; t < x.win.size; t++)
            ft_set_held(w, (int)t, x.held[t]);
        w->lock_all = (int)x.win.lock_all;
        if (w->part[w->ctx.rank].held == FT_HELD_SHARED) { /* the own words are new */
            struct ft_win_locks *l = ft_arena_ptr(ft_transport->own, w->locks_off);
            atomic_store(&l->shared[w->ctx.rank], 1);
        }
    }
}

int ft_rma_epochs_open(void)
{
    int n = 0;
    for (const struct ft_win *w = ft_windows; w; w = w->next)
        n += w->ndirty > 0;
    return n;
}

/* Releases the critical sections of the windows' parts from the first up to `end`, which is not
 * included. */
static void release_up_to(const struct ft_win *end)
{
    for (const struct ft_win *w = ft_windows; w != end; w = w->next)
        atomic_store_explicit(
            &((struct ft_win_locks *)ft_arena_ptr(ft_transport->own, w->locks_off))->crit, 0,
            memory_order_release);
}

static const struct ft_win *first_held_by_another(void)
{
    for (const struct ft_win *w = ft_windows; w; w = w->next) {
        struct ft_win_locks *l = ft_arena_ptr(ft_transport->own, w->locks_off);
        uint64_t free = 0;
        if (!atomic_compare_exchange_strong_explicit(&l->crit, &free,
                                                     (uint64_t)ft_transport->self + 1,
                                                     memory_order_acquire, memory_order_relaxed))
            return w;
    }
    return NULL;
}

void ft_rma_hold(void)
{
    struct ft_waiter waiter = FT_WAITER_UNRUNG;
    const struct ft_win *busy;
    while ((busy = first_held_by_another())) {
        release_up_to(busy); /* a wait may be left by longjmp */
        ft_wait(&waiter);    /* the agent evicts a holder that died */
    }
    ft_wait_end(&waiter);
}

void ft_rma_release(void) { release_up_to(NULL); }

void ft_rma_settle(void)
{
    ft_rma_hold();
    ft_rma_release();
    tell_counts(0);
}

void ft_rma_cut(uint64_t version)
{
    if (ft_rma_epochs_open()) /* the flush that follows will find nothing to close (L6) */
        ft_whole_own_cut(version);
    for (struct ft_win *w = ft_windows; w; w = w->next) {
        int left = 0;
        ft_far_stamp_at_cut(w);
        for (int i = 0; i < w->ndirty; i++) {
            int t = w->dirty[i], rank = w->ctx.world[t];
            /* the one that carries it now: the one that was put to may be gone, with its memory */
            struct ft_ctl *ctl =
                w->part[t].known ? w->part[t].ctl : ft_tp_ctl(ft_transport, ft_rma_slots[rank]);
            if (ctl)
                ft_putlog_stamp(rank, (uint32_t)w->id, &ctl->stamp);
            else /* it is lost, and the checkpoint is called off */
                w->dirty[left++] = t;
            w->part[t].dirty = !ctl;
        }
        w->ndirty = left;
        w->asked_far = 0; /* all is answered: ft_rma_settle_far */
    }
    tell_counts(0);
    ft_block_cut(version);
    ft_putlog_cut(version);
}
