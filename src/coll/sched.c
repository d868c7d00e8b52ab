/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sched.c - carries out schedules, whoever started them; tags of communicators.
 *
 * Nothing here is called from inside itself. A round waits, if at all, for the carrier of a rank
 * (alone, transport/wait.h).
 *
 * Replay. The moment at which a later round with sends begins depends on timing, but a replacement
 * must send the same messages in the same order. So before its first send such a round notes an
 * action FT_ACT_ADVANCE: schedule, round and calls(p), which also counts messages and so fixes the
 * place among all that is sent. In a replay such a round begins only when its action is the next
 * one in the home log, and at the latest before anything is counted or asked of the log beyond it
 * (ft_replay_settle). When the log is used up but the replay is not over, none begins, as the lost
 * process had begun none either. Rounds that send nothing need no note.
 */
#include "coll/sched.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alog/homelog.h"
#include "alog/homelog_replay.h"
#include "base/failpoint.h"
#include "base/offheap.h"
#include "base/private.h"
#include "transport/wait.h"

#define FIRST_TAG (-16) /* blocking collectives have the tags above */
#define TAGS (1u << 24)

enum step_kind { SEND, RECV, REDUCE, COPY, CALL, POLL, ROUND };
struct step {
    enum step_kind kind;
    int peer;
    const void *from;
    void *to; /* CALL, POLL: the argument */
    size_t n; /* bytes; REDUCE: elements */
    const struct ft_reducer *op;
    void (*fn)(void *arg);
    int (*poll)(void *arg);
};
struct sched_block {
    FT_ALIGNED_LINE struct sched_block *next; /* then the memory itself */
    int claimed;
};

struct ft_sched {
    struct ft_sched *next, *prev; /* the active ones, in order of starting */
    const char *name;
    uint32_t ctx;
    int tag, active;
    int mismatched; /* OWN_PART, MESSAGE */
    struct step *step;
    size_t nsteps, cap;
    size_t at;      /* first step of the next round */
    uint32_t round; /* its number */
    /* messages of the present round: `open` were begun, of which the first `over` are known to be
     * complete */
    struct ft_req *req;
    size_t open, over, room;
    const struct step *poll; /* a step of the present round that is not over yet, or NULL */
    int said;                /* what it returned last */
    enum ft_req_state *state;
    struct sched_block *memory;
};

struct schedules {
    struct ft_sched *head, *tail;
    /* A counter of what was counted so far. Not from the program's heap: those of a communicator
     * end with its last request, and an image brings back others. */
    struct seq {
        uint32_t ctx, next;
        int peer, tag; /* collectives: 0, 0 */
    } * seq, *entry;   /* [nseq]; [nentry]: their values when body was entered first */
    uint32_t nseq, cap, nentry;
    int entered;
};
FT_STATIC(struct schedules, g);
#define g FT_MY(g)

/* ---- making one ---- */

static void *need(void *mem, size_t bytes)
{
    return ft_need(mem, bytes, "a nonblocking collective");
}

struct ft_sched *ft_sched_new(const char *name, uint32_t ctx, int tag)
{
    struct ft_sched *s = need(calloc(1, sizeof *s), sizeof *s);
    FT_ASSERT(ctx < FT_CTX_COLL);
    s->name = name;
    s->ctx = ctx | FT_CTX_COLL;
    s->tag = tag;
    return s;
}

void *ft_sched_memory(struct ft_sched *s, size_t bytes)
{
    size_t all = sizeof(struct sched_block) + ft_align_up(bytes, FT_CACHE_LINE);
    struct sched_block *b = need(aligned_alloc(FT_CACHE_LINE, all), all);
    b->next = s->memory;
    b->claimed = bytes >= FT_PRIVATE_LEAST;
    if (b->claimed)
        ft_private_claim(b, sizeof *b + bytes);
    s->memory = b;
    return b + 1;
}

static void add(struct ft_sched *s, struct step step)
{
    FT_ASSERT(!s->active);
    if (s->nsteps == s->cap) {
        s->cap = s->cap ? 2 * s->cap : 16;
        s->step = need(realloc(s->step, s->cap * sizeof *s->step), s->cap * sizeof *s->step);
    }
    s->step[s->nsteps++] = step;
}

void ft_sched_send(struct ft_sched *s, int peer, const void *buf, size_t len)
{
    add(s, (struct step){.kind = SEND, .peer = peer, .from = buf, .n = len});
}

void ft_sched_recv(struct ft_sched *s, int peer, void *buf, size_t len)
{
    add(s, (struct step){.kind = RECV, .peer = peer, .to = buf, .n = len});
}

void ft_sched_reduce(struct ft_sched *s, const struct ft_reducer *op, const void *in, void *inout,
                     size_t count)
{
    if (count > 0)
        add(s, (struct step){.kind = REDUCE, .from = in, .to = inout, .n = count, .op = op});
}

void ft_sched_copy(struct ft_sched *s, void *dst, const void *src, size_t len)
{
    if (len > 0 && dst != src)
        add(s, (struct step){.kind = COPY, .from = src, .to = dst, .n = len});
}

void ft_sched_call(struct ft_sched *s, void (*fn)(void *arg), void *arg)
{
    add(s, (struct step){.kind = CALL, .to = arg, .fn = fn});
}

void ft_sched_poll(struct ft_sched *s, int (*fn)(void *arg), void *arg)
{
    add(s, (struct step){.kind = POLL, .to = arg, .poll = fn});
}

void ft_sched_round(struct ft_sched *s) { add(s, (struct step){.kind = ROUND}); }

/* Makes room for the requests of the round with the most messages. */
static void make_room(struct ft_sched *s)
{
    size_t most = 0, n = 0;
    for (size_t i = 0; i < s->nsteps; i++) {
        n = s->step[i].kind == ROUND ? 0 : n + (s->step[i].kind == SEND || s->step[i].kind == RECV);
        most = n > most ? n : most;
    }
    if (most <= s->room)
        return;
    free(s->req);
    s->req = need(calloc(most, sizeof *s->req), most * sizeof *s->req);
    s->room = most;
}

void ft_sched_free(struct ft_sched *s)
{
    if (!s)
        return;
    for (struct sched_block *b = s->memory, *next; b; b = next) {
        next = b->next;
        if (b->claimed)
            ft_private_disclaim(b);
        free(b);
    }
    free(s->step);
    free(s->req);
    free(s);
}

/* ---- carrying out ---- */

static void unlink_active(struct ft_sched *s)
{
    *(s->prev ? &s->prev->next : &g.head) = s->next;
    *(s->next ? &s->next->prev : &g.tail) = s->prev;
    s->active = 0;
    if (!g.head)
        atomic_fetch_and(&ft_attention, ~(uint32_t)FT_ATT_WORK);
}

enum { OWN_PART = 1, MESSAGE = 2 };

static void mismatch(struct ft_sched *s, int which, int world_rank, size_t got, size_t want)
{
    char what[200];
    snprintf(what, sizeof what,
             "a nonblocking %s: rank %d sent %zu bytes (or more) where %zu are expected", s->name,
             world_rank, got, want);
    s->mismatched |= which;
    ft_coll_mismatch(s->ctx & ~FT_CTX_COLL, 0, what);
}

void ft_sched_mismatch(struct ft_sched *s, int of, size_t got, size_t want)
{
    mismatch(s, OWN_PART, of, got, want);
}
int ft_sched_mismatched(const struct ft_sched *s) { return s->mismatched != 0; }

static void check_length(struct ft_sched *s, const struct ft_req *r)
{
    if (FT_LIKELY(!r->is_recv || (r->status.error == FT_OK && r->status.bytes == r->len)))
        return;
    mismatch(s, MESSAGE, r->peer, r->status.bytes, r->len);
    if (r->status.bytes < r->len)
        memset((char *)r->buf + r->status.bytes, 0, r->len - r->status.bytes);
}

static int round_over(struct ft_sched *s)
{
    for (; s->over < s->open && ft_msg_done(&s->req[s->over]); s->over++)
        check_length(s, &s->req[s->over]);
    if (s->poll) {
        s->said = s->poll->poll(s->poll->to);
        if (s->said & FT_POLL_OVER)
            s->poll = NULL;
    }
    return s->over == s->open && !s->poll;
}

static int next_sends(const struct ft_sched *s)
{
    for (size_t i = s->at; i < s->nsteps && s->step[i].kind != ROUND; i++)
        if (s->step[i].kind == SEND)
            return 1;
    return 0;
}

static void begin_round(struct ft_sched *s)
{
    uint64_t calls = ft_calls;
    size_t i = s->at, end = i;
    uint32_t n = s->round++;

    while (end < s->nsteps && s->step[end].kind != ROUND)
        end++;
    s->at = end < s->nsteps ? end + 1 : end;
    s->open = s->over = 0;
    for (; i < end; i++) {
        const struct step *t = &s->step[i];
        switch (t->kind) {
        case SEND: ft_msg_isend(&s->req[s->open++], s->ctx, t->peer, s->tag, t->from, t->n); break;
        case RECV: ft_msg_irecv(&s->req[s->open++], s->ctx, t->peer, s->tag, t->to, t->n); break;
        case REDUCE: t->op->apply(t->op->arg, t->from, t->to, t->n); break;
        case COPY: memcpy(t->to, t->from, t->n); break;
        case CALL: t->fn(t->to); break;
        case POLL: s->poll = t; break;
        case ROUND: break;
        }
    }
    if (n > 0)
        ft_calls_aside += ft_calls - calls;
    ft_failpoint(COLL_ROUND);
}

static void note_advance(const struct ft_sched *s)
{
    struct ft_act *a =
        FT_LIKELY(!ft_uncounted) ? ft_homelog_begin(FT_ACT_ADVANCE, s->ctx, s->tag, 0, 0) : NULL;
    if (a) {
        a->count = s->round;
        ft_homelog_publish(a);
    }
    ft_failpoint(COLL_ADVANCE);
}

/* Goes on as far as possible now. Returns 1 if something was begun, or the schedule is over. */
static int advance(struct ft_sched *s)
{
    int moved = 0, over;
    while (over = round_over(s), moved |= s->said & FT_POLL_MOVED, over) {
        if (s->at == s->nsteps) {
            unlink_active(s);
            *s->state = FT_REQ_DONE;
            return 1;
        }
        if (next_sends(s)) {
            if (FT_UNLIKELY(ft_replay == FT_REPLAY))
                break; /* not by arrival: see repeat_one */
            note_advance(s);
        }
        begin_round(s);
        moved = 1;
    }
    return moved != 0;
}

static struct ft_sched *find(uint32_t ctx, int tag)
{
    struct ft_sched *s = g.head;
    while (s && (s->ctx != ctx || s->tag != tag))
        s = s->next;
    return s;
}

/* The next action is a round that the lost process had begun since the last count. Begins it if
 * that is possible by now; 0: not yet. It may even belong to a collective that the present call is
 * about to start. */
static int repeat_one(const struct ft_act *a)
{
    struct ft_sched *s = find(a->win, a->where);
    if (!s)
        return 0;
    advance(s); /* rounds that only receive go on by arrival */
    if (!s->active || s->round > a->count || (round_over(s) && s->round != a->count)) {
        struct ft_mismatch mismatch = {0};
        ft_mismatch_number(&mismatch, "round", s->round, (int64_t)a->count);
        ft_replay_diverged(a, FT_ACT_ADVANCE, a->win, a->where, 0, &mismatch);
    }
    if (!round_over(s))
        return 0;
    ft_homelog_advance_passed();
    begin_round(s);
    ft_replay_drain(); /* what others did when they had heard of it */
    return 1;
}

/* Begins all of these, and waits: what they need was there when the lost process began them. */
static void repeat_all(void)
{
    struct ft_waiter w = FT_WAITER_ALONE;
    const struct ft_act *a;
    while ((a = ft_homelog_advance_due())) {
        if (!find(a->win, a->where))
            ft_replay_diverged(a, FT_ACT_NONE, 0, 0, 0, NULL);
        ft_msg_progress();
        if (!repeat_one(a))
            ft_wait(&w);
    }
    ft_wait_end(&w);
}

int ft_sched_progress(void)
{
    const struct ft_act *a;
    int moved = 0;
    if (!g.head)
        return 0;
    ft_msg_progress();
    while (FT_UNLIKELY(ft_replay == FT_REPLAY) && (a = ft_homelog_advance_due()) && repeat_one(a))
        moved = 1;
    for (struct ft_sched *s = g.head, *next; s; s = next) {
        next = s->next;
        moved |= advance(s);
    }
    return moved;
}

/* Sends that wait for room are not rung for. */
static int sends_wait(void)
{
    for (const struct ft_sched *s = g.head; s; s = s->next) {
        if (s->said & FT_POLL_UNRUNG)
            return 1;
        for (size_t i = s->over; i < s->open; i++)
            if (!s->req[i].is_recv && !ft_msg_done(&s->req[i]))
                return 1;
    }
    return 0;
}

static int work(int *unrung)
{
    int moved = ft_sched_progress();
    *unrung = sends_wait();
    return moved;
}

void ft_sched_start(struct ft_sched *s, enum ft_req_state *state)
{
    FT_ASSERT(!s->active);
    ft_failpoint(COLL_ENTER);
    make_room(s);
    s->at = s->open = s->over = 0;
    s->round = 0;
    s->mismatched &= OWN_PART;
    s->poll = NULL;
    s->said = 0;
    s->state = state;
    *state = FT_REQ_ACTIVE;
    s->active = 1;
    s->prev = g.tail;
    s->next = NULL;
    *(g.tail ? &g.tail->next : &g.head) = s;
    g.tail = s;
    ft_wait_work = work;
    ft_replay_advance = repeat_all;
    atomic_fetch_or(&ft_attention, FT_ATT_WORK);
    begin_round(s);
    advance(s);
}

void ft_sched_drop(void)
{
    for (struct ft_sched *s = g.head; s; s = s->next)
        s->active = 0;
    g.head = g.tail = NULL;
    atomic_fetch_and(&ft_attention, ~(uint32_t)FT_ATT_WORK);
}

/* A schedule that is being polled sends nothing, unless it waits for room. */
static int may_send(void)
{
    for (const struct ft_sched *s = g.head; s; s = s->next)
        if (!s->poll || (s->said & FT_POLL_UNRUNG))
            return 1;
    return 0;
}

void ft_sched_quiet(void)
{
    struct ft_waiter w = FT_WAITER_INIT;
    while (may_send())
        ft_wait(&w);
    ft_wait_end(&w);
}

/* ---- counting ---- */

static struct seq *seq_add(struct seq q)
{
    if (g.nseq == g.cap) {
        g.cap = g.cap ? 2 * g.cap : 16;
        g.seq = ft_offheap_realloc(g.seq, g.cap * sizeof *g.seq);
    }
    g.seq[g.nseq] = q;
    return &g.seq[g.nseq++];
}

uint32_t ft_sched_nth(uint32_t ctx, int peer, int tag)
{
    for (uint32_t i = 0; i < g.nseq; i++)
        if (g.seq[i].ctx == ctx && g.seq[i].peer == peer && g.seq[i].tag == tag)
            return g.seq[i].next++;
    return seq_add((struct seq){.ctx = ctx, .peer = peer, .tag = tag})->next++;
}

int ft_sched_tag(uint32_t ctx) { return FIRST_TAG - (int)(ft_sched_nth(ctx, 0, 0) % TAGS); }

void ft_sched_forget(uint32_t ctx)
{
    for (uint32_t i = g.nseq; i-- > 0;)
        if ((g.seq[i].ctx & ~FT_CTX_PART) == ctx)
            g.seq[i] = g.seq[--g.nseq];
}

struct saved_tags {
    uint64_t aside;
    uint64_t n; /* followed by n struct seq */
};

size_t ft_sched_state_bytes(void)
{
    return sizeof(struct saved_tags) + g.nseq * sizeof(struct seq);
}

void ft_sched_state_save(char *out)
{
    struct saved_tags head = {ft_calls_aside, g.nseq};
    memcpy(out, &head, sizeof head);
    if (g.nseq)
        memcpy(out + sizeof head, g.seq, g.nseq * sizeof *g.seq);
}

void ft_sched_state_load(const char *saved)
{
    struct saved_tags head;
    memcpy(&head, saved, sizeof head);
    ft_calls_aside = head.aside;
    g.nseq = 0;
    for (uint64_t i = 0; i < head.n; i++) {
        struct seq q;
        memcpy(&q, saved + sizeof head + i * sizeof q, sizeof q);
        seq_add(q);
    }
}

void ft_sched_state_entry(void)
{
    if (g.entered) {
        g.nseq = 0;
        for (uint32_t i = 0; i < g.nentry; i++)
            seq_add(g.entry[i]);
        return;
    }
    g.entered = 1;
    g.nentry = g.nseq;
    g.entry = ft_offheap_alloc((g.nseq + 1) * sizeof *g.entry);
    for (uint32_t i = 0; i < g.nseq; i++)
        g.entry[i] = g.seq[i];
}
