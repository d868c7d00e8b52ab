/* SPDX-License-Identifier: BSD-3-Clause
 *
 * model_job.c - a model of the runtime: decisions are adopted as order.h asks for, orders carried out one step at a time.
 */
#include "model_job.h"

enum { MSG_AGREE = 1, MSG_ORDER, MSG_DUE, MSG_ROLLBACK };
struct agree_body {
    uint64_t proto;
    struct ft_agree_msg m;
};
struct order_body {
    uint64_t proto;
    struct ft_order_msg m;
};

static const char *const acts[] = {"sees",   "carries-out", "moves", "is-due", "is-late",
                                   "forges", "diverges",    "dies",  "asks",   NULL};
enum { WELL, REFUSING, STUCK }; /* how an order is carried out */
enum mutant {
    M_NO_ENDING = 1, /* orders go on while a ballot is open */
    M_FORGED,        /* a parent takes a child for ready that is not */
    M_LOST_COMMIT,   /* the order to commit never comes to the last process */
    M_TRIMMED,       /* logs are cut when an image is staged, not when it is committed */
    M_EAGER_COMMIT,  /* an image counts as committed when it is staged */
    M_DUE_ONCE, /* who has asked for a checkpoint at a safepoint does not ask again after a rollback in the same generation */
    M_EARLY_PROMISE, /* a replacement promises a safepoint before it is where the lost process was */
};
static const char *const mutants[] = {"no-ending",    "forged",   "lost-commit",   "trimmed",
                                      "eager-commit", "due-once", "early-promise", NULL};

static struct ft_groups groups; /* of the job under way: never changes */

static size_t bytes(const struct sim_options *o) { return job_procs_at(o->n) + (size_t)o->n * job_proc_bytes(o->n); }

/* ---- orders handed out ---- */

static void order_event(struct sim *s, int p, struct ft_order_event ev)
{
    static struct ft_order before;
    struct job_proc *me = job_proc(s, p);
    struct ft_order_actions out;
    if (!sim_alive(s, p))
        return;
    if (s->o.timed)
        before = me->order;
    ft_order_step(&me->order, &ev, &out);
    if (s->o.timed && ft_order_is_root(&me->order))
        job_measure(s, &before, &me->order);
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
    order_event(s, p, (struct ft_order_event){.kind = FT_OE_MILESTONE, .arg = of[job_proc(s, p)->place]});
}

/* ---- generations ---- */

static struct ft_agree_data local_of(const struct sim *s, int p)
{
    const struct job_proc *me = job_proc(s, p);
    struct ft_agree_data d = {.committed = me->flipped};
    d.flags = (me->run_over ? FT_AGREE_RUN_OVER : 0) | (me->done ? FT_AGREE_DONE : 0) | (me->rollback ? FT_AGREE_ROLLBACK : 0) |
              (me->unprotected ? FT_AGREE_UNPROTECTED : 0);
    if (me->incomplete)
        ft_bit_set(&d.incomplete, p);
    for (int r = 0; r < job_world(s)->nranks && me->replaying; r++) /* it reads what is logged for it alone */
        if (r != me->rank)
            ft_bit_set(&d.exposed, r);
    return d;
}

/* The plan, and p's new place in it. */
static enum ft_plan_kind assign(struct sim *s, int p, const struct ft_decision *d)
{
    static struct ft_plan plan;
    struct job_world *w = job_world(s);
    struct job_proc *me = job_proc(s, p);
    struct ft_mapping m = {.nranks = w->nranks,
                           .nchecksums = w->nchecksums,
                           .nspares = s->o.n - w->nranks - w->nchecksums,
                           .generation = me->generation,
                           .local = w->local,
                           .pos_of = me->map,
                           .slot_of = me->map + s->o.n,
                           .incarnation = (uint32_t *)me->map + 2 * s->o.n};
    int was = m.pos_of[p];
    ft_plan_make(&m, w->nchecksums ? &groups : NULL, d, 1, &plan);
    me->generation = m.generation;
    int pos = m.pos_of[p];
    if (plan.kind != FT_PLAN_LOST && pos != was) {
        me->rank = pos < w->nranks ? pos : -1;
        me->place = me->rank >= 0 ? JOB_SETUP : JOB_NOWHERE;
        me->incomplete = d->data.committed > 0;
        me->replaying = me->rank >= 0 && plan.kind == FT_PLAN_REJOIN && d->data.committed > 0;
    }
    me->replaying &= plan.kind != FT_PLAN_ROLLBACK;
    return plan.kind;
}

static void finish_old(struct sim *s, struct job_proc *me, const struct ft_decision *d, int rollback)
{
    me->todo.order = FT_ORDER_NONE;
    me->flipped = d->data.committed;
    me->hold = me->due_said = 0;
    me->run_over |= (d->data.flags & FT_AGREE_RUN_OVER) != 0;
    me->unprotected |= (d->data.flags & FT_AGREE_UNPROTECTED) != 0;
    me->done |= (d->data.flags & FT_AGREE_DONE) != 0;
    me->rollback = rollback;
    if (rollback)
        return;
    if (me->place == JOB_HELD || (me->place == JOB_ENTRY && me->flipped > 0 && !me->replaying))
        me->place = JOB_BODY;
    if (me->place == JOB_OVER && (me->run_over || me->unprotected) && job_world(s)->nchecksums)
        me->place = JOB_POST;
    if (me->place == JOB_FINAL && me->done)
        me->place = JOB_LEFT;
}

static void adopt(struct sim *s, int p, const struct ft_decision *d)
{
    struct job_world *w = job_world(s);
    struct job_proc *me = job_proc(s, p);
    uint32_t g = d->generation;
    struct ft_order_event ev = {.kind = FT_OE_GENERATION, .generation = g, .failed = &d->failed, .first = FT_ORDER_REJOIN};
    if (!ft_bitset_equal(&w->failed[g], &d->failed)) { /* another of this number died with its adopters */
        w->failed[g] = d->failed;
        w->superseded[g] = 0;
        memset(job_said(s, g, 0), 0, (size_t)s->o.n * sizeof(uint32_t));
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
    struct job_proc *me = job_proc(s, p);
    for (int again = 1; again;) {
        enum ft_agree_action_kind last = 0;
        ft_agree_step(&me->agree, &ev, &out);
        for (int i = 0; i < out.n; i++) {
            static struct agree_body b;
            last = out.a[i].kind;
            decided = out.a[i].decision;
            if (last != FT_AGREE_ACT_SEND)
                continue;
            b.proto = MSG_AGREE;
            b.m = out.a[i].msg;
            sim_send(s, p, out.a[i].to, &b, sizeof b);
        }
        if (last == FT_AGREE_ACT_DECIDED && sim_alive(s, p))
            adopt(s, p, &decided);
        again = last >= FT_AGREE_ACT_VOTE && sim_alive(s, p) && !job_world(s)->lost;
        ev = (struct ft_agree_event){.kind = last == FT_AGREE_ACT_VOTE ? FT_AGREE_EV_LOCAL : FT_AGREE_EV_ADOPTED};
        if (last == FT_AGREE_ACT_VOTE)
            ev.local = local_of(s, p);
    }
    if (sim_alive(s, p) && ft_agree_pending(&me->agree) && s->o.mutant != M_NO_ENDING) {
        order_event(s, p, (struct ft_order_event){.kind = FT_OE_ENDING});
        me->todo.order = FT_ORDER_NONE;
    }
}

/* ---- orders carried out ---- */

static void ready(struct sim *s, int p, enum ft_order_event_kind kind, struct ft_ready r)
{
    struct job_proc *me = job_proc(s, p);
    uint32_t seq = me->todo.seq, *said = job_said(s, me->order.generation, p);
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
    struct job_proc *me = job_proc(s, p);
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
    struct job_proc *me = job_proc(s, p);
    struct ft_ready r = {.bytes = 1};
    FT_ASSERT(me->todo.arg < JOB_VERSIONS);
    if (me->rank >= 0)
        *job_image(s, me->rank, me->todo.arg) = me->sp;
    me->copied = me->todo.arg;
    r.not_ok = me->entry_failed || how == REFUSING ? FT_SKIP_NOMEM : 0;
    ready(s, p, FT_OE_READY, r);
}

static void do_leave(struct sim *s, int p, int how)
{
    struct job_world *w = job_world(s);
    struct job_proc *me = job_proc(s, p);
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
    struct job_proc *me = job_proc(s, p);
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
    struct job_proc *me = job_proc(s, p);
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
    struct job_proc *me = job_proc(s, p);
    if (me->todo.order == FT_ORDER_RECOVER) {
        if (me->place == JOB_SETUP) {
            me->place = JOB_ENTRY;
            milestone(s, p);
        }
        me->parked = me->rank >= 0;
        me->incomplete = me->replaying = 0;
        me->rollback = 1;
    } else if (me->todo.order == FT_ORDER_RESTORE) {
        if (me->rank >= 0)
            me->restored_at = *job_reached(s, me->rank) = me->sp = *job_image(s, me->rank, me->todo.arg);
    } else { /* RESUME */
        me->parked = me->rollback = 0;
        if (s->o.mutant != M_DUE_ONCE)
            me->due_said = 0; /* the root has forgotten it */
        me->hold = 0;
        if (me->rank >= 0)
            me->place = me->sp < w->length ? JOB_BODY : JOB_OVER;
        milestone(s, p);
    }
    if (sim_alive(s, p))
        ready(s, p, FT_OE_READY, (struct ft_ready){0});
}

/* The first safepoint at which its main can still be stopped. */
static uint64_t promise(const struct job_world *w, struct job_proc *me)
{
    uint64_t k = (uint64_t)w->every, passed = me->place == JOB_HELD ? me->sp - 1 : me->sp;
    if (k == 0)
        return me->hold = me->sp + 1;
    uint64_t next = (passed / k + 1) * k;
    return next == me->restored_at ? next + k : next;
}

/* Its main stops here though nobody has told it to. */
static int stops_of_itself(const struct job_world *w, const struct job_proc *me)
{
    return w->every && w->nchecksums && me->sp > 0 && me->sp % (uint64_t)w->every == 0 && me->sp != me->restored_at;
}

static void carry_out(struct sim *s, int p, int how)
{
    struct job_proc *me = job_proc(s, p);
    struct ft_ready r = {0};
    job_world(s)->refuses -= how == REFUSING;
    job_check_carried_out(s, p);
    switch (me->todo.order) {
    case FT_ORDER_PROPOSE:
        if (me->place == JOB_BODY || (me->place == JOB_HELD && job_world(s)->every)) {
            r.max = promise(job_world(s), me);
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
        me->incomplete &= me->replaying;
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

static void root_hears(struct sim *s, int p, uint64_t proto)
{
    const struct ft_order *o = &job_proc(s, p)->order;
    if (proto == MSG_ROLLBACK && !o->rolled && (o->order == FT_ORDER_PROPOSE || o->order == FT_ORDER_TARGET))
        job_world(s)->superseded[o->generation] = o->seq;
    order_event(s, p, (struct ft_order_event){.kind = proto == MSG_DUE ? FT_OE_DUE : FT_OE_ROLLBACK});
}

/* Mail between agents, of no generation. */
static void tell_root(struct sim *s, int p, uint64_t proto)
{
    const struct ft_order *o = &job_proc(s, p)->order;
    if (ft_order_is_root(o))
        root_hears(s, p, proto);
    else
        sim_send(s, p, o->tree.root, &proto, sizeof proto);
}

/* A replacement that goes back alone: its image is rebuilt at FTRMA_Run's entry, then it repeats what others have seen. */
static void take_image_alone(struct sim *s, struct job_proc *me)
{
    me->sp = me->run_over ? job_world(s)->length : *job_image(s, me->rank, me->flipped);
    me->restored_at = me->sp;
    me->incomplete = 0;
    me->place = me->run_over ? JOB_POST : JOB_BODY;
}

static void move_main(struct sim *s, int p)
{
    struct job_world *w = job_world(s);
    struct job_proc *me = job_proc(s, p);
    int moved = me->place == JOB_BODY && me->sp < w->length;
    if (me->place == JOB_SETUP)
        me->place = w->no_run ? JOB_FINAL : me->run_over && w->nchecksums && !me->replaying ? JOB_POST : JOB_ENTRY;
    else if (me->place == JOB_ENTRY)
        take_image_alone(s, me);
    else if (me->place == JOB_POST)
        me->place = JOB_FINAL;
    else if (me->sp == w->length)
        me->place = JOB_OVER;
    else
        me->sp++;
    int live = me->replaying && me->place != JOB_SETUP && me->place != JOB_ENTRY && me->sp >= *job_reached(s, me->rank);
    if (me->rank >= 0 && me->sp > *job_reached(s, me->rank))
        *job_reached(s, me->rank) = me->sp;
    me->replaying &= !live;
    if (moved && !me->replaying && (me->sp == me->hold || stops_of_itself(w, me)))
        me->place = JOB_HELD;
    w->live += live && !s->searching;
    milestone(s, p);
    if (live && !me->run_over && sim_alive(s, p))
        tell_root(s, p, MSG_DUE);
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
    const struct ft_order *o = &job_proc(s, p)->order;
    struct ft_order_msg msg = {
        .kind = FT_OM_READY, .generation = o->generation, .seq = o->seq, .ready = {.running = 1, .max = 9}};
    job_world(s)->forgeries++;
    order_event(s, p, (struct ft_order_event){.kind = FT_OE_MSG, .from = missing_child(o), .msg = &msg});
}

static void happens(struct sim *s, int p, int what, int q)
{
    struct job_world *w = job_world(s);
    struct ft_order *o = &job_proc(s, p)->order;
    struct ft_bitset one = {{0}};
    switch (what) {
    case JOB_SEES:
        ft_bit_set(&one, q);
        agree_event(s, p, (struct ft_agree_event){.kind = FT_AGREE_EV_FAILED, .failed = &one});
        break;
    case JOB_CARRIES_OUT:
        carry_out(s, p, q);
        break;
    case JOB_MOVES:
        move_main(s, p);
        break;
    case JOB_IS_DUE:
        w->dues -= !s->o.timed;
        order_event(s, p, (struct ft_order_event){.kind = FT_OE_DUE});
        break;
    case JOB_IS_LATE:
        if (ft_order_is_root(o))
            w->superseded[o->generation] = o->seq;
        order_event(s, p, (struct ft_order_event){.kind = FT_OE_LATE});
        break;
    case JOB_FORGES:
        forge(s, p);
        break;
    case JOB_DIVERGES:
        w->diverges--;
        job_proc(s, p)->asked = 1 + job_proc(s, p)->order.generation;
        tell_root(s, p, MSG_ROLLBACK);
        break;
    case JOB_ASKS:
        job_proc(s, p)->due_said = job_proc(s, p)->sp;
        tell_root(s, p, MSG_DUE);
        break;
    case JOB_DIES:
        if (s->crashes > 0)
            sim_crash(s, p, 0);
        break;
    }
}

static void act(struct sim *s, int p, int what, int q)
{
    const struct job_proc *me = job_proc(s, p);
    int stale = (what == JOB_MOVES && !job_can_move(me)) || (what == JOB_CARRIES_OUT && !job_can_carry_out(me)) ||
                (what == JOB_IS_DUE && !ft_order_is_root(&me->order)) || job_world(s)->lost ||
                (what == JOB_SEES && ft_bit_get(&me->agree.failed, q));
    if (s->o.timed) {
        job_proc(s, p)->moving &= what != JOB_MOVES;
        job_proc(s, p)->carrying &= what != JOB_CARRIES_OUT;
        job_proc(s, p)->due &= what != JOB_IS_DUE;
    }
    if (!s->o.timed || !stale)
        happens(s, p, what, q);
    if (s->o.timed && sim_alive(s, p))
        job_arm(s, p);
}

static void hear(struct sim *s, int p, int from, const void *body, size_t size)
{
    static struct agree_body a;
    struct order_body b;
    const struct ft_order *o = &job_proc(s, p)->order;
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
    if (proto == MSG_DUE || proto == MSG_ROLLBACK) {
        root_hears(s, p, proto);
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

static void deliver(struct sim *s, int p, int from, const void *body, size_t size)
{
    hear(s, p, from, body, size);
    if (s->o.timed && sim_alive(s, p))
        job_arm(s, p);
}

int job_can_move(const struct job_proc *me)
{
    return !me->parked && (me->place == JOB_SETUP || me->place == JOB_BODY || me->place == JOB_POST ||
                           (me->place == JOB_ENTRY && me->replaying));
}

int job_can_carry_out(const struct job_proc *me)
{
    return me->todo.order != FT_ORDER_NONE && !is_on_its_way(me) && !(me->todo.order == FT_ORDER_PROPOSE && me->replaying);
}

static void can_carry_out(const struct sim *s, const struct job_proc *me, int p, struct sim_choices *out)
{
    const struct job_world *w = job_world(s);
    enum ft_order_kind k = me->todo.order;
    if (k != FT_ORDER_NONE && is_on_its_way(me) && !me->was_stuck)
        sim_can(out, p, JOB_CARRIES_OUT, STUCK, SIM_SELDOM);
    if (k == FT_ORDER_NONE || is_on_its_way(me) || (!job_can_carry_out(me) && s->o.mutant != M_EARLY_PROMISE))
        return;
    sim_can(out, p, JOB_CARRIES_OUT, WELL, SIM_MUST);
    if (w->refuses > 0 && (k == FT_ORDER_CUT || (k == FT_ORDER_LEAVE && w->nchecksums) ||
                           (k == FT_ORDER_TARGET && me->place != JOB_BODY && me->sp >= me->todo.arg)))
        sim_can(out, p, JOB_CARRIES_OUT, REFUSING, SIM_SELDOM);
}

static void can(struct sim *s, struct sim_choices *out)
{
    const struct job_world *w = job_world(s);
    for (int p = 0; p < s->o.n && !w->lost; p++) {
        const struct job_proc *me = job_proc(s, p);
        if (!sim_alive(s, p))
            continue;
        int next = ft_ring_next(s->o.n, &me->agree.failed, p);
        if (next >= 0 && !sim_alive(s, next))
            sim_can(out, p, JOB_SEES, next, SIM_MUST);
        can_carry_out(s, me, p, out);
        if (job_can_move(me))
            sim_can(out, p, JOB_MOVES, 0, SIM_MUST);
        if (w->dues > 0 && ft_order_is_root(&me->order) && me->place != JOB_LEFT)
            sim_can(out, p, JOB_IS_DUE, 0, SIM_SELDOM);
        if (me->order.order == FT_ORDER_TARGET && ft_order_is_root(&me->order))
            sim_can(out, p, JOB_IS_LATE, 0, SIM_SELDOM);
        if (s->o.mutant == M_FORGED && !w->forgeries && missing_child(&me->order) >= 0)
            sim_can(out, p, JOB_FORGES, 0, SIM_SELDOM);
        if (me->place == JOB_HELD && stops_of_itself(w, me) && me->due_said != me->sp && me->todo.order == FT_ORDER_NONE &&
            me->order.active)
            sim_can(out, p, JOB_ASKS, 0, SIM_MUST);
        if (w->diverges > 0 && me->replaying && me->order.active && me->asked != 1 + me->order.generation)
            sim_can(out, p, JOB_DIVERGES, 0, SIM_SELDOM);
    }
}

static void crashed(struct sim *s, int p)
{
    ft_bit_set(&job_world(s)->crashed, p);
    if (s->o.timed)
        job_timed_crashed(s, p);
}

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
    w->local = ft_prng_below(r, 2) != 0;
    w->diverges = (int)ft_prng_below(r, 3);
    w->parity = w->nchecksums == 2 ? 1 + (int)ft_prng_below(r, 2) : 1;
    w->every = ft_prng_below(r, 3) ? 0 : 1 + (int)ft_prng_below(r, 5);
    if (w->every)
        w->dues = 0;
}

static void start(struct sim *s)
{
    struct job_world *w = job_world(s);
    char why[200];
    if (s->o.timed)
        job_timed_start(s);
    else
        draw(s);
    ft_groups_finish(&groups);
    memset(&groups, 0, sizeof groups);
    if (w->nchecksums)
        FT_ASSERT(ft_groups_init(&groups, w->nranks, w->nchecksums, w->parity, NULL, why, sizeof why) == FT_OK);
    for (int p = 0; p < s->o.n; p++) {
        struct job_proc *me = job_proc(s, p);
        ft_agree_init(&me->agree, p, s->o.n);
        ft_order_init(&me->order, p, s->o.n);
        for (int q = 0; q < s->o.n; q++) {
            me->map[s->o.n + q] = q;
            me->map[q] = q < w->nranks + w->nchecksums ? q : -1;
        }
        me->rank = p < w->nranks ? p : -1;
        me->place = p < w->nranks ? JOB_SETUP : JOB_NOWHERE;
    }
    for (int p = 0; p < s->o.n; p++) {
        order_event(s, p,
                    (struct ft_order_event){.kind = FT_OE_GENERATION, .failed = &w->failed[0], .checkpoints = w->nchecksums > 0});
        milestone(s, p);
        if (s->o.timed)
            job_arm(s, p);
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
    if (proto == MSG_DUE || proto == MSG_ROLLBACK) {
        snprintf(out, (size_t)room, proto == MSG_DUE ? "asks for a checkpoint" : "asks for a rollback");
        return;
    }
    memcpy(&b, body, size);
    if (b.m.kind == FT_OM_ORDER)
        snprintf(out, (size_t)room, "order %u.%u %s(%llu)", b.m.generation, b.m.seq, order[b.m.order],
                 (unsigned long long)b.m.arg);
    else
        snprintf(out, (size_t)room, b.m.kind == FT_OM_READY ? "ready %u.%u" : "milestone, order %u.%u", b.m.generation, b.m.seq);
}

static const char *const counted[] = {"commits", "cancels", "rollbacks", "jobs lost", "gone back alone", NULL};
static void tally(const struct sim *s, uint64_t *sums)
{
    const struct job_world *w = job_world(s);
    sums[0] += w->commits;
    sums[1] += w->cancels;
    sums[2] += w->rollbacks;
    sums[3] += (uint64_t)w->lost;
    sums[4] += w->live;
}

static const struct sim_checker *const checkers[] = {&sim_check_job, NULL};
const struct sim_model sim_model_job = {
    "job",   acts, mutants, checkers, bytes, start,   deliver,
    can,     act,  crashed, say,      1,     JOB_MAX, FT_MAX_SLOTS < 4096 ? FT_MAX_SLOTS : 4096,
    counted, tally};
