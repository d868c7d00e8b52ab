/* SPDX-License-Identifier: BSD-3-Clause
 *
 * model_job.c - a model of the runtime: decisions are adopted as order.h asks for, orders carried out one step at a time.
 */
#include "model_job.h"

enum { MSG_AGREE = 1, MSG_ORDER };
struct agree_body {
    uint64_t proto;
    struct ft_agree_msg m;
};
struct order_body {
    uint64_t proto;
    struct ft_order_msg m;
};

enum { ACT_SEES, ACT_CARRIES_OUT, ACT_MOVES, ACT_IS_DUE, ACT_IS_LATE, ACT_FORGES };
static const char *const acts[] = {"sees", "carries-out", "moves", "is-due", "is-late", "forges", NULL};
enum { WELL, REFUSING, STUCK }; /* how an order is carried out */
enum mutant {
    M_NO_ENDING = 1, /* orders go on while a ballot is open */
    M_FORGED,        /* a parent takes a child for ready that is not */
    M_LOST_COMMIT,   /* the order to commit never comes to the last process */
    M_TRIMMED,       /* logs are cut when an image is staged, not when it is committed */
    M_EAGER_COMMIT,  /* an image counts as committed when it is staged */
};
static const char *const mutants[] = {"no-ending", "forged", "lost-commit", "trimmed", "eager-commit", NULL};

static struct ft_groups groups; /* of the job under way: never changes */

static size_t bytes(const struct sim_options *o)
{
    (void)o;
    return sizeof(struct job_world);
}

/* ---- orders handed out ---- */

static void order_event(struct sim *s, int p, struct ft_order_event ev)
{
    struct job_proc *me = &job_world(s)->p[p];
    struct ft_order_actions out;
    if (!sim_alive(s, p))
        return;
    ft_order_step(&me->order, &ev, &out);
    for (int i = 0; i < out.n && sim_alive(s, p); i++) {
        if (out.a[i].kind == FT_OA_SEND) {
            static struct order_body b;
            b.proto = MSG_ORDER;
            b.m = out.a[i].msg;
            sim_send(s, p, out.a[i].to, &b, sizeof b);
            continue;
        }
        FT_ASSERT(i == out.n - 1);
        job_check_order(s, p, &out.a[i]);
        me->todo = out.a[i];
        me->was_stuck = 0;
    }
}

static void milestone(struct sim *s, int p)
{
    static const enum ft_milestone of[] = {FT_MILE_NONE, FT_MILE_SETUP, FT_MILE_RUN,      FT_MILE_RUN,     FT_MILE_RUN,
                                           FT_MILE_OVER, FT_MILE_OVER,  FT_MILE_FINALIZE, FT_MILE_FINALIZE};
    order_event(s, p, (struct ft_order_event){.kind = FT_OE_MILESTONE, .arg = of[job_world(s)->p[p].place]});
}

/* ---- generations ---- */

static struct ft_agree_data local_of(const struct sim *s, int p)
{
    const struct job_proc *me = &job_world(s)->p[p];
    struct ft_agree_data d = {.committed = me->flipped};
    d.flags = (me->run_over ? FT_AGREE_RUN_OVER : 0) | (me->done ? FT_AGREE_DONE : 0) | (me->rollback ? FT_AGREE_ROLLBACK : 0) |
              (me->unprotected ? FT_AGREE_UNPROTECTED : 0);
    if (me->incomplete)
        ft_bit_set(&d.incomplete, p);
    return d;
}

/* The plan, and p's new place in it. */
static enum ft_plan_kind assign(struct sim *s, int p, const struct ft_decision *d)
{
    static struct ft_plan plan;
    struct job_world *w = job_world(s);
    struct job_proc *me = &w->p[p];
    struct ft_mapping m = {.nranks = w->nranks,
                           .nchecksums = w->nchecksums,
                           .nspares = s->o.n - w->nranks - w->nchecksums,
                           .generation = me->generation,
                           .slot_of = me->slot_of,
                           .incarnation = me->incarnation,
                           .pos_of = me->pos_of};
    int was = me->pos_of[p];
    ft_plan_make(&m, w->nchecksums ? &groups : NULL, d, 1, &plan);
    me->generation = m.generation;
    int pos = me->pos_of[p];
    if (plan.kind != FT_PLAN_LOST && pos != was) {
        me->rank = pos < w->nranks ? pos : -1;
        me->place = me->rank >= 0 ? JOB_SETUP : JOB_NOWHERE;
        me->incomplete = d->data.committed > 0;
    }
    return plan.kind;
}

static void finish_old(struct sim *s, struct job_proc *me, const struct ft_decision *d, int rollback)
{
    me->todo.order = FT_ORDER_NONE;
    me->flipped = d->data.committed;
    me->hold = 0;
    me->run_over |= (d->data.flags & FT_AGREE_RUN_OVER) != 0;
    me->unprotected |= (d->data.flags & FT_AGREE_UNPROTECTED) != 0;
    me->done |= (d->data.flags & FT_AGREE_DONE) != 0;
    me->rollback = rollback;
    if (rollback)
        return;
    if (me->place == JOB_HELD || (me->place == JOB_ENTRY && me->flipped > 0))
        me->place = JOB_BODY;
    if (me->place == JOB_OVER && (me->run_over || me->unprotected) && job_world(s)->nchecksums)
        me->place = JOB_POST;
    if (me->place == JOB_FINAL && me->done)
        me->place = JOB_LEFT;
}

static void adopt(struct sim *s, int p, const struct ft_decision *d)
{
    struct job_world *w = job_world(s);
    struct job_proc *me = &w->p[p];
    uint32_t g = d->generation;
    struct ft_order_event ev = {.kind = FT_OE_GENERATION, .generation = g, .failed = &d->failed, .first = FT_ORDER_REJOIN};
    if (!ft_bitset_equal(&w->failed[g], &d->failed)) { /* another of this number died with its adopters */
        w->failed[g] = d->failed;
        w->superseded[g] = 0;
        memset(w->said[g], 0, sizeof w->said[0]);
    }
    job_check_decision(s, p, d);
    enum ft_plan_kind plan = assign(s, p, d);
    if (plan == FT_PLAN_LOST) {
        w->lost = 1;
        return;
    }
    int over = d->data.flags & (FT_AGREE_RUN_OVER | FT_AGREE_UNPROTECTED | FT_AGREE_DONE) ? 1 : 0;
    int rollback = plan == FT_PLAN_ROLLBACK;
    job_check_adopted(s, p, d, rollback);
    finish_old(s, me, d, rollback);
    if (rollback) {
        ev.first = FT_ORDER_RECOVER;
        w->rollbacks += !s->searching;
    }
    ev.arg = ev.committed = d->data.committed;
    ev.run_over = over;
    ev.checkpoints = w->nchecksums > 0;
    int first = (p + (int)g) % 2; /* either way round */
    if (first)
        milestone(s, p);
    order_event(s, p, ev);
    if (!first)
        milestone(s, p);
}

static void agree_event(struct sim *s, int p, struct ft_agree_event ev)
{
    static struct ft_agree_actions out;
    static struct ft_decision decided;
    struct job_proc *me = &job_world(s)->p[p];
    for (int again = 1; again;) {
        ev.local = local_of(s, p);
        ft_agree_step(&me->agree, &ev, &out);
        again = 0;
        for (int i = 0; i < out.n; i++) {
            static struct agree_body b;
            again = out.a[i].kind == FT_AGREE_ACT_DECIDED;
            if (again) {
                decided = out.a[i].decision;
                continue;
            }
            b.proto = MSG_AGREE;
            b.m = out.a[i].msg;
            sim_send(s, p, out.a[i].to, &b, sizeof b);
        }
        if (again && sim_alive(s, p))
            adopt(s, p, &decided);
        again = again && sim_alive(s, p) && !job_world(s)->lost;
        ev = (struct ft_agree_event){.kind = FT_AGREE_EV_ADOPTED};
    }
    if (sim_alive(s, p) && ft_agree_pending(&me->agree) && s->o.mutant != M_NO_ENDING) {
        order_event(s, p, (struct ft_order_event){.kind = FT_OE_ENDING});
        me->todo.order = FT_ORDER_NONE;
    }
}

/* ---- orders carried out ---- */

static void ready(struct sim *s, int p, enum ft_order_event_kind kind, struct ft_ready r)
{
    struct job_proc *me = &job_world(s)->p[p];
    uint32_t seq = me->todo.seq, *said = &job_world(s)->said[me->order.generation][p];
    *said = *said < seq ? seq : *said;
    if (kind == FT_OE_READY)
        me->todo.order = FT_ORDER_NONE;
    order_event(s, p, (struct ft_order_event){.kind = kind, .seq = seq, .ready = r});
}

static int is_on_its_way(const struct job_proc *me)
{
    return me->todo.order == FT_ORDER_TARGET && me->place == JOB_BODY && me->hold == me->todo.arg;
}

static void do_target(struct sim *s, int p, int how)
{
    struct job_proc *me = &job_world(s)->p[p];
    struct ft_ready r = {.running = me->place == JOB_BODY || me->place == JOB_HELD};
    me->hold = me->todo.arg;
    if (me->place == JOB_HELD && me->sp < me->hold)
        me->place = JOB_BODY;
    if (me->place == JOB_BODY) {
        me->was_stuck |= how == STUCK;
        if (how == STUCK)
            ready(s, p, FT_OE_STUCK, r);
        return; /* not there yet */
    }
    r.not_ok = how == REFUSING ? FT_SKIP_REQUESTS : 0;
    ready(s, p, FT_OE_READY, r);
}

static void do_cut(struct sim *s, int p, int how)
{
    struct job_world *w = job_world(s);
    struct job_proc *me = &w->p[p];
    struct ft_ready r = {.bytes = 1};
    FT_ASSERT(me->todo.arg < JOB_VERSIONS);
    if (me->rank >= 0)
        w->image[me->rank][me->todo.arg] = me->sp;
    me->copied = me->todo.arg;
    r.not_ok = me->entry_failed || how == REFUSING ? FT_SKIP_NOMEM : 0;
    ready(s, p, FT_OE_READY, r);
}

static void do_leave(struct sim *s, int p, int how)
{
    struct job_world *w = job_world(s);
    struct job_proc *me = &w->p[p];
    struct ft_ready r = {0};
    if (!w->nchecksums) {
        if (me->todo.flags == FT_ORDER_ENTRY && me->place == JOB_ENTRY)
            me->place = JOB_BODY;
        if (me->todo.flags == FT_ORDER_EXIT && me->place == JOB_OVER)
            me->place = JOB_POST;
    } else {
        if (me->place == JOB_HELD)
            me->place = JOB_BODY;
        me->hold = 0;
        me->staged = me->copied;
        if (s->o.mutant == M_TRIMMED)
            me->oldest = me->staged;
        if (s->o.mutant == M_EAGER_COMMIT)
            me->flipped = me->staged;
        r.not_ok = how == REFUSING ? FT_SKIP_NOMEM : 0;
    }
    ready(s, p, FT_OE_READY, r);
}

static void do_commit(struct sim *s, int p)
{
    struct job_world *w = job_world(s);
    struct job_proc *me = &w->p[p];
    me->flipped = me->todo.arg;
    me->oldest = me->flipped;
    w->commits += !s->searching;
    if (me->todo.flags & FT_ORDER_ENTRY && me->place == JOB_ENTRY)
        me->place = JOB_BODY;
    if (me->todo.flags & FT_ORDER_EXIT) {
        me->run_over = 1;
        if (me->place == JOB_OVER)
            me->place = JOB_POST;
    }
    ready(s, p, FT_OE_READY, (struct ft_ready){0});
}

static void do_cancel(struct sim *s, int p)
{
    struct job_proc *me = &job_world(s)->p[p];
    job_world(s)->cancels += !s->searching;
    me->hold = 0;
    if (me->place == JOB_HELD)
        me->place = JOB_BODY;
    if (me->todo.flags & FT_ORDER_ENTRY) {
        me->entry_failed = me->rank >= 0;
        if (me->place == JOB_ENTRY)
            me->place = JOB_POST;
    }
    if (me->todo.flags & FT_ORDER_EXIT) {
        me->unprotected = 1;
        if (me->place == JOB_OVER)
            me->place = JOB_POST;
    }
    ready(s, p, FT_OE_READY, (struct ft_ready){0});
}

static void do_rollback(struct sim *s, int p)
{
    struct job_world *w = job_world(s);
    struct job_proc *me = &w->p[p];
    if (me->todo.order == FT_ORDER_RECOVER) {
        if (me->place == JOB_SETUP) {
            me->place = JOB_ENTRY;
            milestone(s, p);
        }
        me->parked = me->rank >= 0;
        me->incomplete = 0;
    } else if (me->todo.order == FT_ORDER_RESTORE) {
        if (me->rank >= 0)
            me->sp = w->image[me->rank][me->todo.arg];
    } else { /* RESUME */
        me->parked = me->rollback = 0;
        me->hold = 0;
        if (me->rank >= 0)
            me->place = me->sp < w->length ? JOB_BODY : JOB_OVER;
        milestone(s, p);
    }
    if (sim_alive(s, p))
        ready(s, p, FT_OE_READY, (struct ft_ready){0});
}

static void carry_out(struct sim *s, int p, int how)
{
    struct job_proc *me = &job_world(s)->p[p];
    struct ft_ready r = {0};
    job_world(s)->refuses -= how == REFUSING;
    job_check_carried_out(s, p);
    switch (me->todo.order) {
    case FT_ORDER_PROPOSE:
        if (me->place == JOB_BODY) {
            me->hold = r.max = me->sp + 1;
            r.running = 1;
        } else if (me->place == JOB_OVER) {
            r.max = FT_SP_OVER;
        }
        ready(s, p, FT_OE_READY, r);
        break;
    case FT_ORDER_TARGET:
        do_target(s, p, how);
        break;
    case FT_ORDER_CUT:
        do_cut(s, p, how);
        break;
    case FT_ORDER_LEAVE:
        do_leave(s, p, how);
        break;
    case FT_ORDER_COMMIT:
        do_commit(s, p);
        break;
    case FT_ORDER_CANCEL:
        do_cancel(s, p);
        break;
    case FT_ORDER_RECOVER:
    case FT_ORDER_RESTORE:
    case FT_ORDER_RESUME:
        do_rollback(s, p);
        break;
    case FT_ORDER_REJOIN:
        me->incomplete = 0;
        ready(s, p, FT_OE_READY, r);
        break;
    case FT_ORDER_DONE:
        me->done = 1;
        me->place = me->rank >= 0 ? JOB_LEFT : JOB_NOWHERE;
        ready(s, p, FT_OE_READY, r);
        break;
    case FT_ORDER_NONE:
        break;
    }
}

/* ---- the program, and what else happens ---- */

static void move_main(struct sim *s, int p)
{
    struct job_world *w = job_world(s);
    struct job_proc *me = &w->p[p];
    if (me->place == JOB_SETUP)
        me->place = w->no_run ? JOB_FINAL : me->run_over && w->nchecksums ? JOB_POST : JOB_ENTRY;
    else if (me->place == JOB_POST)
        me->place = JOB_FINAL;
    else if (me->sp == w->length)
        me->place = JOB_OVER;
    else if (++me->sp == me->hold)
        me->place = JOB_HELD;
    milestone(s, p);
}

static int missing_child(const struct ft_order *o)
{
    for (int i = 0; i < o->tree.nchildren; i++)
        if (o->active && o->order != FT_ORDER_NONE && !o->child_ready[i])
            return o->tree.child[i];
    return -1;
}

static void forge(struct sim *s, int p)
{
    const struct ft_order *o = &job_world(s)->p[p].order;
    struct ft_order_msg msg = {
        .kind = FT_OM_READY, .generation = o->generation, .seq = o->seq, .ready = {.running = 1, .max = 9}};
    job_world(s)->forgeries++;
    order_event(s, p, (struct ft_order_event){.kind = FT_OE_MSG, .from = missing_child(o), .msg = &msg});
}

static void act(struct sim *s, int p, int what, int q)
{
    struct job_world *w = job_world(s);
    struct ft_order *o = &w->p[p].order;
    switch (what) {
    case ACT_SEES:
        agree_event(s, p, (struct ft_agree_event){.kind = FT_AGREE_EV_FAILED, .slot = q});
        break;
    case ACT_CARRIES_OUT:
        carry_out(s, p, q);
        break;
    case ACT_MOVES:
        move_main(s, p);
        break;
    case ACT_IS_DUE:
        w->dues--;
        order_event(s, p, (struct ft_order_event){.kind = FT_OE_DUE});
        break;
    case ACT_IS_LATE:
        if (ft_order_is_root(o))
            w->superseded[o->generation] = o->seq;
        order_event(s, p, (struct ft_order_event){.kind = FT_OE_LATE});
        break;
    case ACT_FORGES:
        forge(s, p);
        break;
    }
}

static void deliver(struct sim *s, int p, int from, const void *body, size_t size)
{
    static struct agree_body a;
    struct order_body b;
    const struct ft_order *o = &job_world(s)->p[p].order;
    uint64_t proto;
    memcpy(&proto, body, sizeof proto);
    if (job_world(s)->lost)
        return; /* the job has ended */
    if (proto == MSG_AGREE) {
        FT_ASSERT(size == sizeof a);
        memcpy(&a, body, sizeof a);
        agree_event(s, p, (struct ft_agree_event){.kind = FT_AGREE_EV_MSG, .slot = from, .msg = &a.m});
        return;
    }
    FT_ASSERT(size == sizeof b);
    memcpy(&b, body, sizeof b);
    if (s->o.mutant == M_LOST_COMMIT && b.m.kind == FT_OM_ORDER && b.m.order == FT_ORDER_COMMIT && p == s->o.n - 1)
        return;
    if (s->o.mutant == M_FORGED && job_world(s)->forgeries && b.m.kind == FT_OM_READY && b.m.seq == o->seq &&
        (o->order == FT_ORDER_NONE || o->child_ready[from == o->tree.child[1]]))
        return; /* it was not waited for */
    order_event(s, p, (struct ft_order_event){.kind = FT_OE_MSG, .from = from, .msg = &b.m});
}

static void can_carry_out(const struct job_world *w, const struct job_proc *me, int p, struct sim_choices *out)
{
    enum ft_order_kind k = me->todo.order;
    if (k == FT_ORDER_NONE)
        return;
    if (is_on_its_way(me)) {
        if (!me->was_stuck)
            sim_can(out, p, ACT_CARRIES_OUT, STUCK, 1);
        return;
    }
    sim_can(out, p, ACT_CARRIES_OUT, WELL, 0);
    if (w->refuses > 0 && (k == FT_ORDER_CUT || (k == FT_ORDER_LEAVE && w->nchecksums) ||
                           (k == FT_ORDER_TARGET && me->place != JOB_BODY && me->sp >= me->todo.arg)))
        sim_can(out, p, ACT_CARRIES_OUT, REFUSING, 1);
}

static void can(struct sim *s, struct sim_choices *out)
{
    const struct job_world *w = job_world(s);
    for (int p = 0; p < s->o.n && !w->lost; p++) {
        const struct job_proc *me = &w->p[p];
        if (!sim_alive(s, p))
            continue;
        int next = ft_ring_next(s->o.n, &me->agree.failed, p), place = me->place;
        if (next >= 0 && !sim_alive(s, next))
            sim_can(out, p, ACT_SEES, next, 0);
        can_carry_out(w, me, p, out);
        if (!me->parked && (place == JOB_SETUP || place == JOB_BODY || place == JOB_POST))
            sim_can(out, p, ACT_MOVES, 0, 0);
        if (w->dues > 0 && ft_order_is_root(&me->order) && me->place != JOB_LEFT)
            sim_can(out, p, ACT_IS_DUE, 0, 1);
        if (me->order.order == FT_ORDER_TARGET && ft_order_is_root(&me->order))
            sim_can(out, p, ACT_IS_LATE, 0, 1);
        if (s->o.mutant == M_FORGED && !w->forgeries && missing_child(&me->order) >= 0)
            sim_can(out, p, ACT_FORGES, 0, 1);
    }
}

static void crashed(struct sim *s, int p) { job_world(s)->crashed |= 1u << p; }

static void draw(struct sim *s)
{
    struct job_world *w = job_world(s);
    struct ft_prng *r = &s->rng;
    int n = s->o.n;
    w->nchecksums = (int)ft_prng_below(r, n < 3 ? (uint64_t)n : 3);
    int most = n - w->nchecksums;
    if (ft_prng_below(r, 4)) /* spares are left */
        most = (most + 1) / 2;
    w->nranks = 1 + (int)ft_prng_below(r, (uint64_t)most);
    if (w->nranks < w->nchecksums) /* strided groups need a rank each */
        w->nchecksums = w->nranks;
    int spares = n - w->nranks - w->nchecksums;
    if (s->crashes > spares + 1 && ft_prng_below(r, 4)) /* most jobs live on */
        s->crashes = (int)ft_prng_below(r, (uint64_t)spares + 2);
    w->dues = (int)ft_prng_below(r, 6);
    w->refuses = ft_prng_below(r, 3) ? 0 : 2;
    w->no_run = ft_prng_below(r, 8) == 0;
    w->length = ft_prng_below(r, (uint64_t)(s->o.ops > 1 ? s->o.ops : 30));
}

static void start(struct sim *s)
{
    struct job_world *w = job_world(s);
    char why[200];
    FT_ASSERT(s->o.n <= JOB_MAX);
    draw(s);
    ft_groups_finish(&groups);
    memset(&groups, 0, sizeof groups);
    if (w->nchecksums)
        FT_ASSERT(ft_groups_init(&groups, w->nranks, w->nchecksums, 1, NULL, why, sizeof why) == FT_OK);
    for (int p = 0; p < s->o.n; p++) {
        struct job_proc *me = &w->p[p];
        ft_agree_init(&me->agree, p, s->o.n);
        ft_order_init(&me->order, p, s->o.n);
        for (int q = 0; q < s->o.n; q++) {
            me->slot_of[q] = q;
            me->pos_of[q] = q < w->nranks + w->nchecksums ? q : -1;
        }
        me->rank = p < w->nranks ? p : -1;
        me->place = p < w->nranks ? JOB_SETUP : JOB_NOWHERE;
    }
    for (int p = 0; p < s->o.n; p++) {
        order_event(s, p,
                    (struct ft_order_event){.kind = FT_OE_GENERATION, .failed = &w->failed[0], .checkpoints = w->nchecksums > 0});
        milestone(s, p);
    }
}

static void say(const struct sim *s, const void *body, size_t size, char *out, int room)
{
    static const char *const order[] = {"",       "PROPOSE", "TARGET",  "CUT",    "LEAVE",  "COMMIT",
                                        "CANCEL", "RECOVER", "RESTORE", "RESUME", "REJOIN", "DONE"};
    static const char *const vote[] = {"", "announce", "vote", "decide"};
    static struct agree_body a;
    struct order_body b;
    uint64_t proto;
    (void)s;
    memcpy(&proto, body, sizeof proto);
    if (proto == MSG_AGREE) {
        memcpy(&a, body, size);
        snprintf(out, (size_t)room, "%s, dead %#llx, last generation %u", vote[a.m.kind], (unsigned long long)a.m.failed.w[0],
                 a.m.last.generation);
        return;
    }
    memcpy(&b, body, size);
    if (b.m.kind == FT_OM_ORDER)
        snprintf(out, (size_t)room, "order %u.%u %s(%llu)", b.m.generation, b.m.seq, order[b.m.order],
                 (unsigned long long)b.m.arg);
    else
        snprintf(out, (size_t)room, b.m.kind == FT_OM_READY ? "ready %u.%u" : "milestone, order %u.%u", b.m.generation, b.m.seq);
}

static const char *const counted[] = {"commits", "cancels", "rollbacks", "jobs lost", NULL};
static void tally(const struct sim *s, uint64_t *sums)
{
    const struct job_world *w = job_world(s);
    sums[0] += w->commits;
    sums[1] += w->cancels;
    sums[2] += w->rollbacks;
    sums[3] += (uint64_t)w->lost;
}

static const struct sim_checker *const checkers[] = {&sim_check_job, NULL};
const struct sim_model sim_model_job = {"job", acts,    mutants, checkers, bytes,   start, deliver, can,
                                        act,   crashed, say,     1,        JOB_MAX, 0,     counted, tally};
