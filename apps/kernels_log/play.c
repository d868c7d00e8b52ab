/* SPDX-License-Identifier: BSD-3-Clause
 *
 * play.c - see play.h.
 */
#include "play.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { PEERS = 26, PHASES = 16, WORDS = 4 };

struct message {
    int from, tag;
    uint64_t value;
    struct message *next;
};

/* The images of two checkpoints, on storage that outlives the rank: the one that all have, and
 * perhaps one that not all have (else its checkpoint is -1). */
struct image {
    int checkpoint;
    uint64_t word[WORDS];
};

struct rank {
    struct play *play;
    int me;
    struct klog *log; /* NULL: lost */
    uint64_t word[WORDS];
    int phase;
    bool sent, saved;
    struct message *in, **last;
    struct image image[2];
};

struct play {
    enum play_kernel kernel;
    int ranks, side, stages, cp_int, log_size, iterations;
    uint64_t work;
    struct rank *rank;
};

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* CG on side x side processes: stages of partners along the row, the transpose partner, and twice
 * the stages again. */
static int cg_peers(const struct play *p, int me, int phase, int peer[PEERS])
{
    if (phase == p->stages) {
        peer[0] = me % p->side * p->side + me / p->side;
        return peer[0] != me;
    }
    int stage = phase < p->stages ? phase : (phase - p->stages - 1) % p->stages;
    peer[0] = me ^ 1 << stage;
    return 1;
}

static int stencil_peers(const struct play *p, int me, int phase, int peer[PEERS])
{
    int n = 0, at[3] = {me % p->side, me / p->side % p->side, me / (p->side * p->side)};

    for (int o = 0; o < 27; o++) {
        int by[3] = {o % 3 - 1, o / 3 % 3 - 1, o / 9 - 1}, there = 0, off = 0;
        for (int a = 2; a >= 0; a--) {
            int pos = at[a] + by[a];
            there = pos < 0 || pos >= p->side || there < 0 ? -1 : there * p->side + pos;
            off += by[a] != 0;
        }
        if (there >= 0 && off > 0 && (phase == 0 || off == 1))
            peer[n++] = there;
    }
    return n;
}

static int peers(const struct play *p, int me, int phase, int peer[PEERS])
{
    return p->kernel == PLAY_CG ? cg_peers(p, me, phase, peer) : stencil_peers(p, me, phase, peer);
}

int play_phases(const struct play *p) { return p->kernel == PLAY_CG ? 3 * p->stages + 1 : 2; }

static void deliver(void *arg, int dest, int tag, const void *data, size_t bytes)
{
    const struct rank *r = arg;
    struct rank *to = &r->play->rank[dest];
    struct message *m = malloc(sizeof *m);

    if (!m)
        abort();
    *m = (struct message){.from = r->me, .tag = tag};
    assert(bytes == sizeof m->value);
    memcpy(&m->value, data, bytes);
    *to->last = m;
    to->last = &m->next;
}

/* The work of setup, the same in each replacement. */
static bool start(struct rank *r)
{
    struct play *p = r->play;

    for (int i = 0; i < WORDS; i++)
        r->word[i] = mix((uint64_t)(r->me * WORDS + i + 1));
    r->phase = -1;
    r->sent = r->saved = false;
    r->log = klog_create(r->me, p->ranks, p->cp_int, p->log_size, deliver, r);
    return r->log && klog_register(r->log, r->word, sizeof r->word);
}

static void drop_messages(struct rank *r)
{
    while (r->in) {
        struct message *m = r->in;
        r->in = m->next;
        free(m);
    }
    r->last = &r->in;
}

void play_destroy(struct play *p)
{
    if (!p)
        return;
    for (int r = 0; p->rank && r < p->ranks; r++) {
        drop_messages(&p->rank[r]);
        klog_destroy(p->rank[r].log);
    }
    free(p->rank);
    free(p);
}

struct play *play_create(enum play_kernel kernel, int ranks, int cp_int, int log_size,
                         int iterations)
{
    struct play *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    *p = (struct play){.kernel = kernel,
                       .ranks = ranks,
                       .cp_int = cp_int,
                       .log_size = log_size,
                       .iterations = iterations};
    int cube = kernel == PLAY_CG ? 1 : 0;
    for (p->side = 1; p->side * p->side * (cube ? 1 : p->side) < ranks; p->side *= cube ? 2 : 1)
        p->side += cube ? 0 : 1;
    for (int s = 1; kernel == PLAY_CG && s < p->side; s *= 2)
        p->stages++;
    assert(p->side * p->side * (cube ? 1 : p->side) == ranks && play_phases(p) <= PHASES);
    p->rank = calloc((size_t)ranks, sizeof *p->rank);
    bool ok = p->rank;
    for (int r = 0; ok && r < ranks; r++) {
        p->rank[r] = (struct rank){.play = p, .me = r, .last = &p->rank[r].in};
        ok = start(&p->rank[r]);
        if (ok)
            klog_save(p->rank[r].log, p->rank[r].image[0].word); /* checkpoint 0 is setup's */
        p->rank[r].image[1].checkpoint = -1;
    }
    if (ok)
        return p;
    play_destroy(p);
    return NULL;
}

struct play_place play_at(const struct play *p, int rank)
{
    const struct rank *r = &p->rank[rank];

    assert(r->log);
    return (struct play_place){.iteration = klog_iteration(r->log),
                               .phase = r->phase,
                               .checkpoint = klog_checkpoint(r->log),
                               .sent = r->sent,
                               .waits_for_checkpoint = r->saved,
                               .done = klog_iteration(r->log) == p->iterations};
}

/* Saves, then waits until all have saved or are further. */
static bool checkpoint(struct rank *r)
{
    struct play *p = r->play;
    int here = klog_iteration(r->log);

    if (!r->saved) {
        r->image[1] = (struct image){.checkpoint = here};
        klog_save(r->log, r->image[1].word);
        r->saved = true;
        return true;
    }
    for (int o = 0; o < p->ranks; o++) {
        const struct rank *other = &p->rank[o];
        if (!other->log || !(other->saved || klog_checkpoint(other->log) == here))
            return false;
    }
    klog_committed(r->log);
    r->image[0] = r->image[1];
    r->saved = false;
    return true;
}

static bool send_all(struct rank *r, const int peer[], int n)
{
    for (int i = 0; i < n; i++) {
        uint64_t value = mix(r->word[0] + (uint64_t)peer[i] * 2 + 1);
        if (!klog_send(r->log, peer[i], klog_iteration(r->log) * PHASES + r->phase, &value,
                       sizeof value))
            abort();
    }
    r->sent = true;
    return true;
}

static struct message **from(struct rank *r, int peer)
{
    struct message **m = &r->in;
    while (*m && (*m)->from != peer)
        m = &(*m)->next;
    return m;
}

/* Non-idempotent on purpose: what an iteration reads is changed before its last message. */
static void receive_one(struct rank *r, int peer)
{
    struct message **at = from(r, peer), *m = *at;

    assert(m->tag ==
           klog_iteration(r->log) * PHASES + r->phase); /* never one too many or too few */
    r->word[0] = mix(r->word[0] ^ m->value);
    r->word[1 + (m->tag + peer) % (WORDS - 1)] += r->word[0];
    if (r->last == &m->next)
        r->last = at;
    *at = m->next;
    free(m);
}

static bool receive_all(struct rank *r, const int peer[], int n)
{
    for (int i = 0; i < n; i++)
        if (!*from(r, peer[i]))
            return false;
    for (int i = 0; i < n; i++)
        receive_one(r, peer[i]);
    r->sent = false;
    if (++r->phase == play_phases(r->play)) {
        r->word[0] = mix(r->word[0] + r->word[1] + r->word[2] * 3 + r->word[3] * 5);
        klog_end(r->log);
        r->play->work++;
        r->phase = -1;
    }
    return true;
}

bool play_step(struct play *p, int rank)
{
    struct rank *r = &p->rank[rank];
    int peer[PEERS], n;

    if (!r->log || klog_iteration(r->log) == p->iterations)
        return false;
    if (r->phase < 0 && klog_checkpoint_due(r->log))
        return checkpoint(r);
    if (r->phase < 0) {
        klog_begin(r->log);
        r->phase = 0;
        return true;
    }
    n = peers(p, rank, r->phase, peer);
    return r->sent ? receive_all(r, peer, n) : send_all(r, peer, n);
}

bool play_run(struct play *p, uint64_t *seed, int steps)
{
    for (int i = 0; steps == 0 || i < steps; i++) {
        *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        int first = (int)((*seed >> 33) % (uint64_t)p->ranks), tried = 0;
        while (tried < p->ranks && !play_step(p, (first + tried) % p->ranks))
            tried++;
        if (tried < p->ranks)
            continue;
        for (int r = 0; r < p->ranks; r++)
            if (!p->rank[r].log || !play_at(p, r).done)
                return false;
        return true;
    }
    return true;
}

void play_lockstep(struct play *p, int iteration)
{
    bool moved = true;

    while (moved) {
        moved = false;
        for (int r = 0; r < p->ranks; r++) {
            struct play_place at = play_at(p, r);
            if (at.iteration < iteration ||
                (at.iteration == iteration && klog_checkpoint_due(p->rank[r].log)))
                moved = play_step(p, r) || moved;
        }
    }
    for (int r = 0; r < p->ranks; r++)
        assert(play_at(p, r).iteration == iteration && play_at(p, r).phase == -1);
}

void play_lose(struct play *p, int rank)
{
    klog_destroy(p->rank[rank].log);
    p->rank[rank].log = NULL;
    drop_messages(&p->rank[rank]);
}

int play_checkpoint(const struct play *p)
{
    int newest = -1;
    for (int r = 0; r < p->ranks; r++)
        if (p->rank[r].log && klog_checkpoint(p->rank[r].log) > newest)
            newest = klog_checkpoint(p->rank[r].log);
    return newest;
}

static void load(struct rank *r, int checkpoint)
{
    assert(r->image[0].checkpoint == checkpoint);
    klog_load(r->log, r->image[0].word, checkpoint);
}

enum klog_way play_tell(struct play *p, int front[])
{
    int *at = calloc((size_t)p->ranks, sizeof *at), newest = play_checkpoint(p);
    enum klog_way way = KLOG_LOCAL;

    if (!at || newest < 0) /* everybody was lost */
        abort();
    for (int i = 0; i < p->ranks; i++) {
        struct rank *r = &p->rank[i];
        drop_messages(r);
        if (r->image[1].checkpoint == newest) /* somebody has seen that all have it */
            r->image[0] = r->image[1];
        r->image[1].checkpoint = -1;
        if (r->log) {
            klog_abort(r->log);
        } else {
            if (!start(r))
                abort();
            load(r, newest);
        }
        r->phase = -1;
        r->sent = r->saved = false;
        at[i] = klog_iteration(r->log);
    }
    for (int i = 0; i < p->ranks; i++) {
        enum klog_way his = klog_recover(p->rank[i].log, at, newest);
        assert(i == 0 || his == way); /* all decide the same */
        way = his;
    }
    for (int i = 0; way == KLOG_GLOBAL && i < p->ranks; i++)
        load(&p->rank[i], newest);
    if (front)
        memcpy(front, at, (size_t)p->ranks * sizeof *at);
    free(at);
    return way;
}

uint64_t play_result(const struct play *p)
{
    uint64_t h = 0;
    for (int r = 0; r < p->ranks; r++)
        for (int i = 0; i < WORDS; i++)
            h = mix(h + p->rank[r].word[i]);
    return h;
}

uint64_t play_work(const struct play *p) { return p->work; }

struct klog_counts play_counts(const struct play *p, int rank)
{
    assert(p->rank[rank].log);
    return klog_counts(p->rank[rank].log);
}
