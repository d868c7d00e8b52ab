/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_gateway.c - three nodes with two processes each, all in this process: what is said on one
 * node comes to the others once, whole and in order, over a network that delays, loses, cuts and
 * turns round. The order of all steps is drawn; FTRMA_TEST_SEED repeats a run.
 */
#include <stdio.h>
#include <sys/stat.h>

#define MOCK_ARENA (64ull << 20)
#include "gate/mock_nodes.h"

#include "alog/chan.h"
#include "gate/relay.h"

#define NODES 3
#define SLOTS 6
#define LONGEST 100000

struct reading { /* the reader's end of a channel */
    char *base;
    struct ft_chan_hdr *hdr;
    struct ft_chunk *chunk;
    char *pos;
    uint64_t seq, got, total; /* bytes of the message that is being read */
    int messages;
    uint64_t released;
};

struct proc {
    struct ft_arena arena;
    struct ft_tp tp;
    struct ft_chan_writer to[SLOTS];
    int said[SLOTS], ended, forgotten, mailed[SLOTS], took[SLOTS];
    size_t done[SLOTS]; /* of the message that is under way */
    struct ft_rec *waits_for[SLOTS];
    uint64_t waits_chunk[SLOTS], begun[SLOTS];
    struct reading from[SLOTS];
};

static struct world {
    struct proc *p; /* [SLOTS] */
    int messages, mails;
    uint32_t generation;
    char *text;
} w;

static int node_of(int slot) { return slot / (SLOTS / NODES); }

/* Message number k from p to q: its length and bytes. */
static size_t length_of(int p, int q, int k)
{
    struct ft_prng r = {.s = (uint64_t)(p * 1000003 + q * 10007 + k) * 2654435761u + m.seed};
    uint64_t n = ft_prng_below(&r, 20);
    return n == 0  ? ft_prng_below(&r, LONGEST)
           : n < 6 ? ft_prng_below(&r, 4000)
                   : ft_prng_below(&r, 64);
}

static char byte_of(int p, int q, int k, size_t i)
{
    return (char)(i * 31 + (i >> 8) * 7 + (size_t)(p * 64 + q * 8 + k));
}

static int is_sync(int k) { return k % 3 == 1; }

static void enter(int slot) { mock_enter(node_of(slot), slot, &w.p[slot].arena, &w.p[slot].tp); }

static void begin(const struct ft_wire_weather *weather, int messages, int mails)
{
    static const int end[NODES] = {2, 4, 6};
    memset(&w, 0, sizeof w);
    w.messages = messages;
    w.mails = mails;
    w.text = malloc(LONGEST);
    w.p = calloc(SLOTS, sizeof *w.p);
    ft_log_budget.limit = 1 << 20;
    ft_log_budget.used = 0;
    mock_begin(NODES, end, mock_seed(), weather, NULL, 50000000);
    HOLDS(w.p && w.text);
}

static void end(void)
{
    mock_stop();
    for (int i = 0; i < SLOTS; i++)
        mock_leave(&w.p[i].arena, &w.p[i].tp);
    mock_end();
    free(w.p);
    free(w.text);
}

static void step_gate(int k) { mock_step(k, ft_prng_below(&m.rng, 2000000)); }

/* ---- processes ---- */

/* A synchronous message must be matched before the next one is said. */
static int waits(struct proc *p, int q)
{
    struct ft_rec *rec = p->waits_for[q];
    if (!rec || ft_chan_released(&p->to[q], &p->tp) > p->waits_chunk[q] ||
        atomic_load(&rec->matched)) {
        p->waits_for[q] = NULL;
        return 0;
    }
    return 1;
}

static void say(int slot, int q)
{
    struct proc *p = &w.p[slot];
    struct ft_chan_writer *to = &p->to[q];
    int k = p->said[q];
    if (p->ended || w.p[q].forgotten || k == w.messages || waits(p, q))
        return;
    if (!to->hdr)
        HOLDS(ft_chan_open(to, &p->tp, q, FT_ERA_SETUP, FT_KEEP_NONE) == FT_OK);
    size_t len = length_of(slot, q, k);
    for (size_t i = 0; i < len; i++)
        w.text[i] = byte_of(slot, q, k, i);
    uint32_t ctx = (uint32_t)k;
    int all = is_sync(k) ? ft_chan_append_sync(to, &p->tp, ctx, slot, w.text, len, &p->done[q], 0)
                         : ft_chan_append(to, &p->tp, ctx, slot, w.text, len, &p->done[q], 0);
    if (!all)
        return;
    if (is_sync(k)) {
        p->waits_for[q] = to->sync;
        p->waits_chunk[q] = to->sync_chunk;
    }
    p->done[q] = 0;
    p->said[q]++;
}

static void check_record(int slot, int from, struct reading *r, struct ft_rec *rec)
{
    int k = r->messages;
    if (rec->flags & FT_REC_FIRST) {
        HOLDS(r->got == 0 && rec->ctx == (uint32_t)k && rec->tag == from);
        HOLDS(rec->total == length_of(from, slot, k));
        r->total = rec->total;
        if (rec->flags & FT_REC_SYNC) /* some are told so, some by the chunk's release */
            atomic_store(&rec->matched, (uint16_t)(ft_prng_below(&m.rng, 4) > 0));
    }
    for (size_t i = 0; i < rec->here; i++)
        HOLDS(rec->data[i] == byte_of(from, slot, k, r->got + i));
    r->got += rec->here;
    HOLDS((r->got == r->total) == ((rec->flags & FT_REC_LAST) != 0));
    if (rec->flags & FT_REC_LAST) {
        r->messages++;
        r->got = 0;
    }
}

/* The next record, if there is one. */
static int hear(int slot, int from)
{
    struct proc *p = &w.p[slot];
    struct reading *r = &p->from[from];
    struct ft_ctl_peer *peer = &p->arena.ctl->peer[from];
    uint64_t off = atomic_load(&peer->chan);
    if (!r->hdr && off) {
        r->base = p->tp.ops->map(&p->tp, from, 0, MOCK_ARENA, FT_TP_LOG);
        HOLDS(r->base);
        r->hdr = (struct ft_chan_hdr *)(void *)(r->base + off);
    }
    if (!r->hdr)
        return 0;
    if (!r->chunk) {
        if (!(off = atomic_load(&r->hdr->head[FT_SEG_SETUP])))
            return 0;
        r->chunk = (struct ft_chunk *)(void *)(r->base + off);
        r->pos = (char *)r->chunk + r->chunk->begin;
        r->seq = r->chunk->first;
    }
    struct ft_rec *rec = (struct ft_rec *)(void *)r->pos;
    if (atomic_load(&rec->seq) != r->seq + 1)
        return 0;
    r->seq++;
    if (rec->flags & FT_REC_LINK) {
        r->chunk = (struct ft_chunk *)(void *)(r->base + atomic_load(&r->chunk->next));
        HOLDS(r->chunk->first == r->seq);
        r->pos = (char *)(r->chunk + 1);
        atomic_store(&peer->released, r->chunk->index);
        return 1;
    }
    check_record(slot, from, r, rec);
    r->pos += ft_align_up(sizeof *rec + rec->here, FT_CACHE_LINE);
    return 1;
}

/* A process that was not told of a match waits for a release: the reader tells it in the end. */
static void tell_matches(int slot, int from)
{
    struct reading *r = &w.p[slot].from[from];
    const struct proc *p = &w.p[from];
    struct ft_rec *theirs = p->waits_for[slot];
    if (!theirs || r->got || r->messages < p->said[slot])
        return;
    /* the same record here */
    uint64_t at = (uint64_t)((char *)theirs - (char *)p->to[slot].cur);
    if (r->chunk && r->chunk->index == p->to[slot].sync_chunk &&
        p->to[slot].cur->index == r->chunk->index)
        atomic_store(&((struct ft_rec *)(void *)((char *)r->chunk + at))->matched, 1);
}

static void mail(int slot, int q)
{
    struct proc *p = &w.p[slot];
    uint32_t text[300] = {(uint32_t)slot, (uint32_t)q, (uint32_t)p->mailed[q]};
    if (p->ended || p->mailed[q] == w.mails)
        return;
    enum ft_status st = p->tp.ops->mail(&p->tp, q, text, 12 + 4 * (uint32_t)(p->mailed[q] % 280));
    HOLDS(st == FT_OK || st == FT_ERR_AGAIN);
    p->mailed[q] += st == FT_OK;
}

static void take_mails(int slot, int from)
{
    struct proc *p = &w.p[slot];
    uint32_t text[FT_MAIL_BYTES / 4], bytes;
    (void)p->tp.ops->post(&p->tp);
    while ((bytes = p->tp.ops->take(&p->tp, from, text)) > 0) {
        int k = p->took[from]++;
        HOLDS(bytes == 12 + 4 * (uint32_t)(k % 280));
        HOLDS(text[0] == (uint32_t)from && text[1] == (uint32_t)slot && text[2] == (uint32_t)k);
    }
}

/* Its keeper has seen its end. Much of what it has said is still on its way. */
static void dies(int slot)
{
    for (int i = 0; i < 40 * SLOTS; i++)
        if (node_of(i % SLOTS) != node_of(slot))
            say(slot, i % SLOTS);
    w.p[slot].ended = 1;
    atomic_store(&m.board[node_of(slot)]->slot[slot].ended, 1);
}

/* What another node is told of an end comes after all that the process had said. */
static void hears_of_an_end(int slot, int from)
{
    if (!atomic_load(&m.board[node_of(slot)]->slot[from].ended) || w.p[slot].ended)
        return; /* the dead are sent nothing more */
    HOLDS(w.p[from].ended);
    while (hear(slot, from))
        ;
    HOLDS(w.p[slot].from[from].messages == w.p[from].said[slot]);
}

static int all_is_there(void)
{
    for (int k = 0; k < NODES; k++)
        for (int i = 0; i < SLOTS; i++)
            if (atomic_load(&m.board[k]->slot[i].arena_fd) < 0)
                return 0;
    return 1;
}

static int far_away(int *p, int *q)
{
    *p = (int)ft_prng_below(&m.rng, SLOTS);
    *q = (int)ft_prng_below(&m.rng, SLOTS);
    return node_of(*p) != node_of(*q);
}

static int is_over(void)
{
    for (int p = 0; p < SLOTS; p++)
        for (int q = 0; q < SLOTS; q++) {
            const struct proc *from = &w.p[p], *to = &w.p[q];
            if (node_of(p) == node_of(q))
                continue;
            if (from->ended) {
                if (!atomic_load(&m.board[node_of(q)]->slot[p].ended))
                    return 0;
            } else if (to->ended) {
                continue; /* nothing comes to it any more */
            } else if (from->said[q] < w.messages || from->mailed[q] < w.mails ||
                       to->took[p] < w.mails || to->from[p].messages < w.messages) {
                return 0;
            }
        }
    return 1;
}

static void start_all(void)
{
    for (int n = 0; n < 200000 && !all_is_there(); n++) {
        int i = (int)ft_prng_below(&m.rng, SLOTS);
        if (!w.p[i].tp.ops)
            enter(i);
        step_gate((int)ft_prng_below(&m.rng, NODES));
    }
    HOLDS(all_is_there());
}

static void one_step(void)
{
    int p, q;
    step_gate((int)ft_prng_below(&m.rng, NODES));
    if (!far_away(&p, &q) || w.p[p].forgotten || w.p[q].forgotten)
        return;
    say(p, q);
    for (uint64_t n = ft_prng_below(&m.rng, 8); n > 0 && hear(q, p); n--)
        ;
    tell_matches(q, p);
    if (ft_prng_below(&m.rng, 4) == 0)
        mail(p, q);
    take_mails(q, p);
    hears_of_an_end(q, p);
}

/* ---- memory of the dead ---- */

static int is_known_everywhere(int slot)
{
    for (int k = 0; k < NODES; k++)
        if (!atomic_load(&m.board[k]->slot[slot].ended))
            return 0;
    return 1;
}

/* The others have taken all that it had said, and a new generation without it. What they have
 * released just now is still on its way. */
static void forget(int slot)
{
    uint32_t generation = ++w.generation;
    for (int q = 0; q < SLOTS; q++)
        if (node_of(q) != node_of(slot))
            hears_of_an_end(q, slot);
    for (int k = 0; k < NODES; k++)
        atomic_store(&m.board[k]->slot[slot].lost_in, generation);
    for (int q = 0; q < SLOTS; q++) {
        struct proc *p = &w.p[q];
        if (p->ended)
            continue;
        p->tp.ops->forget(&p->tp, slot);
        p->tp.ops->release(&p->tp);
        atomic_store(&p->arena.ctl->let_go, generation);
    }
    w.p[slot].forgotten = 1;
}

/* How often this file is mapped in this process, and how many descriptors it has. */
static int places(struct ft_fd_file file)
{
    char line[400];
    unsigned long ino;
    int n = 0;
    FILE *f = fopen("/proc/self/maps", "re");
    HOLDS(f);
    while (fgets(line, sizeof line, f))
        n += sscanf(line, "%*s %*s %*s %*s %lu", &ino) == 1 && ino == file.ino;
    fclose(f);
    for (int fd = 0; fd < 1024; fd++)
        n += ft_fd_file_of(fd).ino == file.ino;
    return n;
}

/* Nobody but itself has the arena of the dead, and its stand-ins hold a control block at most. */
static int is_given_back(int slot)
{
    struct stat st;
    if (places(w.p[slot].arena.file) != 2)
        return 0;
    for (int k = 0; k < NODES; k++)
        if (k != node_of(slot)) {
            HOLDS(fstat(atomic_load(&m.board[k]->slot[slot].arena_fd), &st) == 0);
            if ((uint64_t)st.st_blocks * 512 > w.p[slot].arena.heap_begin)
                return 0;
        }
    return 1;
}

static int all_are_given_back(void)
{
    for (int i = 0; i < SLOTS; i++)
        if (w.p[i].ended && !(w.p[i].forgotten && is_given_back(i)))
            return 0;
    return 1;
}

static void goes_through(const struct ft_wire_weather *weather, int messages, int dead)
{
    begin(weather, messages, messages / 2);
    start_all();
    int left = dead;
    for (int n = 0; n < 3000000 && !is_over(); n++) {
        one_step();
        int p = (int)ft_prng_below(&m.rng, SLOTS);
        if (left && ft_prng_below(&m.rng, 500) == 0 && !w.p[p].ended) {
            dies(p);
            left--;
        }
        if (w.p[p].ended && !w.p[p].forgotten && is_known_everywhere(p))
            forget(p);
        if (ft_prng_below(&m.rng, 1000) == 0 && weather->lost_in) {
            int a = (int)ft_prng_below(&m.rng, NODES), b = (a + 1) % NODES;
            ft_wire_net_cut(m.net, a, b, (int)ft_prng_below(&m.rng, 2));
        }
        if (ft_prng_below(&m.rng, 300) == 0)
            for (int a = 0; a < NODES; a++)
                for (int b = 0; b < NODES; b++)
                    if (a != b)
                        ft_wire_net_cut(m.net, a, b, 0);
    }
    HOLDS(is_over());
    for (int p = 0; p < SLOTS; p++)
        if (w.p[p].ended && !w.p[p].forgotten)
            forget(p);
    for (int n = 0; n < 1000 && !all_are_given_back(); n++)
        for (int i = 0; i < 100; i++)
            one_step();
    HOLDS(all_are_given_back());
    end();
}

static void fine(void **state)
{
    (void)state;
    goes_through(&(struct ft_wire_weather){.delay_ns = 1000, .patience_ns = 100000000}, 60, 0);
}

static void bad_weather(void **state)
{
    (void)state;
    goes_through(&(struct ft_wire_weather){.delay_ns = 1000000,
                                           .jitter_ns = 5000000,
                                           .lost_in = 40,
                                           .reorders = 1,
                                           .patience_ns = 100000000},
                 40, 0);
}

static void ends_are_told_last(void **state)
{
    (void)state;
    goes_through(&(struct ft_wire_weather){.delay_ns = 1000000,
                                           .jitter_ns = 5000000,
                                           .lost_in = 60,
                                           .reorders = 1,
                                           .patience_ns = 100000000},
                 40, 3);
}

/* [A loaded host takes longer to start its gateway than two hosts may be cut off.] */
static void a_node_that_starts_late(void **state)
{
    static const struct ft_wire_weather fast = {.delay_ns = 1000, .patience_ns = 10000000};
    (void)state;
    begin(&fast, 2, 0);
    const _Atomic uint64_t *unreachable = &m.board[0]->nodes.unreachable;
    for (uint64_t began = m.now; m.now - began < MOCK_FIRST; mock_step(0, 1000000))
        HOLDS(atomic_load(unreachable) == 0);
    mock_step(0, 1000000);
    mock_step(0, 1000000);
    HOLDS(atomic_load(unreachable) == 6); /* nodes 1 and 2 */
    start_all();
    HOLDS(atomic_load(unreachable) == 0);
    ft_wire_net_cut(m.net, 0, 1, 1);
    say(0, 2); /* or nobody notices it */
    for (int n = 0; n < (MOCK_UNREACHABLE + MOCK_FIRST / 2) / 1000000; n++)
        mock_step(n % NODES, 1000000);
    HOLDS(atomic_load(unreachable) == 2);
    ft_wire_net_cut(m.net, 0, 1, 0);
    end();
}

/* A node's last processes end, and what its gateway has said of them before is late: it comes when
 * all others have forgotten them. */
static void late_words_of_the_forgotten(void **state)
{
    static const struct ft_wire_weather fast = {
        .delay_ns = 100000, .reorders = 1, .patience_ns = 1000000000};
    (void)state;
    begin(&fast, 2, 0);
    start_all();
    while (w.p[2].from[0].messages < 2) { /* the second one is synchronous */
        mock_step((int)ft_prng_below(&m.rng, NODES), 500000);
        say(0, 2);
        if (hear(2, 0))
            tell_matches(2, 0);
    }
    tell_matches(2, 0);
    ft_wire_net_weather(m.net)->delay_ns = 100000000;
    mock_step(1, 0); /* that it has matched is said */
    *ft_wire_net_weather(m.net) = fast;
    for (int slot = 2; slot < 4; slot++) {
        w.p[slot].ended = 1;
        atomic_store(&m.board[1]->slot[slot].ended, 1);
    }
    for (int i = 1; i < 300 && !(is_known_everywhere(2) && is_known_everywhere(3)); i++)
        mock_step(i % NODES, 100000);
    forget(2);
    forget(3);
    for (int i = 0; i < 300 && !all_are_given_back(); i++)
        mock_step(i % NODES, 100000);
    HOLDS(all_are_given_back());
    for (int i = 0; i < 3000; i++)
        mock_step(i % NODES, 100000);
    HOLDS(all_are_given_back());
    end();
}

/* ---- eras ---- */

#define BIG 4096

/* All that a slot hears of slot 0 in the present era, as one reader that begins with it. */
static int hear_run(struct reading *r, int slot, uint32_t era)
{
    struct proc *p = &w.p[slot];
    uint64_t off = atomic_load(&p->arena.ctl->peer[0].chan);
    int heard = 0;
    if (!off)
        return 0;
    r->base = p->tp.ops->map(&p->tp, 0, 0, MOCK_ARENA, FT_TP_LOG);
    r->hdr = (struct ft_chan_hdr *)(void *)(r->base + off);
    if (!r->chunk) {
        enum ft_segment seg = ft_era_segment(era);
        off = atomic_load(&r->hdr->head[seg]);
        if (!off || (seg == FT_SEG_RUN && atomic_load(&r->hdr->era) != era))
            return 0;
        r->chunk = (struct ft_chunk *)(void *)(r->base + off);
        r->pos = (char *)r->chunk + r->chunk->begin;
        r->seq = r->chunk->first;
    }
    for (;;) {
        struct ft_rec *rec = (struct ft_rec *)(void *)r->pos;
        if (atomic_load(&rec->seq) != r->seq + 1)
            return heard;
        r->seq++;
        if (rec->flags & FT_REC_LINK) {
            r->chunk = (struct ft_chunk *)(void *)(r->base + atomic_load(&r->chunk->next));
            r->pos = (char *)(r->chunk + 1);
        } else {
            for (size_t i = 0; i < rec->here; i++)
                HOLDS(rec->data[i] == (char)(era * 16 + rec->ctx));
            heard += (rec->flags & FT_REC_LAST) != 0;
            r->pos += ft_align_up(sizeof *rec + rec->here, FT_CACHE_LINE);
        }
        atomic_store(&p->arena.ctl->peer[0].released, FT_SEQ(era, r->chunk->index));
    }
}

/* Messages of one era from slot 0, some of them not heard before the next era begins.
 * Whatever was under way, the new era's log is whole, and nothing of an old one is in it. */
static void say_in(struct ft_chan_writer *to, uint32_t era, int n)
{
    static char text[BIG];
    for (int k = 0; k < n; k++) {
        size_t done = 0;
        memset(text, (int)(era * 16 + (uint32_t)k), sizeof text);
        while (!ft_chan_append(to, &w.p[0].tp, (uint32_t)k, 0, text, sizeof text, &done, 0))
            step_gate((int)ft_prng_below(&m.rng, NODES));
        if (ft_prng_below(&m.rng, 3) == 0)
            step_gate((int)ft_prng_below(&m.rng, NODES));
    }
}

static void eras_turn(void **state)
{
    struct ft_wire_weather slow = {
        .delay_ns = 1000000, .jitter_ns = 5000000, .lost_in = 60, .patience_ns = 100000000};
    struct ft_chan_writer *to;
    (void)state;
    begin(&slow, 0, 0);
    start_all();
    to = &w.p[0].to[2];
    HOLDS(ft_chan_open(to, &w.p[0].tp, 2, FT_ERA_SETUP, FT_KEEP_ALL) == FT_OK);
    for (uint32_t era = 0; era < 12; era++) {
        int n = 1 + (int)ft_prng_below(&m.rng, 15), heard = 0,
            whole = era == 0 || ft_prng_below(&m.rng, 2) == 0;
        struct reading r = {.base = NULL};
        if (era) {
            while (ft_chan_turn(to, era))
                ;
            ft_chan_begin_era(to, &w.p[0].tp, era, FT_KEEP_NONE, 0);
        }
        say_in(to, era, n);
        for (int i = 0; whole && (heard < n || !ft_chan_placed(to)) && i < 100000; i++) {
            step_gate((int)ft_prng_below(&m.rng, NODES));
            heard += hear_run(&r, 2, era);
        }
        HOLDS(!whole || (heard == n && ft_chan_placed(to)));
        HOLDS(whole || ft_chan_placed(to) || atomic_load(&to->hdr->asks) == to->seq);
        for (int i = 0; whole && !ft_chan_stuck(to) && i < 100000; i++) {
            atomic_store(&r.hdr->stuck, r.seq);
            step_gate((int)ft_prng_below(&m.rng, NODES));
        }
        HOLDS(whole == ft_chan_stuck(to)); /* else it has more to read */
    }
    end();
}

/* Slot 0 says a synchronous message in this era, and the relay takes it. Returns its number. */
static uint64_t say_sync(struct ft_chan_writer *to, uint32_t era, struct ft_relay_out *out)
{
    static _Alignas(FT_CACHE_LINE) char frame[4096];
    size_t done = 0;
    HOLDS(ft_chan_append_sync(to, &w.p[0].tp, 1, 0, "text", 4, &done, 0));
    HOLDS(ft_relay_out_take(out, frame, sizeof frame) > 0 && out->syncs.n == 1);
    HOLDS(out->syncs.of[0].rec == to->sync && out->syncs.of[0].number == FT_SEQ(era, 0));
    return out->syncs.of[0].number;
}

/* [The reader has matched a message; its word is late, and all have gone back since. The record's
 * place belongs to something else.] */
static void a_late_match_writes_nothing(void **state)
{
    struct ft_wire_weather none = {.delay_ns = 1000, .patience_ns = 100000000};
    struct ft_relay_out out;
    uint32_t era = FT_ERA_FIRST;
    (void)state;
    begin(&none, 0, 0);
    start_all();
    struct ft_chan_writer *to = &w.p[0].to[2];
    struct ft_arena *arena = &w.p[0].arena;
    HOLDS(ft_chan_open(to, &w.p[0].tp, 2, era, FT_KEEP_NONE) == FT_OK);
    ft_relay_out_begin(&out, 0, 2, arena->base, ft_arena_off(arena, to->hdr));
    uint64_t number = say_sync(to, era, &out), bytes = to->cur->bytes;
    struct ft_rec *rec = to->sync;
    HOLDS(ft_chan_turn(to, ++era) == 0);
    ft_chan_begin_era(to, &w.p[0].tp, era, FT_KEEP_NONE, 0);
    for (int i = 0; i < 16; i++) { /* one of them is its place */
        uint64_t off = ft_arena_alloc(arena, bytes, FT_CACHE_LINE);
        HOLDS(off != 0);
        memset(ft_arena_ptr(arena, off), 0x5a, bytes);
    }
    HOLDS(atomic_load(&rec->matched) == 0x5a5a);
    ft_relay_out_matched(&out, number);
    HOLDS(atomic_load(&rec->matched) == 0x5a5a);
    number = say_sync(to, era, &out);
    ft_relay_out_matched(&out, number);
    HOLDS(atomic_load(&to->sync->matched) == 1 && out.syncs.n == 0);
    HOLDS(ft_chan_turn(to, era + 1) == 0); /* it does not write any more */
    ft_relay_out_end(&out);
    end();
}

/* ---- a replacement ---- */

static struct ft_chan_place first_place(const struct reading *r)
{
    const struct ft_chunk *c =
        (const struct ft_chunk *)(const void *)(r->base + atomic_load(&r->hdr->head[FT_SEG_RUN]));
    return (struct ft_chan_place){
        .seq = c->first, .pos = c->begin, .hash = c->hash, .index = c->index};
}

/* Slot 0 has said something since the cut of version 3, or since it opened the channel after that,
 * when its reader, slot 2, is lost. Slot 3 or 4 replaces it: it hears all from the cut on, and
 * nothing of before. [What lies before the cut is no more, and nobody says it again.] Nobody counts
 * as placed what only slot 2 had. */
static void goes_on_from_the_cut(void **state)
{
    struct ft_wire_weather slow = {
        .delay_ns = 1000000, .jitter_ns = 5000000, .lost_in = 60, .patience_ns = 100000000};
    (void)state;
    for (int round = 0; round < 8; round++) {
        const uint32_t era = FT_ERA_FIRST;
        struct reading r = {.base = NULL}, second = {.base = NULL};
        int heard = 0, again = 0, to_slot, late = round % 4 == 0; /* opened after the cut */
        begin(&slow, 0, 0);
        start_all();
        struct ft_chan_writer *to = &w.p[0].to[2];
        struct ft_tp *tp = &w.p[0].tp;
        int before = late ? 0 : (int)ft_prng_below(&m.rng, 40),
            after = 1 + (int)ft_prng_below(&m.rng, 40);
        atomic_store(&ft_msg_committed, 0);
        HOLDS(ft_chan_open(to, tp, 2, era, FT_KEEP_CUT) == FT_OK);
        say_in(to, era, before);
        for (int i = 0; heard < before && i < 100000; i++) {
            step_gate((int)ft_prng_below(&m.rng, NODES));
            heard += hear_run(&r, 2, era);
        }
        HOLDS(heard == before);
        struct ft_chan_place cut = ft_chan_place(to);
        if (!late)
            ft_chan_cut(to, tp, 3);
        atomic_store(&ft_msg_committed, 3);
        (void)ft_chan_trim(to, tp);
        say_in(to, era, after);
        for (int i = 0; i < 20 || !ft_chan_placed(to); i++) {
            step_gate((int)ft_prng_below(&m.rng, NODES));
            if (ft_prng_below(&m.rng, 4) == 0)
                (void)hear_run(&r, 2, era); /* it has heard a part of that */
        }
        to_slot = 3 + (int)ft_prng_below(&m.rng, 2);
        HOLDS(ft_chan_rebind(to, tp, to_slot) == FT_OK);
        HOLDS(!ft_chan_placed(to));
        struct ft_chan_place begun = {.seq = 0}; /* where the first chunk there begins */
        for (int i = 0; (again < after || !ft_chan_placed(to)) && i < 100000; i++) {
            step_gate((int)ft_prng_below(&m.rng, NODES));
            again += hear_run(&second, to_slot, era);
            if (!begun.seq && second.base && atomic_load(&second.hdr->head[FT_SEG_RUN]))
                begun = first_place(&second); /* it goes when what is in it was heard */
        }
        HOLDS(again == after && ft_chan_placed(to));
        HOLDS(before == 0 || (begun.seq == cut.seq && begun.pos == cut.pos &&
                              begun.hash == cut.hash && begun.index == cut.index));
        say_in(to, era, 3); /* and goes on there */
        for (int i = 0; again < after + 3 && i < 100000; i++) {
            step_gate((int)ft_prng_below(&m.rng, NODES));
            again += hear_run(&second, to_slot, era);
        }
        HOLDS(again == after + 3);
        end();
    }
    atomic_store(&ft_msg_committed, 0);
}

/* ---- what cannot be is refused ---- */

static void nonsense(void **state)
{
    struct ft_wire_weather none = {.delay_ns = 1000, .patience_ns = 100000000};
    struct ft_relay_in in;
    struct ft_item item = {.kind = FT_ITEM_RECORDS, .from = 2, .to = 0};
    char data[256] = {0};
    (void)state;
    begin(&none, 1, 0);
    start_all();
    HOLDS(ft_relay_in_begin(&in, 2, 0, &w.p[2].arena, w.p[0].arena.ctl) == FT_OK);
    HOLDS(ft_relay_in_take(&in, &item, data) == FT_ERR_ARG); /* no chunk yet */
    item = (struct ft_item){.kind = FT_ITEM_CHUNK, .number = 4096, .of = {0, 64, 0}};
    HOLDS(ft_relay_in_take(&in, &item, NULL) == FT_OK);
    item.at = 2; /* one is missing */
    HOLDS(ft_relay_in_take(&in, &item, NULL) == FT_ERR_ARG);
    item = (struct ft_item){.kind = FT_ITEM_RECORDS, .at = 64, .number = 1, .bytes = 64};
    HOLDS(ft_relay_in_take(&in, &item, data) == FT_ERR_ARG); /* not the next one */
    item.number = 0;
    item.at = 128;
    HOLDS(ft_relay_in_take(&in, &item, data) == FT_ERR_ARG); /* a hole */
    item.at = 64;
    item.bytes = 8192;
    HOLDS(ft_relay_in_take(&in, &item, data) == FT_ERR_ARG); /* longer than the chunk */
    item.bytes = 64;
    struct ft_rec *rec = (struct ft_rec *)(void *)data;
    rec->here = 1000;
    HOLDS(ft_relay_in_take(&in, &item, data) == FT_ERR_ARG); /* longer than the item */
    rec->here = 0;
    rec->flags = FT_REC_LINK;
    HOLDS(ft_relay_in_take(&in, &item, data) == FT_ERR_ARG);
    rec->flags = FT_REC_FIRST | FT_REC_LAST;
    HOLDS(ft_relay_in_take(&in, &item, data) == FT_OK);
    HOLDS(ft_relay_in_take(&in, &item, data) == FT_ERR_ARG); /* the same again */
    item.kind = FT_ITEM_MAIL;
    HOLDS(ft_relay_in_take(&in, &item, data) == FT_ERR_ARG);
    ft_relay_in_end(&in);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fine),
        cmocka_unit_test(bad_weather),
        cmocka_unit_test(ends_are_told_last),
        cmocka_unit_test(late_words_of_the_forgotten),
        cmocka_unit_test(a_node_that_starts_late),
        cmocka_unit_test(eras_turn),
        cmocka_unit_test(a_late_match_writes_nothing),
        cmocka_unit_test(goes_on_from_the_cut),
        cmocka_unit_test(nonsense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
