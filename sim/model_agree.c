/* SPDX-License-Identifier: BSD-3-Clause
 *
 * model_agree.c - a model of the runtime around detection and agreement. A watcher sees an exit in
 * the end, and what one machine learns is told to the other.
 */
#include "model_agree.h"

enum { ACT_SEES, ACT_DIES, ACT_HURRIES };
static const char *const acts[] = {"sees", "dies", "hurries", NULL};
enum agree_mutant {
    M_IMPATIENT = 1, /* a parent does not wait for a child's vote */
    M_LATE,          /* a late DECIDE is taken as one for the receiver's own set */
    M_OLD_LOCAL,     /* votes of the second round still describe the generation before */
    M_NO_RING,       /* news go to tree neighbours only */
};
static const char *const mutants[] = {"impatient", "late-decision", "old-local", "no-ring", NULL};

static size_t at_machines(const struct sim_options *o)
{
    return sizeof(struct agree_world) + (size_t)o->n * sizeof(struct agree_info);
}

static size_t bytes(const struct sim_options *o)
{
    return at_machines(o) + (o->n <= 64 ? (size_t)o->n * sizeof(struct agree_proc) : 0);
}

/* ---- packed machines: only the words that are not 0, since a set of 100,000 is nearly empty ----
 */

#define WORDS (sizeof(struct agree_proc) / 8)
struct packed {
    uint32_t n;
    uint32_t at[]; /* n of them, then n words of 8 bytes, unaligned */
};
static struct packed **packed;
static int npacked;
static union {
    struct agree_proc p;
    uint64_t w[WORDS];
} scratch;
static int loaded = -1;

static void pack(int p)
{
    static uint32_t at[WORDS];
    uint32_t n = 0;
    for (uint32_t i = 0; i < WORDS; i++)
        if (scratch.w[i])
            at[n++] = i;
    struct packed *z = realloc(packed[p], sizeof *z + n * 12ull);
    FT_ASSERT(z);
    packed[p] = z;
    z->n = n;
    memcpy(z->at, at, n * sizeof *at);
    for (uint32_t i = 0; i < n; i++) {
        memcpy((unsigned char *)(z->at + n) + i * 8ull, &scratch.w[at[i]], 8);
        scratch.w[at[i]] = 0;
    }
}

struct agree_proc *agree_load(struct sim *s, int p)
{
    if (s->o.n <= 64)
        return (struct agree_proc *)(s->world + at_machines(&s->o)) + p;
    FT_ASSERT(loaded < 0);
    loaded = p;
    const struct packed *z = packed[p];
    for (uint32_t i = 0; z && i < z->n; i++)
        memcpy(&scratch.w[z->at[i]], (const unsigned char *)(z->at + z->n) + i * 8ull, 8);
    return &scratch.p;
}

void agree_store(struct sim *s, int p)
{
    struct agree_proc *me = s->o.n <= 64 ? agree_load(s, p) : &scratch.p;
    struct agree_info *i = &agree_world(s)->info[p];
    i->watching = me->detect.watching;
    i->pending = ft_agree_pending(&me->agree);
    i->known = ft_bitset_count(&me->agree.failed);
    if (s->o.n <= 64)
        return;
    FT_ASSERT(loaded == p);
    loaded = -1;
    pack(p);
}

/* ---- events ---- */

struct ft_agree_data agree_local_of(const struct sim *s, int p, uint32_t generation)
{
    struct ft_agree_data d = {.committed = (uint64_t)(p * 7 % 5), .flags = 1ull << p % 64};
    if (generation % 2 && s->o.n <= 64)
        ft_bit_set(&d.incomplete, p);
    return d;
}

static void agree_event(struct sim *s, int p, struct agree_proc *me, struct ft_agree_event ev);

static void agree_failed(struct sim *s, int p, struct agree_proc *me, int q)
{
    static struct ft_bitset one;
    ft_bit_set(&one, q);
    agree_event(s, p, me, (struct ft_agree_event){.kind = FT_AGREE_EV_FAILED, .failed = &one});
    ft_bit_clear(&one, q);
}

/* A process that is newly watched may be dead already. */
static void watch(struct sim *s, int p, const struct ft_detect_actions *out)
{
    for (int i = 0; i < out->n; i++)
        if (out->a[i].kind == FT_DETECT_ACT_WATCH && s->o.timed && !sim_alive(s, out->a[i].slot))
            sim_after(s, p, 1, ACT_SEES, out->a[i].slot);
}

static void detect_event(struct sim *s, int p, struct agree_proc *me,
                         enum ft_detect_event_kind kind, int slot)
{
    static struct ft_bitset one;
    struct ft_detect_event ev = {kind, slot, &one};
    struct ft_detect_actions out;
    ft_bit_set(&one, slot);
    ft_detect_step(&me->detect, &ev, &out);
    ft_bit_clear(&one, slot); /* this function may be called again below */
    watch(s, p, &out);
    for (int i = 0; i < out.n; i++)
        if (out.a[i].kind == FT_DETECT_ACT_FAILED)
            agree_failed(s, p, me, slot);
}

static void tell_detection(struct sim *s, int p, struct agree_proc *me)
{
    for (size_t i = 0; i < FT_COUNTOF(me->agree.failed.w); i++)
        for (uint64_t more; (more = me->agree.failed.w[i] & ~me->detect.dead.w[i]);)
            detect_event(s, p, me, FT_DETECT_EV_FAILED, (int)(i * 64) + __builtin_ctzll(more));
}

static int neighbour(const struct ft_tree *t, int q)
{
    return q == t->parent || q == t->child[0] || q == t->child[1];
}

static void agree_event(struct sim *s, int p, struct agree_proc *me, struct ft_agree_event ev)
{
    static struct ft_agree_actions out;
    uint32_t carried_out = me->agree.last.generation, before = carried_out;
    for (;;) {
        ft_agree_step(&me->agree, &ev, &out);
        enum ft_agree_action_kind last = 0;
        for (int i = 0; i < out.n; i++) {
            const struct ft_agree_action *a = &out.a[i];
            last = a->kind;
            if (last == FT_AGREE_ACT_SEND &&
                (s->o.mutant != M_NO_RING || neighbour(&me->agree.tree, a->to)))
                sim_send(s, p, a->to, &a->msg, sizeof a->msg);
            else if (last == FT_AGREE_ACT_DECIDED && sim_alive(s, p))
                sim_check_decision(s, p, &a->decision);
        }
        if (last < FT_AGREE_ACT_VOTE || !sim_alive(s, p))
            break;
        if (last == FT_AGREE_ACT_VOTE) {
            ev = (struct ft_agree_event){.kind = FT_AGREE_EV_LOCAL};
            ev.local = agree_local_of(s, p, s->o.mutant == M_OLD_LOCAL ? before : carried_out);
        } else {
            carried_out = me->agree.last.generation;
            ev = (struct ft_agree_event){.kind = FT_AGREE_EV_ADOPTED};
        }
    }
    if (sim_alive(s, p))
        tell_detection(s, p, me);
}

static void wipe(struct sim *s, int p)
{
    memset(&agree_world(s)->info[p], 0, sizeof(struct agree_info));
    if (s->o.n <= 64)
        memset(agree_load(s, p), 0, sizeof(struct agree_proc));
}

static void crashed(struct sim *s, int p)
{
    struct agree_world *w = agree_world(s);
    if (ft_bitset_empty(&w->crashed))
        w->died_at = s->now;
    ft_bit_set(&w->crashed, p);
    for (int q = 0; q < s->o.n && s->o.timed; q++)
        if (sim_alive(s, q) && w->info[q].watching == p)
            sim_after(s, q, 1, ACT_SEES, p);
    if (s->self != p)
        wipe(s, p); /* only what it has sent still matters */
}

static void hurry(struct sim *s, int p, struct agree_proc *me)
{
    struct ft_agree *m = &me->agree;
    for (int i = 0; i < m->tree.nchildren; i++)
        if (ft_agree_pending(m) && !m->voted && !m->child_voted[i]) {
            struct ft_agree_msg vote = {.kind = FT_AGREE_VOTE,
                                        .oldest = m->last.generation,
                                        .failed = m->failed,
                                        .last = m->last};
            agree_event(s, p, me,
                        (struct ft_agree_event){
                            .kind = FT_AGREE_EV_MSG, .slot = m->tree.child[i], .msg = &vote});
            return;
        }
}

static void finish(struct sim *s, int p)
{
    agree_store(s, p);
    if (!sim_alive(s, p))
        wipe(s, p);
}

static void act(struct sim *s, int p, int what, int q)
{
    if (what == ACT_DIES) {
        if (s->crashes > 0)
            sim_crash(s, p, 0);
        return;
    }
    struct agree_proc *me = agree_load(s, p);
    if (what == ACT_HURRIES)
        hurry(s, p, me);
    else if (!ft_bit_get(&me->detect.dead, q))
        detect_event(s, p, me, FT_DETECT_EV_EXITED, q);
    finish(s, p);
}

static void deliver(struct sim *s, int p, int from, const void *body, size_t size)
{
    static struct ft_agree_msg msg;
    struct agree_proc *me = agree_load(s, p);
    const struct ft_agree *m = &me->agree;
    FT_ASSERT(size == sizeof msg);
    memcpy(&msg, body, sizeof msg);
    int same = ft_bitset_equal(&msg.failed, &m->failed);
    if (s->o.mutant == M_LATE && msg.kind == FT_AGREE_DECIDE && !same && m->voted &&
        msg.last.generation == m->last.generation + 1)
        msg.failed = msg.last.failed = m->failed;
    int counted = m->voted || m->child_voted[from == m->tree.child[1]];
    if (s->o.mutant != M_IMPATIENT || msg.kind != FT_AGREE_VOTE || !same ||
        !counted) /* else it was not waited for */
        agree_event(s, p, me,
                    (struct ft_agree_event){.kind = FT_AGREE_EV_MSG, .slot = from, .msg = &msg});
    finish(s, p);
}

/* With even seeds all hear of each exit, one after the other. With odd ones only the watcher does.
 */
static int everybody_sees(const struct sim *s) { return !s->o.timed && s->o.seed % 2 == 0; }

static void can(struct sim *s, struct sim_choices *out)
{
    for (int p = 0; p < s->o.n; p++) {
        const struct agree_info *i = &agree_world(s)->info[p];
        if (!sim_alive(s, p))
            continue;
        for (int q = 0; q < s->o.n; q++)
            if (!sim_alive(s, q) &&
                (everybody_sees(s) ? !ft_bit_get(&agree_load(s, p)->agree.failed, q)
                                   : i->watching == q))
                sim_can(out, p, ACT_SEES, q, SIM_MUST);
        if (s->o.mutant == M_IMPATIENT && i->pending)
            sim_can(out, p, ACT_HURRIES, 0, SIM_SELDOM);
    }
}

static void start(struct sim *s)
{
    static struct ft_bitset node;
    struct ft_detect_actions out;
    for (int p = 0; p < npacked; p++)
        free(packed[p]);
    free(packed);
    packed = NULL;
    npacked = s->o.n <= 64 ? 0 : s->o.n;
    if (npacked) {
        packed = calloc((size_t)npacked, sizeof *packed);
        FT_ASSERT(packed);
    }
    memset(&scratch, 0, sizeof scratch);
    loaded = -1;
    for (int p = 0; p < s->o.n; p++) {
        struct agree_proc *me = agree_load(s, p);
        memset(&node, 0, sizeof node);
        for (int q = p / 64 * 64; q < p / 64 * 64 + 64 && q < s->o.n; q++) /* 64 to a node */
            ft_bit_set(&node, q);
        ft_detect_init(&me->detect, p, s->o.n, &node, 0, &out);
        ft_agree_init(&me->agree, p, s->o.n);
        agree_store(s, p);
    }
    for (int k = 0; k < s->o.crashes && s->o.timed; k++)
        sim_after(s, (int)ft_prng_below(&s->rng, (uint64_t)s->o.n),
                  k ? ft_prng_below(&s->rng, 3000) : 0, ACT_DIES, 0);
}

static void say(const struct sim *s, const void *body, size_t size, char *out, int room)
{
    static const char *const kind[] = {"", "announce", "vote", "decide"};
    static struct ft_agree_msg m;
    (void)s;
    (void)size;
    memcpy(&m, body, sizeof m);
    int n = snprintf(out, (size_t)room, "%s, dead:", kind[m.kind]);
    for (int p = 0; p < s->o.n && p < 64 && n < room; p++)
        if (ft_bit_get(&m.failed, p))
            n += snprintf(out + n, (size_t)(room - n), " %d", p);
    if (n < room)
        snprintf(out + n, (size_t)(room - n), "; last generation %u", m.last.generation);
}

static const struct sim_checker *const checkers[] = {&sim_check_agree, NULL};
const struct sim_model sim_model_agree = {"agree", acts,         mutants, checkers, bytes, start,
                                          deliver, can,          act,     crashed,  say,   1,
                                          64,      FT_MAX_SLOTS, NULL,    NULL,     NULL};
