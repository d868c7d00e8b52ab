/* SPDX-License-Identifier: BSD-3-Clause
 *
 * job_choices.c - what can happen next in a simulated job.
 */
#include "job_images.h"
#include "job_main.h"
#include "job_mutant.h"
#include "job_places.h"
#include "job_shell.h"

int job_missing_child(const struct ft_order *o)
{
    for (int i = 0; i < o->tree.nchildren; i++)
        if (o->active && o->order != FT_ORDER_NONE && !o->child_ready[i])
            return o->tree.child[i];
    return -1;
}

/* The image that p is to add lies over the latest image of that member, so it cannot be dropped. */
static int is_over(const struct sim *s, int p)
{
    const struct job_proc *me = job_proc(s, p);
    struct ft_main m = {0};
    job_images_of_main(s, me->process.map[me->main.arg.rank], &m);
    return (int)m.over;
}

static enum job_what refused(enum ft_command c)
{
    return c == FT_CMD_FOLD     ? JOB_REFUSED_PARITY
           : c == FT_CMD_COPY   ? JOB_REFUSED_COPY
           : c == FT_CMD_PARITY ? JOB_REFUSED_PARITY
                                : JOB_REFUSED_REBUILD;
}

/* 1: the root has no order under way. */
int job_root_is_idle(const struct sim *s)
{
    for (int p = 0; p < s->o.n; p++) {
        const struct ft_order *o = &job_process(s, p)->order;
        if (sim_alive(s, p) && ft_order_is_root(o))
            return o->active && o->order == FT_ORDER_NONE;
    }
    return 0;
}

static void accesses_can(const struct sim *s, int p, struct sim_choices *out)
{
    const struct job_world *w = job_world(s);
    const struct job_proc *me = job_proc(s, p);
    const struct sim_main *m = &me->main;
    int may = m->place == FT_AT_BODY && !m->diverged && !m->taking,
        waits = m->gate && m->gate == m->until_over;
    if (m->inside) {
        sim_can(out, p, JOB_ACCESSES, 0, SIM_MUST);
    } else if (m->wants) {
        if (job_main_passes(m, &job_proc(s, me->process.map[m->wants - 1])->main))
            sim_can(out, p, JOB_ACCESSES, m->wants, SIM_MUST);
    } else if (w->accesses > 0 && may && !waits && !(w->alone && job_root_is_idle(s))) {
        for (int r = 0; r < w->nranks && w->alg; r++)
            if (r != m->rank)
                sim_can(out, p, JOB_ACCESSES, 1 + r, SIM_MAY);
        if (!w->alg)
            sim_can(out, p, JOB_ACCESSES, 0, SIM_SELDOM);
    }
    if (may && w->offs > 0 && m->gate && !waits && !m->inside && !m->wants)
        job_may_come(s, p, JOB_CALLS_OFF, 0, JOB_CALLED_OFF, out);
}

/* If there is one checkpoint only, main waits for it after --ops safepoints and goes on to where it
 * is held. When it has its image, it passes one more safepoint, and rests when all is over. */
static int goes_on(const struct sim *s, int p)
{
    const struct job_world *w = job_world(s);
    const struct sim_main *m = &job_proc(s, p)->main;
    uint64_t most = (uint64_t)s->o.ops;
    if (m->hold >= FT_HOLD_AT)
        most = m->hold - FT_HOLD_AT;
    if (m->copied > m->committed && m->imaged >> 32 == job_process(s, p)->generation)
        most = *job_image(s, m->rank, m->copied) + 1;
    if (!w->alone || m->place != FT_AT_BODY || m->replaying || m->reached != m->passed)
        return 1;
    return m->reached < most && (w->dues > 0 || !job_root_is_idle(s));
}

static void main_can(const struct sim *s, int p, struct sim_choices *out)
{
    const struct job_world *w = job_world(s);
    const struct job_proc *me = job_proc(s, p);
    const struct sim_main *m = &me->main;
    if (m->news && w->slow)
        sim_can(out, p, JOB_LOOKS, 0, SIM_MUST);
    if (sim_main_can_park(m))
        sim_can(out, p, JOB_PARKS, 0, SIM_MUST);
    if (sim_main_can_obey(m)) {
        enum ft_command c = (enum ft_command)m->command;
        sim_can(out, p, JOB_OBEYS, WELL, SIM_MUST);
        if (w->refuses > 0 && ft_place_takes((enum ft_place)m->place, c) &&
            (c == FT_CMD_COPY || c == FT_CMD_PARITY || c == FT_CMD_REBUILD ||
             (c == FT_CMD_FOLD && !is_over(s, p))))
            job_may_come(s, p, JOB_OBEYS, REFUSING, refused(c), out);
    }
    if (sim_main_can_move(m) && goes_on(s, p)) {
        sim_can(out, p, JOB_MOVES, WELL, SIM_MUST);
        if (w->refuses > 0 && m->place == FT_AT_BODY)
            job_may_come(s, p, JOB_MOVES, REFUSING, JOB_CANNOT, out);
    }
    accesses_can(s, p, out);
    job_images_can(s, p, out);
    if (job_is_untouched(s, p))
        sim_can(out, p, JOB_UNTOUCHED, 0, SIM_MUST);
    if (w->diverges > 0 && m->place == FT_AT_BODY && !m->diverged && !m->taking &&
        m->committed > 0) {
        if (m->replaying)
            job_may_come(s, p, JOB_DIVERGES, 0, JOB_DIVERGED, out);
        else if (me->process.generation > 0) /* a survivor finds it out and goes on */
            job_may_come(s, p, JOB_DIVERGES, 1, JOB_FOUND, out);
    }
}

/* It waits only for its clock, to try again what could not be rebuilt. */
static int waits_for_clock(const struct ft_carrier *c)
{
    return c->due.retry_ns && c->cmd.kind == FT_CMD_NONE &&
           (c->state != FT_CS_PARKING || ft_place_stands(c->heard.place));
}

/* A process that was lost with its node, which p has not heard yet; -1: there is none. */
static int hears_out(const struct sim *s, int p)
{
    const struct ft_process *me = job_process(s, p);
    for (int q = 0; q < s->o.n && job_world(s)->nodes_lost; q++)
        if (job_lost_with_node(s, q) && !ft_bit_get(&me->out, q))
            return q;
    return -1;
}

void job_can(struct sim *s, struct sim_choices *out)
{
    const struct job_world *w = job_world(s);
    for (int p = 0; p < s->o.n && !w->lost; p++) {
        const struct ft_process *me = job_process(s, p);
        const struct ft_carrier *c = &me->carrier;
        if (!sim_alive(s, p))
            continue;
        int next = ft_ring_next(s->o.n, &me->agree.failed, p);
        if (next >= 0 && !sim_alive(s, next) && !job_lost_with_node(s, next))
            sim_can(out, p, JOB_SEES, next, SIM_MUST);
        int hears = hears_out(s, p);
        if (hears >= 0)
            sim_can(out, p, JOB_HEARS_OUT, hears, SIM_MUST);
        main_can(s, p, out);
        if (w->dues > 0 && ft_order_is_root(&me->order) && c->state != FT_CS_GONE)
            sim_can(out, p, JOB_IS_DUE, 0, SIM_SELDOM);
        if (ft_process_expiry(me) != UINT64_MAX && (!w->alone || waits_for_clock(c)))
            sim_can(out, p, JOB_TIME, 0, waits_for_clock(c) ? SIM_MUST : SIM_SELDOM);
        if (c->looks & FT_LOOK_STUCK && !w->alone && (!s->o.everywhere || w->stuck > 0))
            job_may_come(s, p, JOB_IS_STUCK, 0, JOB_STUCK, out);
        if (s->o.everywhere && s->crashes > 0 &&
            (!w->ranks_die || (job_rank(s, p) >= 0 && job_proc(s, p)->main.reached >= w->die_at)))
            job_may_come(s, p, JOB_DIES, 0, JOB_DIED, out);
        if (s->o.mutant == M_FORGED && !w->forgeries && job_missing_child(&me->order) >= 0)
            sim_can(out, p, JOB_FORGES, 0, SIM_SELDOM);
    }
}
