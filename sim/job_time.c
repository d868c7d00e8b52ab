/* SPDX-License-Identifier: BSD-3-Clause
 *
 * job_time.c - jobs in virtual time: what happens by itself after some time, and what checkpoints
 * and recoveries cost. In latencies, safepoints are 20 apart, and checkpoints are due every 200.
 * From 500 on a rank dies every 300. Orders are carried out at once, so only the protocol's own
 * time is measured. There is one spare more than deaths, and one checksum process for eight ranks.
 * Even seeds have local recoveries, and odd ones rollbacks.
 */
#include "job_time.h"

#include "job_shell.h"

static uint64_t latencies(const struct sim *s, uint64_t n) { return n * (uint64_t)s->o.latency; }

/* A main that has waited at a safepoint goes on at once if it is not held there. */
static uint64_t takes(const struct sim_main *m)
{
    return m->place != FT_AT_BODY ? 1 : m->reached == m->passed ? 20 : 0;
}

void job_arm(struct sim *s, int p)
{
    struct job_world *w = job_world(s);
    struct job_proc *me = job_proc(s, p);
    int next = ft_ring_next(s->o.n, &me->process.agree.failed, p);
    if (w->lost)
        return;
    if (next >= 0 && !sim_alive(s, next) && me->seeing != 1 + next) {
        me->seeing = 1 + next;
        sim_after(s, p, 1, JOB_SEES, next);
    }
    if (!me->moving && sim_main_can_move(&me->main)) {
        me->moving = 1;
        sim_after(s, p, latencies(s, takes(&me->main)), JOB_MOVES, 0);
    }
    if (!me->parking && sim_main_can_park(&me->main)) {
        me->parking = 1;
        sim_after(s, p, 0, JOB_PARKS, 0);
    }
    if (!me->obeying && sim_main_can_obey(&me->main)) {
        me->obeying = 1;
        sim_after(s, p, 0, JOB_OBEYS, 0);
    }
    if (!me->due && ft_order_is_root(&me->process.order) &&
        me->process.carrier.state != FT_CS_GONE) {
        me->due = 1;
        sim_after(s, p, latencies(s, 200), JOB_IS_DUE, 0);
    }
}

void job_timed_start(struct sim *s)
{
    struct job_world *w = job_world(s);
    int n = s->o.n, spares = s->crashes ? s->crashes + 1 : 0;
    if (spares > n - 2)
        spares = n > 2 ? n - 2 : 0;
    w->nchecksums = n - spares < 2 ? 0 : (n - spares + 8) / 9;
    w->nranks = n - spares - w->nchecksums;
    w->dues = 1; /* not counted here */
    w->parity = 1;
    w->length = 60;
    w->local = s->o.seed % 2 == 0;
    w->alg = s->o.alg;
    for (int k = 0; k < s->crashes; k++)
        sim_after(s, (int)ft_prng_below(&s->rng, (uint64_t)w->nranks),
                  latencies(s, 500 + 300 * (uint64_t)k) + ft_prng_below(&s->rng, latencies(s, 200)),
                  JOB_DIES, 0);
}

static void begin(struct sim *s, struct job_cost *c)
{
    c->began = s->now;
    c->sent = s->sent;
    c->under_way = 1;
}

static void end(struct sim *s, struct job_cost *c)
{
    if (!c->under_way)
        return;
    c->under_way = 0;
    c->n++;
    c->ticks += s->now - c->began;
    c->messages += s->sent - c->sent;
}

void job_timed_crashed(struct sim *s, int p)
{
    struct job_world *w = job_world(s);
    (void)p;
    w->checkpoint.under_way = 0;
    begin(s, &w->recovery);
    for (int q = 0; q < s->o.n; q++)
        if (sim_alive(s, q))
            job_arm(s, q);
}

void job_measure(struct sim *s, const struct ft_order *was, const struct ft_order *is)
{
    struct job_world *w = job_world(s);
    if (is->order == was->order || is->generation != was->generation)
        return;
    if (is->order == FT_ORDER_PROPOSE)
        begin(s, &w->checkpoint);
    if (is->order == FT_ORDER_CANCEL)
        w->checkpoint.under_way = 0;
    for (int q = 0; q < s->o.n && was->order == FT_ORDER_COMMIT; q++)
        w->checkpoint.under_way &=
            job_proc(s, q)->main.place != FT_AT_OVER; /* milestones were on their way, too */
    if (was->order == FT_ORDER_COMMIT)
        end(s, &w->checkpoint);
    if (was->order == FT_ORDER_RESUME || was->order == FT_ORDER_REJOIN)
        end(s, &w->recovery);
}
