/* SPDX-License-Identifier: BSD-3-Clause
 *
 * progress.c - frames come and go, and new generations are adopted. What may be sent again is
 * decided by src/proto/txn.h alone.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/fds.h"
#include "base/near.h"
#include "ftt/progress.h"
#include "runtime/carriers.h"

/* --- others' memory --- */

void ft_peer_map(struct ft_endpoint *e, int rank)
{
    struct ft_peer *p = &e->peer[rank];
    const struct ft_board_slot *s = &ft_transport->board->slot[p->slot];
    if (!p->base) {
        int fd = ft_board_open_arena(s, 2 /* O_RDWR */);
        if (fd < 0)
            return; /* it has gone; a new generation will say who comes next */
        void *at = mmap(NULL, ft_transport->own->bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_NORESERVE, fd, 0);
        ft_fd_close(fd);
        if (at == MAP_FAILED)
            return;
        madvise(at, ft_transport->own->bytes, MADV_DONTFORK);
        p->base = at;
        p->pid = atomic_load(&s->pid);
    }
    if (!(p->dock = ft_dock_of(p->base)))
        return; /* it has not come to FTT_Open yet */
    if (p->dock->tables_at)
        p->tables = (struct ft_tables *)(void *)((char *)p->dock + p->dock->tables_at);
    p->taken = ft_dock_taken(p->dock, ft_transport->self);
    p->in = ft_dock_lane(p->dock, ft_transport->self);
}

static void unmap(struct ft_peer *p)
{
    if (p->base)
        munmap(p->base, ft_transport->own->bytes);
    p->base = NULL;
    p->dock = NULL;
    p->tables = NULL;
    p->in = NULL;
    p->taken = NULL;
}

void ft_peer_is(struct ft_endpoint *e, int rank)
{
    struct ft_peer *p = &e->peer[rank];
    unmap(p);
    p->slot = e->slot[rank];
    p->far = !ft_board_near(ft_transport->board, p->slot);
    p->out = ft_dock_lane(e->dock, p->slot);
    p->read = p->said = p->seen = 0;
    p->written = (struct ft_lane_at){0, 0};
}

/* --- out --- */

static struct ft_parcel *body(const struct ft_txn_frame *f)
{
    return (struct ft_parcel *)(uintptr_t)f->body;
}

/* 0: no room */
static int write_frame(struct ft_endpoint *e, int to, const struct ft_txn_frame *f)
{
    struct ft_peer *p = &e->peer[to];
    const void *data = NULL;
    struct ft_lane_record head = {.generation = f->generation,
                                  .number = f->number,
                                  .kind = (uint8_t)f->kind,
                                  .item = (uint8_t)f->item,
                                  .asks = f->asks != 0,
                                  .id = f->id};
    if (f->kind == FT_TXN_FRAME_ITEM) {
        data = body(f)->data;
        head.bytes = body(f)->bytes;
        head.urgent = body(f)->ack;
        head.acks = p->ack;
    }
    if (head.acks || f->kind == FT_TXN_FRAME_ACK)
        ft_failpoint(FTT_ACK);
    else if (f->kind == FT_TXN_FRAME_RESUME)
        ft_failpoint(FTT_RESUME);
    if (!ft_lane_write(p->out, &p->written, p->seen, &head, data)) {
        p->seen = p->taken ? atomic_load_explicit(p->taken, memory_order_acquire) : 0;
        if (!ft_lane_write(p->out, &p->written, p->seen, &head, data))
            return 0;
    }
    if (head.acks)
        p->ack = 0;
    ft_failpoint(FTT_SENT);
    p->rang = 1;
    return 1;
}

/* An acknowledgement that waits is replaced by a later one. */
static void defer(struct ft_endpoint *e, struct ft_peer *p, const struct ft_txn_frame *f)
{
    for (struct ft_pending *q = p->first; f->kind == FT_TXN_FRAME_ACK && q; q = q->next)
        if (q->frame.kind == FT_TXN_FRAME_ACK) {
            q->frame = *f;
            return;
        }
    struct ft_pending *q = ft_small_get(e);
    q->frame = *f;
    if (p->first)
        p->last->next = q;
    else
        p->first = q;
    p->last = q;
}

static int write_deferred(struct ft_endpoint *e, int to)
{
    struct ft_peer *p = &e->peer[to];
    int some = 0;
    while (p->first && write_frame(e, to, &p->first->frame)) {
        struct ft_pending *q = p->first;
        p->first = q->next;
        ft_small_put(e, q);
        some = 1;
    }
    return some;
}

static void try_backlog(struct ft_endpoint *e)
{
    while (e->backlog) {
        struct ft_parcel *b = e->backlog;
        uint64_t id = b->id;
        enum ft_txn_status st = ft_txn_send(e->txn, (enum ft_txn_kind)b->kind, b->to,
                                            (uint64_t)(uintptr_t)b, 1, b->incarnation, &id);
        if (st == FT_TXN_FULL)
            return;
        e->backlog = b->next;
        b->id = id;
        if (b->kind == FT_TXN_HEADER) {
            b->next = e->headers[id % 256];
            e->headers[id % 256] = b;
        }
        if (st == FT_TXN_REPLACED)
            ft_item_gone(e, b);
    }
}

int ft_item_send(struct ft_endpoint *e, struct ft_parcel *b, int not_full)
{
    if (!not_full && (e->backlog || ft_txn_outstanding(e->txn) >= e->room))
        return 0;
    b->next = NULL;
    if (e->backlog)
        e->backlog_last->next = b;
    else
        e->backlog = b;
    e->backlog_last = b;
    try_backlog(e);
    ft_failpoint(FTT_SEND);
    return 1;
}

/* The acknowledgement that waits for a frame to this peer goes alone. */
static void send_ack(struct ft_endpoint *e, int to)
{
    struct ft_peer *p = &e->peer[to];
    struct ft_txn_frame f = {
        .kind = FT_TXN_FRAME_ACK, .generation = e->generation, .number = p->ack};
    p->urgent = 0;
    if (p->ack && (p->first || !write_frame(e, to, &f)))
        defer(e, p, &f);
    p->ack = 0;
}

static void ring_those(struct ft_endpoint *e)
{
    int fenced = 0;
    for (int i = 0; i < e->n; i++) {
        struct ft_peer *p = &e->peer[i];
        if (!p->rang)
            continue;
        p->rang = 0;
        if (!p->dock)
            ft_peer_map(e, i);
        if (p->far && p->base)
            ft_tp_shm_ring_ctl((struct ft_ctl *)(void *)p->base); /* the gateway */
        if (p->far || !p->dock)
            continue; /* it looks when it opens */
        if (!fenced++)
            atomic_thread_fence(memory_order_seq_cst); /* either it sees the frame, or we see it sleep */
        ft_dock_ring(p->dock);
    }
}

void ft_progress_acks(struct ft_endpoint *e)
{
    if (!e->acks)
        return;
    e->acks = 0;
    for (int i = 0; i < e->n; i++)
        send_ack(e, i);
    ring_those(e);
}

void ft_progress_out(struct ft_endpoint *e)
{
    struct ft_txn_action a;
    if (e->backlog)
        try_backlog(e);
    while (ft_txn_next(e->txn, &a)) {
        struct ft_peer *p = &e->peer[a.peer];
        switch (a.kind) {
        case FT_TXN_SEND:
            if (a.frame.kind == FT_TXN_FRAME_ACK) {
                p->ack = a.frame.number;
                e->acks = 1;
            } else if (p->first || !write_frame(e, a.peer, &a.frame))
                defer(e, p, &a.frame);
            if (FT_UNLIKELY(p->urgent))
                send_ack(e, a.peer);
            break;
        case FT_TXN_ACKED: ft_item_acked(e, (struct ft_parcel *)(uintptr_t)a.body); break;
        case FT_TXN_GONE: ft_item_gone(e, (struct ft_parcel *)(uintptr_t)a.body); break;
        }
        if (e->backlog)
            try_backlog(e);
    }
    ring_those(e);
}

/* --- generations --- */

static void drop_deferred(struct ft_endpoint *e, struct ft_peer *p)
{
    while (p->first) {
        struct ft_pending *q = p->first;
        p->first = q->next;
        ft_small_put(e, q);
    }
    p->ack = 0;
    p->urgent = 0;
}

/* This incarnation of rank is dead, and all before it. */
static void pings_due(struct ft_endpoint *e, int rank, uint32_t incarnation)
{
    for (struct ft_pinger **at = &e->pings, *p; (p = *at);) {
        if (p->rank == rank && p->incarnation <= incarnation) {
            *at = p->next;
            p->next = e->due;
            e->due = p;
        } else {
            at = &p->next;
        }
    }
}

static void replaced(struct ft_endpoint *e, int rank)
{
    ft_peer_is(e, rank);
    ft_event_new(e, FTT_EV_FAILURE, rank, 0);
    pings_due(e, rank, e->incarnation[rank] - 1);
    for (struct ft_waiting **at = &e->waiting, *w; (w = *at);) {
        if (w->from == rank) {
            *at = w->next;
            ft_small_put(e, w);
        } else {
            at = &w->next;
        }
    }
}

static void adopt(struct ft_endpoint *e)
{
    uint32_t heard = atomic_load(&e->news), *old = e->scratch;
    memcpy(old, e->incarnation, (size_t)e->n * 4);
    uint32_t generation = ft_carriers_now(e->slot, e->incarnation, e->dead, ft_endpoint_news);
    e->heard = heard;
    for (int i = 0; e->pings && i < e->n; i++)
        if (e->dead[i])
            pings_due(e, i, e->incarnation[i]);
    if (generation == e->generation)
        return;
    ft_failpoint(FTT_ADOPT);
    e->generation = generation;
    for (int i = 0; i < e->n; i++) {
        drop_deferred(e, &e->peer[i]); /* their generation is over */
        if (old[i] != e->incarnation[i])
            replaced(e, i);
    }
    ft_txn_generation(e->txn, generation, e->incarnation);
    ft_rounds_generation(e->rounds, generation, e->incarnation);
    ft_failpoint(FTT_ADOPTED);
}

/* --- in --- */

static struct ft_txn_frame frame_of(const struct ft_lane_record *r)
{
    return (struct ft_txn_frame){.kind = r->kind,
                                 .item = r->item,
                                 .generation = r->generation,
                                 .asks = r->asks,
                                 .number = r->number,
                                 .id = r->id};
}

static int read_from(struct ft_endpoint *e, int from)
{
    struct ft_peer *p = &e->peer[from];
    struct ft_lane_record *r;
    int some = 0;
    if (!p->in)
        ft_peer_map(e, from);
    if (!p->in)
        return 0;
    /* The next record is not looked at when there is something for the program: its line is not
     * here. */
    uint64_t told = e->told;
    while (e->told == told && some < 256 && (r = ft_lane_read(p->in, &p->read))) {
        struct ft_txn_frame f = frame_of(r);
        uint64_t next = p->read + ft_lane_bytes(r->bytes);
        __builtin_prefetch(ft_lane_at(p->in, next));
        if (r->acks)
            (void)ft_txn_frame(e->txn, from,
                               &(struct ft_txn_frame){.kind = FT_TXN_FRAME_ACK,
                                                      .generation = f.generation,
                                                      .number = r->acks});
        p->urgent |= r->urgent && f.generation == e->generation;
        if (ft_txn_frame(e->txn, from, &f)) {
            ft_failpoint(FTT_CAME);
            ft_deliver(e, from, &f, r->data, r->bytes);
        }
        p->read = next;
        some++;
    }
    if (p->said != p->read) {
        p->said = p->read;
        atomic_store_explicit(ft_dock_taken(e->dock, p->slot), p->read, memory_order_release);
    }
    return some;
}

/* [Whoever opens its endpoint and writes at once sees this process awake, and does not ring it: so
 * its arena is looked for here, too.] */
int ft_progress_idle(struct ft_endpoint *e)
{
    if (atomic_load(&e->news) != e->heard)
        return 0;
    for (int i = 0; i < e->n; i++) {
        struct ft_peer *p = &e->peer[i];
        uint64_t at = p->read;
        if (!p->in)
            ft_peer_map(e, i);
        if (p->first || (p->in && ft_lane_read(p->in, &at)))
            return 0;
    }
    return 1;
}

int ft_progress(struct ft_endpoint *e)
{
    int some = 0;
    if (FT_UNLIKELY(!ft_generation_is_newest(e))) {
        adopt(e);
        some = 1;
    }
    for (int i = 0; i < e->n; i++) {
        some += read_from(e, i);
        if (FT_UNLIKELY(e->peer[i].first != NULL))
            some += write_deferred(e, i);
    }
    if (some || e->backlog)
        ft_progress_out(e);
    return some;
}

/* --- waiting --- */

static void nap(struct ft_endpoint *e, int ms)
{
    uint32_t heard = atomic_load(&e->dock->bell[FT_BELL_PROGRAM]);
    struct timespec limit = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000l};
    atomic_fetch_or(&e->dock->sleeps, 1u << FT_BELL_PROGRAM);
    atomic_thread_fence(memory_order_seq_cst);
    if (ft_progress_idle(e)) {
        ft_endpoint_unlock(e);
        syscall(SYS_futex, &e->dock->bell[FT_BELL_PROGRAM], FUTEX_WAIT, heard, &limit, NULL, 0);
        ft_endpoint_lock(e);
    }
    atomic_fetch_and(&e->dock->sleeps, ~(1u << FT_BELL_PROGRAM));
}

#define BRISK 64 /* calls after which the helper thread looks by itself */

/* Somebody here looks at what comes, so nobody else has to be woken. */
static void look_begin(struct ft_endpoint *e)
{
    e->counted++;
    if (e->pollers++ == 0 && !e->brisk)
        atomic_store_explicit(&e->dock->sleeps, 0, memory_order_relaxed);
}

static void look_end(struct ft_endpoint *e)
{
    if (--e->pollers > 0 || e->brisk)
        return;
    ft_progress_acks(e);
    if (!e->helper_on)
        return;
    if (++e->calls >= BRISK) {
        e->brisk = 1;
        ft_wake(e->dock, FT_BELL_HELPER);
        return;
    }
    atomic_store_explicit(&e->dock->sleeps, 1u << FT_BELL_HELPER, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    if (!ft_progress_idle(e))
        ft_wake(e->dock, FT_BELL_HELPER);
}

static void call_due(struct ft_endpoint *e)
{
    while (e->due) {
        struct ft_pinger p = *e->due;
        void *of = e->due;
        e->due = p.next;
        ft_small_put(e, of);
        ft_endpoint_unlock(e);
        p.fn(p.arg, p.rank, p.incarnation);
        ft_endpoint_lock(e);
    }
}

/* main leaves ft_endpoint_wait, and the one in which a callback of a ping called that */
struct looker {
    struct ft_endpoint *e;
    struct ft_wanting *f;
    struct ft_holder outer;
};
static void leave(void *of)
{
    struct looker *l = of;
    ft_endpoint_lock(l->e);
    look_end(l->e);
    if (l->f)
        ft_wanting_left(l->e, l->f);
    ft_endpoint_unlock(l->e);
    if (l->outer.left)
        l->outer.left(l->outer.of);
}

#define YIELDS 100
/* ms of a sleep: what it waits for rings, but messages of MPI do not */
#define LONGEST 1000
#define BRIEF 1

int ft_endpoint_wait(struct ft_endpoint *e, struct ft_wanting *f, int ms)
{
    uint64_t end = ms > 0 ? ft_now_ns() + (uint64_t)ms * 1000000ull : 0;
    uint32_t polls = 0, most = e->spin;
    int came = 0;
    struct looker here = {.e = e, .f = f};
    look_begin(e);
    here.outer = ft_carriers_holds((struct ft_holder){leave, &here});
    for (;;) {
        int some = ft_progress(e);
        if (!some)
            ft_progress_acks(e);
        if (some && e->pollers > 1)
            ft_wake(e->dock, FT_BELL_PROGRAM); /* it may be for another thread */
        if (!f && e->due)
            call_due(e);
        came = f ? f->done : e->events != NULL;
        if (came || ms == 0)
            break;
        polls = some ? 0 : polls + 1;
        if (polls <= most && (polls & 255))
            continue;
        uint64_t now = ms > 0 ? ft_now_ns() : 0;
        if (ms > 0 && now >= end)
            break;
        ft_endpoint_unlock(e);
        uint64_t longest = ft_carriers_go_on() ? BRIEF : LONGEST;
        if (polls > most)
            sched_yield();
        ft_endpoint_lock(e);
        if (polls > most + YIELDS) {
            uint64_t rest = ms > 0 ? (end - now) / 1000000 + 1 : longest;
            nap(e, (int)ft_min_u64(rest, longest));
            polls = most;
        }
    }
    ft_carriers_holds(here.outer);
    look_end(e);
    return came;
}
