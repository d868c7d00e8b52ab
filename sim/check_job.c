/* SPDX-License-Identifier: BSD-3-Clause
 *
 * check_job.c - the invariants as far as they can be seen without data: one decision for all (D2), nobody two orders ahead
 * (C3), versions that grow one by one and are whole before they are committed (C6), logs that reach back to what is committed
 * (V4), one carrier for a rank (V2), and nobody who waits for ever (V5).
 */
#include "model_job.h"

void job_check_decision(struct sim *s, int p, const struct ft_decision *d)
{
    uint64_t h = sim_hash(d, sizeof *d) | 1;
    for (int q = 0; q < s->o.n; q++) {
        if (ft_bit_get(&d->failed, q) && sim_alive(s, q))
            sim_wrong(s, "%d was declared dead and lives", q);
        if (q != p && sim_alive(s, q) && *job_adopted(s, d->generation, q) && *job_adopted(s, d->generation, q) != h)
            sim_wrong(s, "two decisions for generation %u: at %d and %d", d->generation, q, p);
    }
    *job_adopted(s, d->generation, p) = h;
}

/* Before p does what a decision asks for. */
void job_check_adopted(struct sim *s, int p, const struct ft_decision *d, int rollback)
{
    const struct job_proc *me = job_proc(s, p);
    if (me->flipped > d->data.committed)
        sim_wrong(s, "%d has committed what the decision does not know", p);
    if (me->flipped < d->data.committed && me->staged != d->data.committed && me->generation == d->generation && !me->incomplete)
        sim_wrong(s, "version %" PRIu64 " was committed, and %d has not staged it", d->data.committed, p);
    if (me->parked && !rollback)
        sim_wrong(s, "%d is parked for ever", p);
}

/* In large jobs the root stands for all: what it does comes after all others have answered. */
static int look_at_all(const struct sim *s, int p) { return s->o.n <= 64 || ft_order_is_root(&job_proc(s, p)->order); }

void job_check_order(struct sim *s, int p, const struct ft_order_action *a)
{
    const struct job_world *w = job_world(s);
    uint32_t g = job_proc(s, p)->order.generation;
    for (int q = 0; q < s->o.n && look_at_all(s, p); q++)
        if (!ft_bit_get(&w->failed[g], q) && *job_said(s, g, q) < a->seq - 1 && w->superseded[g] != a->seq - 1)
            sim_wrong(s, "order %u came to %d before %d had carried out the one before it", a->seq, p, q);
}

static void cut(struct sim *s, int p, const struct job_proc *me)
{
    const struct job_world *w = job_world(s);
    uint32_t g = me->order.generation;
    uint64_t at = 0;
    for (int q = 0; q < s->o.n && look_at_all(s, p); q++) {
        const struct job_proc *o = job_proc(s, q);
        if (!sim_alive(s, q) || ft_bit_get(&w->failed[g], q) || o->rank < 0 || o->order.generation != g || o->entry_failed ||
            !o->order.active) /* not active: its generation is ending, its main may go on */
            continue;
        int entry = o->place == JOB_ENTRY, exit = o->place == JOB_OVER, held = o->place == JOB_HELD;
        if (me->todo.flags == FT_ORDER_ENTRY ? !entry : me->todo.flags == FT_ORDER_EXIT ? !exit : !held && !exit)
            sim_wrong(s, "a cut before %d had arrived", q);
        if (o->replaying)
            sim_wrong(s, "a cut before %d, a replacement, is where the lost process was", q);
        if (held && at && at != o->sp)
            sim_wrong(s, "mains stand at different safepoints");
        at = held ? o->sp : at;
    }
    if (me->todo.arg != me->flipped + 1)
        sim_wrong(s, "versions must grow one by one: %" PRIu64 " after %" PRIu64, me->todo.arg, me->flipped);
}

static void restore(struct sim *s, int p, const struct job_proc *me)
{
    for (int q = 0; q < s->o.n && look_at_all(s, p); q++)
        if (sim_alive(s, q) && job_proc(s, q)->rank >= 0 && job_proc(s, q)->order.generation == me->order.generation &&
            !job_proc(s, q)->parked)
            sim_wrong(s, "%d restores while %d is not parked", p, q);
    if (me->flipped != me->todo.arg)
        sim_wrong(s, "%d restores version %" PRIu64 ", not the committed one", p, me->todo.arg);
    if (me->oldest > me->todo.arg)
        sim_wrong(s, "%d goes back to version %" PRIu64 ", and its logs begin with %" PRIu64, p, me->todo.arg, me->oldest);
}

void job_check_carried_out(struct sim *s, int p)
{
    const struct job_proc *me = job_proc(s, p);
    switch (me->todo.order) {
    case FT_ORDER_TARGET:
        if ((me->place == JOB_BODY || me->place == JOB_HELD) && me->sp > me->todo.arg)
            sim_wrong(s, "%d has passed the safepoint that it had promised to stop at", p);
        break;
    case FT_ORDER_CUT:
        cut(s, p, me);
        break;
    case FT_ORDER_LEAVE:
        if (job_world(s)->nchecksums && me->copied != me->todo.arg)
            sim_wrong(s, "%d leaves without a copy", p);
        break;
    case FT_ORDER_COMMIT:
        if (me->todo.arg != me->flipped + 1 || me->staged != me->todo.arg)
            sim_wrong(s, "%d commits what it has not staged", p);
        break;
    case FT_ORDER_RESTORE:
        restore(s, p, me);
        break;
    case FT_ORDER_DONE:
        if (me->rank >= 0 && me->place != JOB_FINAL && me->place != JOB_LEFT)
            sim_wrong(s, "done before %d was", p);
        break;
    default:
        break;
    }
}

static void step(struct sim *s, int p)
{
    const struct job_world *w = job_world(s);
    const struct job_proc *me = job_proc(s, p);
    if (!sim_alive(s, p) || w->lost || !look_at_all(s, p))
        return;
    ft_agree_check(&me->agree);
    ft_order_check(&me->order);
    for (int q = 0; q < s->o.n; q++) {
        const struct job_proc *o = job_proc(s, q);
        if (q == p || !sim_alive(s, q) || o->order.generation != me->order.generation || o->generation != me->generation)
            continue;
        if (me->rank >= 0 && o->rank == me->rank)
            sim_wrong(s, "%d and %d act for rank %d", p, q, me->rank);
        if (ft_order_is_root(&me->order) && me->order.active && o->flipped < me->order.committed)
            sim_wrong(s, "the root believes in version %" PRIu64 ", which %d has not", me->order.committed, q);
    }
}

static void quiet(struct sim *s)
{
    const struct job_world *w = job_world(s);
    for (int p = 0; p < s->o.n && !w->lost; p++) {
        const struct job_proc *me = job_proc(s, p);
        if (!sim_alive(s, p))
            continue;
        if (ft_agree_pending(&me->agree) || !ft_bitset_equal(&me->agree.failed, &w->crashed))
            sim_wrong(s, "all is quiet, and %d has not decided", p);
        if (!me->done || (me->rank >= 0 && me->place != JOB_LEFT))
            sim_wrong(s, "all is quiet, and %d has not left MPI_Finalize", p);
    }
}

const struct sim_checker sim_check_job = {"jobs", step, quiet};
