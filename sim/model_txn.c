/* SPDX-License-Identifier: BSD-3-Clause
 *
 * model_txn.c - the program of each rank. It sends messages and headers to the others, and answers
 * the headers that come to it in any order.
 */
#include "txn_far.h"

enum { ACT_SENDS, ACT_ANSWERS, ACT_ADOPTS, ACT_DIES, ACT_FAR };
static const char *const acts[] = {"sends", "answers", "adopts", "dies", NULL};
#define ELSEWHERE 256 /* of what dies: its replacement is on another node */
static const char *const mutants[] = {"twice",      "once", "resends", "header-ack",  "old-put",
                                      "old-frames", "deaf", "eager",   "forgets-ack", NULL};

static const char *const acts_far[] = {"sends",   "answers",      "adopts", "dies",    "takes", "tells",
                                       "arrives", "acknowledges", "breaks", "returns", "reads", "flushes",
                                       "node ends", NULL};
static const char *const mutants_far[] = {
    "twice",       "once",  "resends",    "header-ack",  "old-put", "old-frames", "deaf",     "eager",
    "forgets-ack", "again", "taken-early", "no-room",    "all-again", "goes-on",  "unsaid", NULL};

struct carried {
    struct ft_txn_frame f;
    uint32_t life, pad; /* of the sender */
};

static struct txn_rank *rank_of(const struct sim *s, int p) { return &txn_world(s)->rank[p]; }

static int ops(const struct sim *s) { return s->o.ops < TXN_OPS ? s->o.ops : TXN_OPS; }

static uint64_t body_of(struct txn_body b)
{
    uint64_t v;
    memcpy(&v, &b, sizeof v);
    return v;
}

/* The request that the put of this body answered. */
static struct txn_request *answered(struct txn_rank *me, int from, struct txn_body b)
{
    size_t i = 0;
    while (me->request[i].state != TXN_ANSWERED || me->request[i].from != from ||
           me->request[i].life != b.for_life || me->request[i].op != b.op)
        FT_ASSERT(++i < sizeof me->request / sizeof *me->request);
    return &me->request[i];
}

static void carry_out(struct sim *s, int p)
{
    struct txn_rank *me = rank_of(s, p);
    struct ft_txn *t = txn_machine(s, p);
    struct ft_txn_action a;
    while (ft_txn_next(t, &a)) {
        if (a.kind == FT_TXN_SEND && far_between(s, p, a.peer)) {
            far_send(s, p, a.peer, &a.frame);
            continue;
        }
        if (a.kind == FT_TXN_SEND) {
            struct carried f = {.f = a.frame, .life = me->life};
            sim_send(s, p, a.peer, &f, sizeof f);
            continue;
        }
        struct txn_body b;
        memcpy(&b, &a.body, sizeof b);
        if (b.put) {
            struct txn_request *r = answered(me, a.peer, b);
            txn_check_told(s, p, r);
            r->state = TXN_TOLD;
        } else {
            txn_check_acked(s, p, &me->op[b.life][b.op]);
        }
    }
    ft_txn_check(t);
}

static void requested(struct sim *s, int p, struct txn_body b, uint64_t id)
{
    struct txn_rank *me = rank_of(s, p);
    size_t i = 0;
    while (me->request[i].state != TXN_FREE)
        FT_ASSERT(++i < sizeof me->request / sizeof *me->request);
    me->request[i] = (struct txn_request){
        .from = b.from, .life = b.life, .op = b.op, .state = TXN_WAITS, .id = id};
}

void txn_heard(struct sim *s, int p, int from, const struct ft_txn_frame *f)
{
    if (ft_txn_frame(txn_machine(s, p), from, f)) {
        struct txn_body b;
        memcpy(&b, &f->body, sizeof b);
        txn_check_delivered(s, p, (enum ft_txn_kind)f->item, b);
        if (f->item == FT_TXN_HEADER)
            requested(s, p, b, f->id);
    }
    carry_out(s, p);
}

static void deliver(struct sim *s, int p, int from, const void *body, size_t bytes)
{
    struct carried f = {0};
    memcpy(&f, body, bytes < sizeof f ? bytes : sizeof f);
    if (txn_world(s)->lost[from][f.life] & 1 << p)
        return;
    txn_heard(s, p, from, &f.f);
}

static void sends(struct sim *s, int p)
{
    struct txn_rank *me = rank_of(s, p);
    int i = me->next_op;
    struct txn_op *op = &me->op[me->life][i];
    /* the seed draws once what is sent to whom */
    uint64_t draw = s->o.seed * 31 + (uint64_t)(p * 7 + i * 3);
    op->kind = draw % 3 == 0 ? FT_TXN_MESSAGE : FT_TXN_HEADER;
    op->ack = draw % 2 == 0;
    op->to = (uint8_t)((p + 1 + (int)(draw % (uint64_t)(s->o.n - 1))) % s->o.n);
    struct txn_body b = {.from = (uint8_t)p, .life = me->life, .op = (uint8_t)i};
    if (ft_txn_send(txn_machine(s, p), op->kind, op->to, body_of(b), op->ack, 0, &op->id) !=
        FT_TXN_OK)
        sim_wrong(s, "rank %d has no room for operation %d", p, i);
    op->sent = 1;
    me->next_op++;
    carry_out(s, p);
}

static void answers(struct sim *s, int p, int q)
{
    struct txn_request *r = &rank_of(s, p)->request[q];
    struct ft_txn *t = txn_machine(s, p);
    struct txn_body b = {.from = (uint8_t)p,
                         .life = rank_of(s, p)->life,
                         .op = r->op,
                         .for_life = r->life,
                         .put = 1};
    enum ft_txn_status e = ft_txn_send(t, FT_TXN_PUT, r->from, body_of(b), 1, r->life, &r->id);
    if (e == FT_TXN_OK)
        r->state = TXN_ANSWERED;
    else if (e == FT_TXN_REPLACED)
        r->state = TXN_TOLD;
    carry_out(s, p);
}

static void adopts(struct sim *s, int p, int generation)
{
    int before = rank_of(s, p)->generation;
    rank_of(s, p)->generation = (uint8_t)generation;
    if (txn_is_far(s))
        far_adopts(s, p, before);
    ft_txn_generation(txn_machine(s, p), (uint32_t)generation, txn_world(s)->life[generation]);
    carry_out(s, p);
}

void txn_new_generation(struct sim *s)
{
    struct txn_world *w = txn_world(s);
    w->generation++;
    memcpy(w->life[w->generation], w->life[w->generation - 1], sizeof w->life[0]);
    if (txn_is_far(s))
        memcpy(txn_far(s)->slot[w->generation], txn_far(s)->slot[w->generation - 1], sizeof txn_far(s)->slot[0]);
}

void txn_replaced(struct sim *s, int p)
{
    struct txn_world *w = txn_world(s);
    struct txn_rank *me = rank_of(s, p);
    w->deaths++;
    w->life[w->generation][p]++;
    me->life++;
    me->next_op = 0;
    me->generation = w->generation;
    me->is_new = 1;
    memset(me->request, 0, sizeof me->request);
}

static void begins(struct sim *s, int p)
{
    const struct txn_world *w = txn_world(s);
    int g = rank_of(s, p)->generation;
    ft_txn_init(txn_machine(s, p), s->o.n, TXN_ROOM, p, (uint32_t)g, w->life[g]);
    ft_txn_break(txn_machine(s, p),
                 (enum ft_txn_broken)(s->o.mutant > FT_TXN_FORGETS_ACK ? FT_TXN_SOUND : s->o.mutant));
}

/* lost: bits of receivers to which nothing that is under way arrives any more. */
static void dies(struct sim *s, int p, int lost, int elsewhere)
{
    txn_world(s)->lost[p][rank_of(s, p)->life] = (uint8_t)lost;
    txn_new_generation(s);
    if (txn_is_far(s))
        far_dies(s, p, lost, elsewhere);
    txn_replaced(s, p);
}

static void act(struct sim *s, int p, int what, int q)
{
    switch (what) {
    case ACT_SENDS: sends(s, p); break;
    case ACT_ANSWERS: answers(s, p, q); break;
    case ACT_ADOPTS: adopts(s, p, q); break;
    case ACT_DIES: dies(s, p, q % ELSEWHERE, q / ELSEWHERE); break;
    default: far_act(s, p, what - ACT_FAR, q);
    }
    for (int i = 0; i < s->o.n; i++)
        if (rank_of(s, i)->is_new) {
            rank_of(s, i)->is_new = 0;
            begins(s, i);
        }
}

static void can_die(const struct sim *s, struct sim_choices *out, int p, int elsewhere)
{
    for (int lost = 0; lost < 1 << s->o.n && s->o.n <= 3; lost++)
        if (!(lost & 1 << p))
            sim_can(out, p, ACT_DIES, lost | elsewhere, SIM_SELDOM);
    for (int i = 0; i < s->o.n && s->o.n > 3; i++)
        sim_can(out, p, ACT_DIES, (i == p ? 0 : 1 << i) | elsewhere, SIM_SELDOM);
}

static void can(struct sim *s, struct sim_choices *out)
{
    const struct txn_world *w = txn_world(s);
    for (int p = 0; p < s->o.n; p++) {
        const struct txn_rank *me = rank_of(s, p);
        if (me->next_op < ops(s))
            sim_can(out, p, ACT_SENDS, 0, SIM_MUST);
        for (int i = 0; i < (int)(sizeof me->request / sizeof *me->request); i++)
            if (me->request[i].state == TXN_WAITS)
                sim_can(out, p, ACT_ANSWERS, i, SIM_MUST);
        if (me->generation < w->generation) /* at once, or one after the other */
            sim_can(out, p, ACT_ADOPTS, w->generation, SIM_MUST);
        if (me->generation + 1 < w->generation)
            sim_can(out, p, ACT_ADOPTS, me->generation + 1, SIM_SELDOM);
        for (int elsewhere = 0; elsewhere <= txn_is_far(s); elsewhere++)
            if (txn_is_far(s) ? far_may_die(s, p, elsewhere) : w->deaths < s->o.crashes && w->deaths < TXN_DEATHS)
                can_die(s, out, p, elsewhere * ELSEWHERE);
    }
    if (txn_is_far(s))
        far_can(s, out, ACT_FAR);
}

static size_t bytes(const struct sim_options *o)
{
    return sizeof(struct txn_world) + (size_t)o->n * ft_txn_bytes(o->n, TXN_ROOM);
}

static size_t bytes_far(const struct sim_options *o) { return bytes(o) + far_bytes(o); }

static void start(struct sim *s)
{
    s->crashes = 0; /* the model draws deaths */
    for (int p = 0; p < s->o.n; p++)
        begins(s, p);
    if (txn_is_far(s))
        far_start(s);
}

static void say(const struct sim *s, const void *body, size_t size, char *out, int room)
{
    static const char *const kind[] = {"", "item", "acknowledgement", "resume"}, *const item[] = {
                                                                                     "", "message",
                                                                                     "header",
                                                                                     "put"};
    struct carried f = {0};
    (void)s;
    memcpy(&f, body, size < sizeof f ? size : sizeof f);
    snprintf(out, (size_t)room, "%s %s, number %u, generation %u, life %u%s", kind[f.f.kind],
             item[f.f.item], f.f.number, f.f.generation, f.life, f.f.asks ? ", asks" : "");
}

static const struct sim_checker *const checkers[] = {&sim_check_txn, NULL};
const struct sim_model sim_model_txn = {"txn",     acts, mutants, checkers, bytes, start,
                                        deliver,   can,  act,     NULL,     say,   2,
                                        TXN_RANKS, 0,    NULL,    NULL,     NULL};
const struct sim_model sim_model_txn_far = {"txn-far", acts_far, mutants_far, checkers, bytes_far, start,
                                            deliver,   can,      act,         NULL,     say,       2,
                                            FAR_RANKS, 0,        NULL,        NULL,     NULL};
