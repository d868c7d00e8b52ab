/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_order_sim.c - whole jobs in small: agreement and orders over one network, with a model of the runtime that carries orders
 * out after random delays, programs that run from setup to MPI_Finalize, and crashes at any step.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/board.h"
#include "proto/agree.h"
#include "proto/order.h"
#include "proto/simnet.h"

enum { PROTO_AGREE, PROTO_ORDER };
enum mutant {
    M_NONE,
    M_NO_ENDING, /* orders go on while a ballot is open */
    M_FORGED,    /* a parent takes a child for ready that is not */
};
enum place { P_NOWHERE, P_SETUP, P_ENTRY, P_BODY, P_HELD, P_OVER, P_POST, P_FINAL, P_LEFT };
#define MAX_GEN (SIM_MAX + 2)
#define MAX_VERSION 64

struct proc {
    struct ft_agree agree;
    struct ft_order order;
    int rank;            /* -1: checksum process or spare */
    int slot_of[SIM_MAX]; /* of ranks, as it believes; -1: lost for good */
    enum place place;
    uint64_t sp, hold;   /* safepoints passed; where to stop, 0: nowhere */
    int parked, incomplete, rollback, run_over, unprotected, done, entry_failed;
    uint64_t copied, staged, flipped;
    struct ft_order_action todo; /* order handed out and not yet carried out; order NONE: none */
    int was_stuck;
};

struct sim {
    struct simnet net;
    struct ft_prng rng;
    uint64_t seed;
    enum mutant mutant;
    int nranks, nchecksums, crashes, dues, refuses, no_run, lost;
    uint64_t length; /* safepoints of a body */
    uint32_t crashed;
    long steps, commits, cancels, rollbacks, forgeries;
    struct proc p[SIM_MAX];
    uint64_t image[SIM_MAX][MAX_VERSION];         /* by rank: sp at its cut */
    struct ft_bitset failed[MAX_GEN];
    uint32_t said[MAX_GEN][SIM_MAX], superseded[MAX_GEN]; /* READY said for order; order that was ended by LATE */
};

static int in_mutant;

static void wrong(const struct sim *s, const char *what)
{
    if (in_mutant)
        _exit(2);
    for (int p = 0; p < s->net.n; p++) {
        char line[512];
        ft_agree_dump(&s->p[p].agree, line, sizeof line);
        fprintf(stderr, "%s %s\n", s->net.alive[p] ? "alive" : "dead ", line);
        ft_order_dump(&s->p[p].order, line, sizeof line);
        fprintf(stderr, "      %s; rank %d place %d sp %d todo %d\n", line, s->p[p].rank, s->p[p].place, (int)s->p[p].sp,
                s->p[p].todo.order);
    }
    fail_msg("FTRMA_TEST_SEED=%" PRIu64 ": %s", s->seed, what);
}

static int chance(struct sim *s, uint64_t one_in)
{
    return ft_prng_below(&s->rng, one_in) == 0;
}

static void crash(struct sim *s, int p)
{
    s->crashes--;
    s->crashed |= 1u << p;
    simnet_crash(&s->net, p, &s->rng);
}

static void post(struct sim *s, int p, int to, int proto, const void *msg, size_t bytes)
{
    if (s->net.alive[p] && s->crashes > 0 && chance(s, 200))
        crash(s, p);
    if (s->net.alive[p] && s->net.alive[to])
        simnet_send(&s->net, p, to, proto, msg, bytes);
}

/* ---- the order machine and what its actions must look like ---- */

static int in_generation(const struct sim *s, int q, uint32_t generation)
{
    return !ft_bit_get(&s->failed[generation], q);
}

static void check_lockstep(struct sim *s, const struct proc *me, const struct ft_order_action *a)
{
    uint32_t g = me->order.generation;
    for (int q = 0; q < s->net.n; q++)
        if (in_generation(s, q, g) && s->said[g][q] < a->seq - 1 && s->superseded[g] != a->seq - 1)
            wrong(s, "an order came before all had carried out the one before it");
}

static void order_event(struct sim *s, int p, struct ft_order_event ev)
{
    struct proc *me = &s->p[p];
    struct ft_order_actions out;
    if (!s->net.alive[p])
        return;
    ft_order_step(&me->order, &ev, &out);
    ft_order_check(&me->order);
    for (int i = 0; i < out.n; i++) {
        if (out.a[i].kind == FT_OA_SEND) {
            post(s, p, out.a[i].to, PROTO_ORDER, &out.a[i].msg, sizeof out.a[i].msg);
            continue;
        }
        assert_int_equal(i, out.n - 1);
        check_lockstep(s, me, &out.a[i]);
        me->todo = out.a[i];
        me->was_stuck = 0;
    }
    for (int q = 0; q < s->net.n; q++) /* root: committed is what all have */
        if (ft_order_is_root(&me->order) && me->order.active && s->net.alive[q] &&
            s->p[q].order.generation == me->order.generation && s->p[q].flipped < me->order.committed)
            wrong(s, "the root believes in a version that not everybody has");
}

static void milestone(struct sim *s, int p, enum ft_milestone mile)
{
    order_event(s, p, (struct ft_order_event){.kind = FT_OE_MILESTONE, .arg = mile});
}

static enum ft_milestone mile_of(const struct proc *me)
{
    static const enum ft_milestone of[] = {FT_MILE_NONE, FT_MILE_SETUP, FT_MILE_RUN, FT_MILE_RUN, FT_MILE_RUN, FT_MILE_OVER,
                                           FT_MILE_OVER, FT_MILE_FINALIZE, FT_MILE_FINALIZE};
    return of[me->place];
}

/* ---- a model of the runtime: generations ---- */

static struct ft_agree_data local_of(const struct sim *s, int p)
{
    const struct proc *me = &s->p[p];
    struct ft_agree_data d = {.committed = me->flipped};
    d.flags = (me->run_over ? FT_AGREE_RUN_OVER : 0) | (me->done ? FT_AGREE_DONE : 0) | (me->rollback ? FT_AGREE_ROLLBACK : 0) |
              (me->unprotected ? FT_AGREE_UNPROTECTED : 0);
    if (me->incomplete)
        ft_bit_set(&d.incomplete, p);
    return d;
}

/* Lowest living slots without a role take the lost ranks. Returns how many ranks were lost. */
static int replace(struct sim *s, int p, const struct ft_decision *d)
{
    struct proc *me = &s->p[p];
    int lost = 0, spare = s->nranks + s->nchecksums;
    for (int r = 0; r < s->nranks; r++) {
        if (me->slot_of[r] < 0 || !ft_bit_get(&d->failed, me->slot_of[r]))
            continue;
        lost++;
        me->slot_of[r] = -1;
        for (int busy = 1; spare < s->net.n && me->slot_of[r] < 0 && !(d->data.flags & FT_AGREE_DONE); spare++) {
            busy = ft_bit_get(&d->failed, spare);
            for (int o = 0; o < s->nranks; o++)
                busy |= me->slot_of[o] == spare;
            if (!busy)
                me->slot_of[r] = spare;
        }
        if (me->slot_of[r] == p) {
            me->rank = r;
            me->place = P_SETUP;
            me->incomplete = d->data.committed > 0;
        }
    }
    return lost;
}

static void finish_old(struct sim *s, struct proc *me, const struct ft_decision *d, int rollback)
{
    me->todo.order = FT_ORDER_NONE;
    if (me->flipped > d->data.committed)
        wrong(s, "somebody has committed what the decision does not know");
    if (me->flipped < d->data.committed && me->staged != d->data.committed)
        wrong(s, "a version was committed that somebody has not staged");
    me->flipped = d->data.committed;
    me->hold = 0;
    me->run_over |= (d->data.flags & FT_AGREE_RUN_OVER) != 0;
    me->unprotected |= (d->data.flags & FT_AGREE_UNPROTECTED) != 0;
    me->done |= (d->data.flags & FT_AGREE_DONE) != 0;
    me->rollback = rollback;
    if (me->parked && !rollback)
        wrong(s, "parked for ever");
    if (rollback)
        return;
    if (me->place == P_HELD || (me->place == P_ENTRY && me->flipped > 0))
        me->place = P_BODY;
    if (me->place == P_OVER && (me->run_over || me->unprotected) && s->nchecksums)
        me->place = P_POST;
    if (me->place == P_FINAL && me->done)
        me->place = P_LEFT;
}

static void adopt(struct sim *s, int p, const struct ft_decision *d)
{
    struct proc *me = &s->p[p];
    uint64_t flags = d->data.flags;
    struct ft_order_event ev = {
        .kind = FT_OE_GENERATION, .generation = d->generation, .failed = &d->failed, .first = FT_ORDER_REJOIN};
    if (!ft_bitset_equal(&s->failed[d->generation], &d->failed)) { /* another of this number died with its adopters */
        s->failed[d->generation] = d->failed;
        s->superseded[d->generation] = 0;
        memset(s->said[d->generation], 0, sizeof s->said[0]);
    }
    int lost = replace(s, p, d);
    int over = flags & (FT_AGREE_RUN_OVER | FT_AGREE_UNPROTECTED | FT_AGREE_DONE) ? 1 : 0;
    int rollback = (lost || flags & FT_AGREE_ROLLBACK) && d->data.committed > 0 && !over;
    if (lost && flags & FT_AGREE_UNPROTECTED && !(flags & FT_AGREE_DONE))
        s->lost = 1;
    finish_old(s, me, d, rollback);
    if (rollback) {
        ev.first = FT_ORDER_RECOVER;
        s->rollbacks++;
    }
    ev.arg = ev.committed = d->data.committed;
    ev.run_over = over;
    ev.checkpoints = s->nchecksums > 0;
    int first = chance(s, 2); /* either way round */
    if (first)
        milestone(s, p, mile_of(me));
    order_event(s, p, ev);
    if (!first)
        milestone(s, p, mile_of(me));
}

static void agree_event(struct sim *s, int p, struct ft_agree_event ev)
{
    static struct ft_agree_actions out;
    struct proc *me = &s->p[p];
    ev.local = local_of(s, p);
    ft_agree_step(&me->agree, &ev, &out);
    struct ft_decision decided = {0};
    for (int i = 0; i < out.n; i++) {
        if (out.a[i].kind == FT_AGREE_ACT_SEND)
            post(s, p, out.a[i].to, PROTO_AGREE, &out.a[i].msg, sizeof out.a[i].msg);
        else
            decided = out.a[i].decision;
    }
    if (!s->net.alive[p])
        return;
    if (decided.generation) {
        adopt(s, p, &decided);
        if (s->net.alive[p])
            agree_event(s, p, (struct ft_agree_event){.kind = FT_AGREE_EV_ADOPTED});
    }
    if (ft_agree_pending(&me->agree) && s->mutant != M_NO_ENDING) {
        order_event(s, p, (struct ft_order_event){.kind = FT_OE_ENDING});
        me->todo.order = FT_ORDER_NONE;
    }
}

/* ---- a model of the runtime: carrying out orders ---- */

static void ready(struct sim *s, int p, enum ft_order_event_kind kind, struct ft_ready r)
{
    struct proc *me = &s->p[p];
    uint32_t seq = me->todo.seq;
    if (s->said[me->order.generation][p] < seq)
        s->said[me->order.generation][p] = seq;
    if (kind == FT_OE_READY)
        me->todo.order = FT_ORDER_NONE;
    order_event(s, p, (struct ft_order_event){.kind = kind, .seq = seq, .ready = r});
}

static void do_target(struct sim *s, int p)
{
    struct proc *me = &s->p[p];
    struct ft_ready r = {.running = me->place == P_BODY || me->place == P_HELD};
    if (r.running && me->sp > me->todo.arg)
        wrong(s, "a main has passed the safepoint that it had promised to stop at");
    me->hold = me->todo.arg;
    if (me->place == P_HELD && me->sp < me->hold)
        me->place = P_BODY;
    if (me->place == P_BODY) {
        if (!me->was_stuck && chance(s, 60)) {
            me->was_stuck = 1;
            ready(s, p, FT_OE_STUCK, r);
        }
        return; /* not there yet */
    }
    if (s->refuses > 0 && chance(s, 10)) {
        s->refuses--;
        r.not_ok = FT_SKIP_REQUESTS;
    }
    ready(s, p, FT_OE_READY, r);
}

static void do_cut(struct sim *s, int p)
{
    struct proc *me = &s->p[p];
    uint32_t g = me->order.generation;
    struct ft_ready r = {.bytes = 1};
    uint64_t at = 0;
    for (int q = 0; q < s->net.n; q++) {
        const struct proc *o = &s->p[q];
        if (!s->net.alive[q] || !in_generation(s, q, g) || o->rank < 0 || o->order.generation != g || o->entry_failed)
            continue;
        int entry = o->place == P_ENTRY, exit = o->place == P_OVER, held = o->place == P_HELD;
        if (!o->order.active) /* its generation is ending: its main may go on */
            continue;
        if (me->todo.flags == FT_ORDER_ENTRY ? !entry : me->todo.flags == FT_ORDER_EXIT ? !exit : !held && !exit)
            wrong(s, "a cut before all had arrived");
        if (held && at && at != o->sp)
            wrong(s, "mains stand at different safepoints");
        at = held ? o->sp : at;
    }
    if (me->todo.arg != me->flipped + 1)
        wrong(s, "versions must grow one by one");
    assert_true(me->todo.arg < MAX_VERSION);
    if (me->rank >= 0)
        s->image[me->rank][me->todo.arg] = me->sp;
    me->copied = me->todo.arg;
    if (me->entry_failed || (s->refuses > 0 && chance(s, 10))) {
        s->refuses -= !me->entry_failed;
        r.not_ok = FT_SKIP_NOMEM;
    }
    ready(s, p, FT_OE_READY, r);
}

static void do_leave(struct sim *s, int p)
{
    struct proc *me = &s->p[p];
    struct ft_ready r = {0};
    if (!s->nchecksums) {
        if (me->todo.flags == FT_ORDER_ENTRY && me->place == P_ENTRY)
            me->place = P_BODY;
        if (me->todo.flags == FT_ORDER_EXIT && me->place == P_OVER)
            me->place = P_POST;
    } else {
        if (me->copied != me->todo.arg)
            wrong(s, "left without a copy");
        if (me->place == P_HELD)
            me->place = P_BODY;
        me->hold = 0;
        me->staged = me->copied;
        if (s->refuses > 0 && chance(s, 10)) {
            s->refuses--;
            r.not_ok = FT_SKIP_NOMEM;
        }
    }
    ready(s, p, FT_OE_READY, r);
}

static void do_commit(struct sim *s, int p)
{
    struct proc *me = &s->p[p];
    if (me->todo.arg != me->flipped + 1 || me->staged != me->todo.arg)
        wrong(s, "versions must grow one by one, staged before");
    me->flipped = me->todo.arg;
    s->commits++;
    if (me->todo.flags & FT_ORDER_ENTRY && me->place == P_ENTRY)
        me->place = P_BODY;
    if (me->todo.flags & FT_ORDER_EXIT) {
        me->run_over = 1;
        if (me->place == P_OVER)
            me->place = P_POST;
    }
    ready(s, p, FT_OE_READY, (struct ft_ready){0});
}

static void do_cancel(struct sim *s, int p)
{
    struct proc *me = &s->p[p];
    s->cancels++;
    me->hold = 0;
    if (me->place == P_HELD)
        me->place = P_BODY;
    if (me->todo.flags & FT_ORDER_ENTRY) {
        me->entry_failed = me->rank >= 0;
        if (me->place == P_ENTRY)
            me->place = P_POST;
    }
    if (me->todo.flags & FT_ORDER_EXIT) {
        me->unprotected = 1;
        if (me->place == P_OVER)
            me->place = P_POST;
    }
    ready(s, p, FT_OE_READY, (struct ft_ready){0});
}

static void do_rollback(struct sim *s, int p)
{
    struct proc *me = &s->p[p];
    switch (me->todo.order) {
    case FT_ORDER_RECOVER:
        if (me->place == P_SETUP) {
            me->place = P_ENTRY;
            milestone(s, p, FT_MILE_RUN);
        }
        me->parked = me->rank >= 0;
        me->incomplete = 0;
        break;
    case FT_ORDER_RESTORE:
        for (int q = 0; q < s->net.n; q++)
            if (s->net.alive[q] && s->p[q].rank >= 0 && s->p[q].order.generation == me->order.generation && !s->p[q].parked)
                wrong(s, "restored while somebody was not parked");
        if (me->flipped != me->todo.arg)
            wrong(s, "restored another version than the committed one");
        if (me->rank >= 0)
            me->sp = s->image[me->rank][me->todo.arg];
        break;
    default: /* RESUME */
        me->parked = me->rollback = 0;
        me->hold = 0;
        if (me->rank >= 0)
            me->place = me->sp < s->length ? P_BODY : P_OVER;
        milestone(s, p, mile_of(me));
        break;
    }
    if (s->net.alive[p])
        ready(s, p, FT_OE_READY, (struct ft_ready){0});
}

static void carry_out(struct sim *s, int p)
{
    struct proc *me = &s->p[p];
    struct ft_ready r = {0};
    switch (me->todo.order) {
    case FT_ORDER_PROPOSE:
        if (me->place == P_BODY) {
            me->hold = r.max = me->sp + 1;
            r.running = 1;
        } else if (me->place == P_OVER) {
            r.max = FT_SP_OVER;
        }
        ready(s, p, FT_OE_READY, r);
        break;
    case FT_ORDER_TARGET: do_target(s, p); break;
    case FT_ORDER_CUT: do_cut(s, p); break;
    case FT_ORDER_LEAVE: do_leave(s, p); break;
    case FT_ORDER_COMMIT: do_commit(s, p); break;
    case FT_ORDER_CANCEL: do_cancel(s, p); break;
    case FT_ORDER_RECOVER:
    case FT_ORDER_RESTORE:
    case FT_ORDER_RESUME: do_rollback(s, p); break;
    case FT_ORDER_REJOIN:
        me->incomplete = 0;
        ready(s, p, FT_OE_READY, r);
        break;
    case FT_ORDER_DONE:
        me->done = 1;
        if (me->rank >= 0 && me->place != P_FINAL && me->place != P_LEFT)
            wrong(s, "done before all were");
        me->place = me->rank >= 0 ? P_LEFT : P_NOWHERE;
        ready(s, p, FT_OE_READY, r);
        break;
    case FT_ORDER_NONE: break;
    }
}

/* ---- the program ---- */

static int main_can_move(const struct proc *me)
{
    return !me->parked && (me->place == P_SETUP || me->place == P_BODY || me->place == P_POST);
}

static void move_main(struct sim *s, int p)
{
    struct proc *me = &s->p[p];
    if (me->place == P_SETUP) {
        me->place = s->no_run ? P_FINAL : me->run_over && s->nchecksums ? P_POST : P_ENTRY;
    } else if (me->place == P_POST) {
        me->place = P_FINAL;
    } else if (me->sp == s->length) {
        me->place = P_OVER;
    } else if (++me->sp == me->hold) {
        me->place = P_HELD;
    }
    milestone(s, p, mile_of(me));
}

/* ---- what happens next ---- */

enum can { CAN_DELIVER, CAN_DETECT, CAN_CARRY_OUT, CAN_MOVE, CAN_CRASH, CAN_DUE, CAN_LATE };

static void forge(struct sim *s, int p)
{
    const struct ft_order *o = &s->p[p].order;
    for (int i = 0; i < o->tree.nchildren; i++)
        if (o->active && o->order != FT_ORDER_NONE && !o->child_ready[i] && !s->forgeries) {
            struct ft_order_msg msg = {
                .kind = FT_OM_READY, .generation = o->generation, .seq = o->seq, .ready = {.running = 1, .max = 9}};
            s->forgeries++;
            order_event(s, p, (struct ft_order_event){.kind = FT_OE_MSG, .from = o->tree.child[i], .msg = &msg});
            return;
        }
}

static void deliver(struct sim *s, int from, int to)
{
    struct sim_msg *m = simnet_take(&s->net, from, to);
    if (m->proto == PROTO_AGREE) {
        struct ft_agree_msg msg;
        memcpy(&msg, m->body, sizeof msg);
        free(m);
        agree_event(s, to, (struct ft_agree_event){.kind = FT_AGREE_EV_MSG, .slot = from, .msg = &msg});
        return;
    }
    struct ft_order_msg msg;
    memcpy(&msg, m->body, sizeof msg);
    free(m);
    const struct ft_order *o = &s->p[to].order;
    if (s->mutant == M_FORGED && s->forgeries && msg.kind == FT_OM_READY && msg.seq == o->seq &&
        (o->order == FT_ORDER_NONE || o->child_ready[from == o->tree.child[1]]))
        return; /* it was not waited for */
    order_event(s, to, (struct ft_order_event){.kind = FT_OE_MSG, .from = from, .msg = &msg});
}

static int anything(struct sim *s)
{
    struct { enum can what; int p, q; } can[SIM_MAX * SIM_MAX * 2 + 8 * SIM_MAX];
    uint64_t n = 0, idle = 0;
#define CAN(w, a, b) (can[n].what = (w), can[n].p = (a), can[n].q = (b), n++)
    for (int p = 0; p < s->net.n; p++) {
        const struct proc *me = &s->p[p];
        if (!s->net.alive[p])
            continue;
        for (int q = 0; q < s->net.n; q++) {
            if (s->net.head[q][p])
                CAN(CAN_DELIVER, p, q);
            if (!s->net.alive[q] && q == ft_ring_next(s->net.n, &me->agree.failed, p))
                CAN(CAN_DETECT, p, q);
        }
        if (me->todo.order != FT_ORDER_NONE)
            CAN(CAN_CARRY_OUT, p, 0);
        if (main_can_move(me))
            CAN(CAN_MOVE, p, 0);
        int left = me->place == P_LEFT;
        if (s->crashes > 0 && !left && chance(s, 150))
            idle++, CAN(CAN_CRASH, p, 0);
        if (s->dues > 0 && chance(s, 20))
            idle++, CAN(CAN_DUE, p, 0);
        if (me->order.order == FT_ORDER_TARGET && chance(s, 20))
            idle++, CAN(CAN_LATE, p, 0);
    }
#undef CAN
    if (n == idle)
        return 0;
    uint64_t i = ft_prng_below(&s->rng, n);
    int p = can[i].p, q = can[i].q;
    switch (can[i].what) {
    case CAN_DELIVER: deliver(s, q, p); break;
    case CAN_DETECT: agree_event(s, p, (struct ft_agree_event){.kind = FT_AGREE_EV_FAILED, .slot = q}); break;
    case CAN_CARRY_OUT: carry_out(s, p); break;
    case CAN_MOVE: move_main(s, p); break;
    case CAN_CRASH: crash(s, p); break;
    case CAN_DUE:
        s->dues--;
        order_event(s, p, (struct ft_order_event){.kind = FT_OE_DUE});
        break;
    case CAN_LATE:
        if (ft_order_is_root(&s->p[p].order))
            s->superseded[s->p[p].order.generation] = s->p[p].order.seq;
        order_event(s, p, (struct ft_order_event){.kind = FT_OE_LATE});
        break;
    }
    return 1;
}

static void check_end(struct sim *s)
{
    for (int p = 0; p < s->net.n; p++) {
        const struct proc *me = &s->p[p];
        if (!s->net.alive[p])
            continue;
        if (ft_agree_pending(&me->agree) || me->agree.failed.w[0] != s->crashed)
            wrong(s, "all is quiet, without a decision");
        if (!me->done || (me->rank >= 0 && me->place != P_LEFT))
            wrong(s, "all is quiet, and somebody has not left MPI_Finalize");
    }
}

static void setup(struct sim *s, uint64_t seed, enum mutant mutant)
{
    memset(s, 0, sizeof *s);
    s->rng.s = s->seed = sim_current = seed;
    s->mutant = mutant;
    int n = 1 + (int)ft_prng_below(&s->rng, SIM_MAX);
    simnet_init(&s->net, n);
    s->nchecksums = (int)ft_prng_below(&s->rng, n < 3 ? (uint64_t)n : 3);
    s->nranks = 1 + (int)ft_prng_below(&s->rng, (uint64_t)(n - s->nchecksums));
    s->crashes = chance(s, 4) ? 0 : (int)ft_prng_below(&s->rng, (uint64_t)n);
    s->dues = (int)ft_prng_below(&s->rng, 6);
    s->refuses = chance(s, 3) ? 2 : 0;
    s->no_run = chance(s, 8);
    s->length = ft_prng_below(&s->rng, 30);
}

static void one_run(struct sim *s, uint64_t seed, enum mutant mutant)
{
    setup(s, seed, mutant);
    int n = s->net.n;
    for (int p = 0; p < n; p++) {
        struct proc *me = &s->p[p];
        ft_agree_init(&me->agree, p, n);
        ft_order_init(&me->order, p, n);
        for (int r = 0; r < s->nranks; r++)
            me->slot_of[r] = r;
        me->rank = p < s->nranks ? p : -1;
        me->place = p < s->nranks ? P_SETUP : P_NOWHERE;
    }
    for (int p = 0; p < n; p++) {
        order_event(s, p,
                    (struct ft_order_event){.kind = FT_OE_GENERATION, .failed = &s->failed[0], .checkpoints = s->nchecksums > 0});
        milestone(s, p, mile_of(&s->p[p]));
    }
    while (!s->lost && anything(s)) {
        if (++s->steps > 100000)
            wrong(s, "no end");
        if (mutant == M_FORGED && chance(s, 30)) {
            int p = (int)ft_prng_below(&s->rng, (uint64_t)n);
            if (s->net.alive[p])
                forge(s, p);
        }
    }
    if (!s->lost)
        check_end(s);
    simnet_finish(&s->net);
}

static void whole_jobs(void **state)
{
    (void)state;
    static struct sim s;
    int given;
    long commits = 0, cancels = 0, rollbacks = 0, lost = 0;
    uint64_t seed = sim_seed(1, &given);
    for (int i = 0; i < (given ? 1 : 20000); i++) {
        one_run(&s, seed + (uint64_t)i, M_NONE);
        commits += s.commits;
        cancels += s.cancels;
        rollbacks += s.rollbacks;
        lost += s.lost;
    }
    printf("%ld commits, %ld cancels, %ld rollbacks by process; %ld jobs lost\n", commits, cancels, rollbacks, lost);
    assert_true(given || (commits > 0 && cancels > 0 && rollbacks > 0));
}

static void expect_caught(enum mutant mutant)
{
    pid_t pid = fork();
    if (pid == 0) {
        static struct sim s;
        int null = open("/dev/null", O_WRONLY);
        dup2(null, 2);
        in_mutant = 1;
        for (uint64_t i = 0; i < 5000; i++)
            one_run(&s, i, mutant);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 2);
}

static void mutants(void **state)
{
    (void)state;
    expect_caught(M_NO_ENDING);
    expect_caught(M_FORGED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_jobs),
        cmocka_unit_test(mutants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
