/* SPDX-License-Identifier: BSD-3-Clause
 *
 * msg.c - sends, receives, probes, requests.
 */
#include "msg/msg.h"

#include <stdlib.h>
#include <string.h>

#include "alog/homelog_replay.h"
#include "base/failpoint.h"
#include "msg/msg_internal.h"
#include "msg/posted.h"
#include "msg/wild.h"
#include "transport/wait.h"

FT_STATE(struct ft_msg, ft_m);
FT_STATE(int64_t, ft_msg_active);

void ft_reqlist_add(struct ft_reqlist *l, struct ft_req *r)
{
    r->next = NULL;
    r->prev = l->tail;
    if (l->tail)
        l->tail->next = r;
    else
        l->head = r;
    l->tail = r;
}

void ft_reqlist_remove(struct ft_reqlist *l, struct ft_req *r)
{
    if (r->prev)
        r->prev->next = r->next;
    else
        l->head = r->next;
    if (r->next)
        r->next->prev = r->prev;
    else
        l->tail = r->prev;
    r->next = r->prev = NULL;
}

static struct ft_reqlist *list_of(const struct ft_req *req)
{
    return req->peer == FT_ANY_SOURCE ? &ft_m.any
           : req->tag == FT_ANY_TAG   ? &ft_m.in[req->peer].any_tag
                                      : ft_tagged(req->peer, req->ctx, req->tag);
}

void ft_post(struct ft_req *req)
{
    ft_reqlist_add(list_of(req), req);
    if (req->peer != FT_ANY_SOURCE)
        ft_m.in[req->peer].nposted++;
}

void ft_unpost(struct ft_req *req)
{
    ft_reqlist_remove(list_of(req), req);
    if (req->peer != FT_ANY_SOURCE)
        ft_m.in[req->peer].nposted--;
}

static int try_open(struct ft_chan_writer *w, int dst)
{
    enum ft_status st;
    do
        st = ft_chan_open(w, ft_m.tp, ft_m.in[dst].slot, ft_m.era, ft_msg_keep_now());
    while (st == FT_ERR_NOMEM && ft_msg_room_to_open(sizeof *w->hdr));
    if (st != FT_OK)
        return 0;
    if (ft_m.begin[dst].pos)
        ft_chan_begin_at(w, ft_m.version, &ft_m.begin[dst]);
    atomic_store_explicit(&ft_m.tp->own->ctl->peer[dst].out, w->hdr_off, memory_order_release);
    return 1;
}

static struct ft_chan_writer *open_writer(int dst)
{
    struct ft_chan_writer *w = &ft_m.out[dst];
    struct ft_waiter wait = FT_WAITER_ALONE; /* this may be called by work that is done in waits */
    /* Its carrier is dead and not yet replaced: the new generation brings another slot. */
    while (!try_open(w, dst)) {
        w->hdr = NULL;
        ft_wait(&wait);
        if (w->hdr)
            break;
    }
    ft_wait_end(&wait);
    return w;
}

void ft_msg_open(int dst)
{
    if (!ft_m.out[dst].hdr)
        open_writer(dst);
}

static inline struct ft_chan_writer *writer(int dst)
{
    FT_ASSERT(dst >= 0 && dst < ft_m.nranks);
    struct ft_chan_writer *w = &ft_m.out[dst];
    return FT_LIKELY(w->hdr != NULL) ? w : open_writer(dst);
}

static int sends_queued_for(int dst)
{
    for (struct ft_req *q = ft_m.sends.head; q; q = q->next)
        if (q->peer == dst)
            return 1;
    return 0;
}

static void send_done(struct ft_req *req)
{
    req->status = (struct ft_msg_status){.source = ft_m.myrank, .tag = req->tag, .bytes = req->len};
    req->state = FT_REQ_DONE;
    ft_failpoint(MSG_SEND_AFTER);
}

/* Synchronous sends (M7). If the receiver has released the message's first chunk, the message is
 * matched; otherwise its record says so. A replacement is told by its receivers which messages of
 * the former carriers they had matched. */
static int is_matched(const struct ft_req *q)
{
    const struct ft_rec *rec = q->entry;
    uint64_t snapshot = ft_cut_before();
    const struct ft_ctl *ctl =
        FT_UNLIKELY(snapshot != 0) ? ft_tp_ctl(ft_m.tp, ft_m.in[q->peer].slot) : NULL;
    if (ctl && ft_cut_has_image(ctl, snapshot) &&
        q->sync_seq >=
            atomic_load_explicit(&ctl->peer[ft_m.myrank].snapshot_pos, memory_order_acquire))
        return 0; /* matched after the receiver's image, if at all */
    return ft_chan_released(&ft_m.out[q->peer], ft_m.tp) > q->chunk ||
           atomic_load_explicit(&rec->matched, memory_order_acquire) ||
           (FT_UNLIKELY(ft_m.replacement) && ft_msg_matched_before(q->peer, q->sync_seq));
}

static void sync_done(struct ft_req *q)
{
    ft_reqlist_remove(&ft_m.syncs, q);
    q->entry = NULL;
    send_done(q);
    /* Something was learnt from the receiver: from here on lo (L1) is read again. */
    atomic_store_explicit(&ft_wait_progress,
                          atomic_load_explicit(&ft_wait_progress, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

/* All of the message is in the log. */
static void send_complete(struct ft_req *req)
{
    if (FT_LIKELY(!req->sync && !req->far)) {
        send_done(req);
        return;
    }
    const struct ft_chan_writer *w = &ft_m.out[req->peer];
    req->entry = w->sync;
    req->sync_seq = w->sync_seq;
    req->chunk = w->sync_chunk;
    ft_reqlist_add(&ft_m.syncs, req);
    ft_failpoint(MSG_SYNC_SENT);
    if (is_matched(req))
        sync_done(req);
}

/* From this size on one copy by the kernel, which costs a microsecond or two more, is cheaper than
 * two copies of our own. */
#define FAR ((size_t)16 << 10)

/* Not where there may be snapshots: a message under way over the cut must be in its sender's image
 * (C9). */
int ft_msg_copied_once(size_t len)
{
    return len >= FAR && ft_m.keeps_nothing && ft_level == FT_LOG_OFF && !ft_cut_possible;
}

/* M8: whether the receiver copies from the sender's memory. Only where nothing is kept, so that a
 * death takes everybody back. [The sender dies while its memory is read: what the receiver has of
 * it is never looked at.] */
static int is_far(int dst, size_t len)
{
    return ft_msg_copied_once(len) && dst != ft_m.myrank &&
           ft_tp_reads_far(ft_m.tp, ft_m.in[dst].slot);
}

void ft_msg_absorb(void)
{
    if (!ft_msg_copied_once(FAR))
        return;
    if (atomic_load_explicit(&ft_m.tp->own->ctl->announced, memory_order_acquire) != ft_m.announced)
        ft_reader_adopt();
    for (int i = 0; i < ft_m.nactive && !ft_m.any.head; i++) {
        struct ft_reader *r = &ft_m.in[ft_m.active[i]];
        if (r->nposted) /* a receive may have to wait */
            continue;
        ft_reader_poll(r);
        if (r->head)
            ft_reader_absorb(r);
    }
}

void ft_msg_look_at_syncs(void)
{
    for (struct ft_req *q = ft_m.syncs.head, *next; q; q = next) {
        next = q->next;
        if (is_matched(q))
            sync_done(q);
    }
}

static int append(const struct ft_req *q, struct ft_chan_writer *w, size_t *done, int patience)
{
    if (FT_UNLIKELY(q->far))
        return ft_chan_append_far(w, ft_m.tp, q->ctx, q->tag, q->buf, q->len);
    return FT_LIKELY(!q->sync)
               ? ft_chan_append(w, ft_m.tp, q->ctx, q->tag, q->buf, q->len, done, patience)
               : ft_chan_append_sync(w, ft_m.tp, q->ctx, q->tag, q->buf, q->len, done, patience);
}

static void push_sends(void)
{
    for (struct ft_req *q = ft_m.sends.head, *next; q; q = next) {
        next = q->next;
        int blocked = 0;
        for (struct ft_req *p = ft_m.sends.head; p != q && !blocked; p = p->next)
            blocked = p->peer == q->peer;
        if (blocked)
            continue;
        struct ft_chan_writer *w = writer(q->peer);
        int sent;
        do
            sent = append(q, w, &q->done, 0);
        while (!sent && ft_msg_make_room(w));
        if (sent) {
            ft_reqlist_remove(&ft_m.sends, q);
            send_complete(q);
        }
    }
}

/* The usual case: a short message fits into the log's present chunk. Then nothing about it has to
 * be remembered. Returns 0 if it does not fit; then nothing was done. */
int ft_msg_send_short(uint32_t ctx, int dst, int tag, const void *buf, size_t len)
{
    struct ft_chan_writer *w = &ft_m.out[dst];
    size_t done = 0;
    if (FT_UNLIKELY(ft_replay != FT_LIVE || ft_m.sends.head || !w->hdr) ||
        !ft_chan_has_room(w, len))
        return 0;
    ft_failpoint(MSG_SEND_BEFORE);
    if (FT_LIKELY(!ft_uncounted))
        ft_call_begin(); /* homelog.h: a message counts */
    int sent = ft_chan_append(w, ft_m.tp, ctx, tag, buf, len, &done, 0);
    FT_ASSERT(sent);
    ft_failpoint(MSG_SEND_AFTER);
    return 1;
}

enum how { STANDARD, SYNC, LOGGED };

static inline void start_send(struct ft_req *req, uint32_t ctx, int dst, int tag, const void *buf,
                              size_t len, int patience, enum how how)
{
    ft_failpoint(MSG_SEND_BEFORE);
    if (FT_UNLIKELY(ft_replay != FT_LIVE)) {
        if (ft_replay == FT_PRELUDE)
            ft_replay_drain(); /* does not return */
        ft_replay_settle();
    }
    if (FT_LIKELY(!ft_uncounted))
        ft_call_begin(); /* homelog.h: a message counts */
    *req = (struct ft_req){.state = FT_REQ_ACTIVE,
                           .ctx = ctx,
                           .peer = dst,
                           .tag = tag,
                           .buf = (void *)(uintptr_t)buf,
                           .len = len,
                           .sync = how == SYNC,
                           .far = FT_UNLIKELY(len >= FAR) && how == STANDARD && is_far(dst, len)};
    if (FT_LIKELY(!ft_m.sends.head) || !sends_queued_for(dst)) {
        struct ft_chan_writer *w = writer(dst);
        do {
            if (FT_LIKELY(append(req, w, &req->done, patience))) {
                send_complete(req);
                return;
            }
        } while (ft_msg_make_room(w)); /* the log limit is reached */
    }
    ft_reqlist_add(&ft_m.sends, req);
}

void ft_msg_isend(struct ft_req *req, uint32_t ctx, int dst, int tag, const void *buf, size_t len)
{
    start_send(req, ctx, dst, tag, buf, len, 0, STANDARD);
}

void ft_msg_ibsend(struct ft_req *req, uint32_t ctx, int dst, int tag, const void *buf, size_t len)
{
    start_send(req, ctx, dst, tag, buf, len, 0, LOGGED);
}

void ft_msg_issend(struct ft_req *req, uint32_t ctx, int dst, int tag, const void *buf, size_t len)
{
    start_send(req, ctx, dst, tag, buf, len, 0, SYNC);
}

void ft_msg_ssend(uint32_t ctx, int dst, int tag, const void *buf, size_t len)
{
    struct ft_req req;
    start_send(&req, ctx, dst, tag, buf, len, 0, SYNC);
    ft_msg_wait(&req);
}

void ft_msg_send(uint32_t ctx, int dst, int tag, const void *buf, size_t len)
{
    if (FT_LIKELY(ft_msg_send_short(ctx, dst, tag, buf, len)))
        return;
    struct ft_req req; /* it is in a list only until it is done, which ends this call */
    start_send(&req, ctx, dst, tag, buf, len, dst == ft_m.myrank ? 0 : (int)ft_wait_spin(),
               STANDARD);
    if (FT_UNLIKELY(req.state != FT_REQ_DONE))
        ft_msg_wait(&req);
}

void ft_msg_progress(void)
{
    if (FT_UNLIKELY(atomic_load_explicit(&ft_m.tp->own->ctl->announced, memory_order_acquire) !=
                    ft_m.announced))
        ft_reader_adopt();
    if (FT_UNLIKELY(ft_m.sends.head != NULL))
        push_sends();
    if (FT_UNLIKELY(ft_m.syncs.head != NULL))
        ft_msg_look_at_syncs();
    if (FT_UNLIKELY(ft_m.unreleased) && !ft_cut_after())
        ft_msg_release_all();
    int any = ft_m.any.head != NULL || ft_m.held;
    if (FT_UNLIKELY(ft_m.held) && ft_replay != FT_REPLAY) /* for the last time: */
        ft_m.held = 2;
    for (int i = 0; i < ft_m.nactive; i++) {
        struct ft_reader *r = &ft_m.in[ft_m.active[i]];
        if (any || r->nposted || (r->current && r->current->req) || r->seq < r->seen)
            ft_reader_poll(r);
    }
    if (FT_UNLIKELY(ft_m.held == 2))
        ft_m.held = 0;
}

/* Whether the lost process had nothing for this receive, which a replacement now posts again. From
 * the first such receive on this is known for each. */
static int is_held(const struct ft_req *req)
{
    return (req->wild && ft_wild_recorded(req->wild - 1) < 0) ||
           ft_homelog_cancelled(req->call, req->nth);
}

/* Finds a message that has already arrived for a receive from any source. The search starts after
 * the source that was served last. */
static struct ft_inmsg *find_any(uint32_t ctx, int tag, struct ft_reader **from)
{
    for (int i = 0; i < ft_m.nactive; i++) {
        struct ft_reader *r = &ft_m.in[ft_m.active[(i + ft_m.rotate) % ft_m.nactive]];
        ft_reader_poll(r);
        struct ft_inmsg *e = ft_reader_find(r, ctx, tag);
        if (e) {
            ft_m.rotate = (i + ft_m.rotate + 1) % ft_m.nactive;
            *from = r;
            return e;
        }
    }
    return NULL;
}

/* Receives a message of one record straight from the log, when nothing else is posted or waiting on
 * that channel. Returns 1 when it is done. */
static int recv_direct(struct ft_reader *r, uint32_t ctx, int tag, void *buf, size_t cap,
                       uint64_t call, struct ft_msg_status *st)
{
    struct ft_rec *rec;
    if (r->head || r->nposted || ft_m.any.head || r->seq < r->seen || r->current)
        return 0;
    if (!(rec = ft_reader_peek(r)) ||
        (rec->flags & (FT_REC_FIRST | FT_REC_LAST)) != (FT_REC_FIRST | FT_REC_LAST) ||
        !ft_msg_matches(rec->ctx, rec->tag, ctx, tag))
        return 0;
    size_t total = ft_rec_bytes(rec), n = total < cap ? total : cap;
    int rtag = rec->tag;
    ft_failpoint(MSG_RECV_MATCH);
    ft_rec_matched(r, rec, call);
    if (FT_UNLIKELY(rec->flags & FT_REC_FAR))
        ft_rec_fetch(r, rec, buf, n);
    else if (n)
        memcpy(buf, rec->data, n);
    ft_failpoint(MSG_RECV_COPIED);
    ft_reader_note(r, rec);
    ft_reader_pass(r, rec);
    ft_failpoint(MSG_RECV_DONE);
    if (st)
        *st = (struct ft_msg_status){.source = r->rank,
                                     .tag = rtag,
                                     .bytes = n,
                                     .error = total > cap ? FT_ERR_TRUNC : FT_OK};
    atomic_store_explicit(&ft_wait_progress,
                          atomic_load_explicit(&ft_wait_progress, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    return 1;
}

void ft_msg_irecv(struct ft_req *req, uint32_t ctx, int src, int tag, void *buf, size_t cap)
{
    if (FT_UNLIKELY(ft_replay != FT_LIVE))
        ft_replay_drain();
    if (FT_UNLIKELY(ft_m.held))
        ft_msg_progress();
    /* receives of nonblocking collectives are posted at any time, and never cancelled */
    if (!(ctx & FT_CTX_COLL)) {
        uint64_t call = ft_calls - ft_calls_aside;
        ft_m.posted = call == ft_m.posting ? ft_m.posted + 1 : 0;
        ft_m.posting = call;
    }
    *req = (struct ft_req){.state = FT_REQ_ACTIVE,
                           .is_recv = 1,
                           .ctx = ctx,
                           .peer = src,
                           .tag = tag,
                           .buf = buf,
                           .len = cap,
                           .posted_nth = ++ft_m.nposted,
                           .call = ft_m.posting,
                           .nth = ft_m.posted};
    if (FT_UNLIKELY(src == FT_ANY_SOURCE && ft_m.keep != FT_KEEP_NONE)) {
        uint64_t n = ft_wild_next();
        int recorded = ft_wild_recorded(n);
        req->wild = n + 1;
        if (recorded >= 0)
            req->peer = src = recorded; /* repeated: from the source that it had then */
    }
    if (FT_UNLIKELY(ft_replay == FT_REPLAY) && !(ctx & FT_CTX_COLL) && is_held(req)) {
        req->held = 1;
        ft_m.held = 1;
    }
    if (atomic_load_explicit(&ft_m.tp->own->ctl->announced, memory_order_acquire) != ft_m.announced)
        ft_reader_adopt();
    struct ft_reader *r = src == FT_ANY_SOURCE ? NULL : &ft_m.in[src];
    struct ft_inmsg *e = req->held ? NULL
                         : r       ? (r->head ? ft_reader_find(r, ctx, tag) : NULL)
                                   : find_any(ctx, tag, &r);
    if (e) {
        ft_inmsg_receive(r, e, req);
        return;
    }
    if (FT_LIKELY(src != FT_ANY_SOURCE && !req->wild && ft_replay == FT_LIVE &&
                  !ft_m.held) && /* a wildcard is noted when it is matched */
        recv_direct(r, ctx, tag, buf, cap, req->call, &req->status)) {
        req->state = FT_REQ_DONE;
        return;
    }
    ft_post(req);
    if (src != FT_ANY_SOURCE) /* a later message may find a receive that was posted then */
        ft_reader_poll_for(r, req);
}

static inline uint32_t quick_polls(void) { return ft_wait_spin() < 200 ? 1 + ft_wait_spin() : 200; }

void ft_msg_recv(uint32_t ctx, int src, int tag, void *buf, size_t cap, struct ft_msg_status *st)
{
    if (FT_UNLIKELY(ft_replay != FT_LIVE))
        ft_replay_drain();
    if (src != FT_ANY_SOURCE) {
        struct ft_reader *r = &ft_m.in[src];
        for (uint32_t i = 0, n = quick_polls(); i < n;
             i++) { /* usually the message is there, or comes within a moment */
            if (recv_direct(r, ctx, tag, buf, cap, ft_calls, st))
                return;
            if (r->head || !r->hdr || ft_m.sends.head)
                break;
        }
    }
    struct ft_req req;
    ft_msg_irecv(&req, ctx, src, tag, buf, cap);
    ft_msg_wait(&req);
    if (st)
        *st = req.status;
}

/* More receives are posted after this one. A receiver that looks all the time takes each cache line
 * from the sender before the sender has written it, and again afterwards. This lets the sender get
 * ahead by some messages instead, at a tenth of a microsecond. */
static void look_less_often(void)
{
    for (int i = 0; i < 4; i++)
        ft_cpu_relax();
}

/* Whether the home log says that the lost process came out of this wait. A round of a nonblocking
 * collective that is due does not: it may have been begun in the wait, which repeats it first. One
 * with a later call does: nothing else counts here. */
static int came_out(void) { return !ft_homelog_at_end() && !ft_homelog_advance_due(); }

void ft_msg_wait(struct ft_req *req)
{
    if (FT_LIKELY(req->state != FT_REQ_ACTIVE))
        return;
    ft_failpoint(MSG_WAIT);
    if (FT_UNLIKELY(ft_replay != FT_LIVE))
        ft_replay_drain();
    struct ft_waiter w = {.unrung = ft_m.sends.head != NULL,
                          .on = req->peer + 1}; /* any source: 0 */
    for (;;) {
        if (FT_UNLIKELY(ft_replay == FT_REPLAY) && req->sync && req->entry && came_out())
            sync_done(req);
        ft_msg_progress();
        if (req->state != FT_REQ_ACTIVE)
            break;
        if (req->is_recv && req->next)
            look_less_often();
        ft_wait(&w);
    }
    ft_wait_end(&w);
}

int ft_msg_wait_any(struct ft_req *const *reqs, int n)
{
    int some = 0;
    for (int i = 0; i < n; i++)
        some |= reqs[i] != NULL;
    if (!some)
        return -1;
    struct ft_waiter w = {.unrung = ft_m.sends.head != NULL};
    for (;;) {
        for (int i = 0; i < n; i++)
            if (reqs[i] && reqs[i]->state != FT_REQ_ACTIVE) {
                ft_wait_end(&w);
                return i;
            }
        ft_msg_progress();
        int done = 0;
        for (int i = 0; i < n && !done; i++)
            done = reqs[i] && reqs[i]->state != FT_REQ_ACTIVE;
        if (!done)
            ft_wait(&w);
    }
}

static int probe_once(uint32_t ctx, int src, int tag, struct ft_msg_status *st)
{
    struct ft_reader *r = NULL;
    struct ft_inmsg *e;
    if (src == FT_ANY_SOURCE) {
        e = find_any(ctx, tag, &r);
    } else {
        r = &ft_m.in[src];
        ft_reader_poll(r);
        e = ft_reader_find(r, ctx, tag);
    }
    if (!e)
        return 0;
    *st = (struct ft_msg_status){.source = r->rank, .tag = e->tag, .bytes = e->total};
    return 1;
}

int ft_msg_iprobe(uint32_t ctx, int src, int tag, struct ft_msg_status *st)
{
    ft_msg_progress();
    if (FT_LIKELY(src != FT_ANY_SOURCE || ft_m.keep == FT_KEEP_NONE))
        return probe_once(ctx, src, tag, st);
    uint64_t n = ft_wild_peek(); /* a successful probe is an event; one in vain is not */
    int recorded = ft_wild_recorded(n);
    if (!probe_once(ctx, recorded >= 0 ? recorded : src, tag, st))
        return 0;
    ft_wild_next();
    ft_wild_record(n, st->source);
    return 1;
}

void ft_msg_probe(uint32_t ctx, int src, int tag, struct ft_msg_status *st)
{
    struct ft_waiter w = {.unrung = ft_m.sends.head != NULL, .on = src + 1};
    while (!ft_msg_iprobe(ctx, src, tag, st))
        ft_wait(&w);
    ft_wait_end(&w);
}

struct ft_inmsg *ft_msg_take(uint32_t ctx, int src, int tag)
{
    struct ft_reader *r = &ft_m.in[src];
    struct ft_inmsg *e = ft_reader_find(r, ctx, tag);
    FT_ASSERT(e);
    e->taken = 1; /* a synchronous send is complete only with its receive (MPI-3.1, 3.8.2) */
    return e;
}

void ft_msg_mrecv(struct ft_req *req, struct ft_inmsg *taken, int src, void *buf, size_t cap)
{
    *req = (struct ft_req){.state = FT_REQ_ACTIVE,
                           .is_recv = 1,
                           .ctx = taken->ctx,
                           .peer = src,
                           .tag = taken->tag,
                           .buf = buf,
                           .len = cap,
                           .posted_nth = ++ft_m.nposted,
                           .call = ft_calls};
    ft_inmsg_receive(&ft_m.in[src], taken, req);
}

void ft_msg_cancel(struct ft_req *req)
{
    if (req->state != FT_REQ_ACTIVE || !req->is_recv || req->entry)
        return;
    ft_unpost(req);
    req->status = (struct ft_msg_status){.source = req->peer, .tag = req->tag, .cancelled = 1};
    req->state = FT_REQ_DONE;
}

void ft_msg_note_cancel(const struct ft_req *req) { ft_wild_cancelled(req->call, req->nth); }
