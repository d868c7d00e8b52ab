/* SPDX-License-Identifier: BSD-3-Clause
 *
 * job_shell.c - the shell between a simulated main and its machine. It feeds events, and carries
 * out actions.
 */
#include "job_shell.h"

#include "check_job.h"
#include "job_images.h"
#include "job_mutant.h"
#include "job_time.h"

/* In free runs each process sees everything happen at time 1. */
uint64_t job_clock(const struct sim *s) { return 1 + (s->o.timed ? s->now : 0); }

static void rebase(uint64_t *t, uint64_t by)
{
    if (*t && *t != UINT64_MAX)
        *t = *t > by ? *t - by : 1;
}

/* Time passes for one process, and then it is at time 1 again, because times are part of the state.
 */
static void time_passes(struct ft_process *p, uint64_t now)
{
    struct ft_due *d = &p->carrier.due;
    uint64_t *t[] = {&d->next_ns,  &d->target_ns, &d->cut_ns,    &d->commit_ns,
                     &d->again_ns, &d->retry_ns,  &d->noticed_ns};
    for (size_t i = 0; i < FT_COUNTOF(t); i++)
        rebase(t[i], now - 1);
    d->waited_ns = 0;
    d->cost_s = 0;
}

static void publish(struct sim *s, int p, const struct ft_action *a)
{
    struct sim_main *m = &job_proc(s, p)->main;
    job_check_publishes(s, p, a);
    job_images_publish(s, p, a);
    if (a->word == FT_WORD_REPLAYING)
        m->replaying = (int32_t)a->value;
    if (a->word == FT_WORD_SNAPSHOT_ENTERED)
        m->entered = a->value;
    if (a->word != FT_WORD_COMMITTED)
        return;
    job_world(s)->snapshots += !s->searching && m->imaged && m->copied == a->value;
    m->committed = m->oldest = a->value;
    job_world(s)->commits += !s->searching;
}

static void mail_to(struct sim *s, int p, int to, const struct ft_mail *m, uint32_t size)
{
    if (to != FT_TO_RANKS)
        sim_send(s, p, to, m, size);
    for (int r = 0; to == FT_TO_RANKS && r < job_world(s)->nranks; r++)
        if (job_process(s, p)->map[r] != p)
            sim_send(s, p, job_process(s, p)->map[r], m, size);
}

static void say_left(struct sim *s, int p, const struct ft_action *a)
{
    static struct ft_mail m;
    m.kind = FT_MAIL_LEFT;
    m.u.left = (struct ft_testimony){.slot = (int)a->value};
    sim_send(s, p, a->to, &m, ft_mail_bytes(&m));
}

void job_carry_out(struct sim *s, int p, const struct ft_process_actions *out)
{
    struct job_world *w = job_world(s);
    struct sim_main *m = &job_proc(s, p)->main;
    for (int i = 0; i < out->act.n && sim_alive(s, p); i++) {
        const struct ft_action *a = &out->act.a[i];
        switch (a->kind) {
        case FT_DO_MAIL: mail_to(s, p, a->to, &out->mail[a->mail], a->bytes); break;
        case FT_DO_GATE:
            m->gate = a->value;
            m->asks &= ~(uint32_t)FT_ASK_SNAPSHOT_OFF;
            break;
        case FT_DO_COMMAND:
            m->number = a->number;
            m->command = (int32_t)a->command;
            m->arg = a->arg;
            break;
        case FT_DO_HOLD: m->hold = a->value; break;
        case FT_DO_ATTENTION: m->attention |= (uint32_t)a->value; break;
        case FT_DO_PUBLISH: publish(s, p, a); break;
        case FT_DO_LOST:
        case FT_DO_BIND:
            w->lost |= a->kind == FT_DO_LOST;
            w->rollbacks += out->plan.kind == FT_PLAN_ROLLBACK && !s->searching;
            job_check_adopted(s, p, &out->decision, a->kind == FT_DO_LOST,
                              out->plan.kind == FT_PLAN_ROLLBACK);
            job_check_nodes(s, p, &out->decision, a->kind == FT_DO_LOST,
                            out->plan.kind == FT_PLAN_ROLLBACK);
            break;
        case FT_DO_INHERIT: m->left = 1 + out->left.slot; break;
        case FT_DO_SAY_LEFT: say_left(s, p, a); break;
        case FT_DO_EVENT:
            w->cancels += a->event == FT_EV_CKPT_SKIPPED && !s->searching;
            w->offed += a->event == FT_EV_SNAPSHOT_OFF && !s->searching;
            break;
        default: job_images_carry_out(s, p, a); break;
        }
    }
}

static int did(const struct ft_process_actions *out, enum ft_do kind)
{
    for (int i = 0; i < out->act.n; i++)
        if (out->act.a[i].kind == kind)
            return 1;
    return 0;
}

/* The root has ended an order early. Processes that have not answered it need not answer any more.
 */
static void note_superseded(struct sim *s, int p, const struct ft_order *was)
{
    const struct ft_order *o = &job_process(s, p)->order;
    if (ft_order_is_root(o) && o->generation == was->generation && o->seq > was->seq &&
        (was->order == FT_ORDER_PROPOSE || was->order == FT_ORDER_TARGET ||
         (was->order == FT_ORDER_CUT && was->flags & FT_ORDER_EXIT) ||
         o->seq > was->seq + 1) && /* it was begun and ended in this step */
        (o->order == FT_ORDER_RECOVER || o->order == FT_ORDER_CANCEL))
        job_world(s)->superseded[o->generation] = o->seq - 1;
}

static int is_lowest(const struct sim *s, int p)
{
    for (int q = 0; q < p; q++)
        if (sim_alive(s, q))
            return 0;
    return 1;
}

/* What p can say of the dead. Each carrier of a rank has come further than the one before. p can
 * read the testaments of some only, but the lowest living process can read all. */
static void testify(const struct sim *s, int p, const struct ft_bitset *dead,
                    struct ft_agree_data *d)
{
    struct ft_mapping m = ft_process_map(job_process(s, p), job_cfg());
    for (int q = 0; q < s->o.n; q++)
        if (ft_bit_get(dead, q) && (s->o.demand || is_lowest(s, p) || (p + q) % 2)) {
            struct ft_testimony t = {.slot = q, .calls = 1 + m.incarnation[m.pos_of[q]]};
            t.log_here = job_proc(s, q)->main.log_here || s->o.mutant == M_SAYS_WHOLE;
            const struct ft_carrier *of = &job_process(s, q)->carrier;
            uint64_t committed = job_proc(s, q)->main.committed; /* what it has published */
            d->committed = ft_max_u64(d->committed, committed);
            if (of->facts & FT_FACT_RUN_OVER && of->committed == committed)
                d->flags |= FT_AGREE_RUN_OVER;
            job_images_testify(s, p, q, &t);
            ft_testimony_add(&d->told, &t);
        }
}

/* p may vote for its set: it has heard of each slot in it that was lost with its node. */
static int may_vote(const struct sim *s, int p)
{
    const struct ft_process *me = job_process(s, p);
    for (int w = 0; w < (s->o.n + 63) / 64 && s->o.mutant != M_HASTY; w++)
        if (me->agree.failed.w[w] & ~me->agree.last.failed.w[w] &
            job_world(s)->lost_with_node.w[w] & ~me->out.w[w])
            return 0;
    return 1;
}

/* Nobody is inside an access to p's windows that began before p had entered. */
int job_is_untouched(const struct sim *s, int p)
{
    if (!(job_process(s, p)->carrier.looks & FT_LOOK_UNTOUCHED))
        return 0;
    for (int q = 0; q < s->o.n; q++) {
        const struct sim_main *m = &job_proc(s, q)->main;
        if (sim_alive(s, q) && m->inside && m->gated && m->of == 1 + p &&
            s->o.mutant != M_UNAWAITED)
            return 0;
    }
    return 1;
}

struct ft_process_event job_seen(uint32_t look, uint64_t value)
{
    return (struct ft_process_event){.kind = FT_PE_SEEN, .look = look, .value = value};
}

static void copy_main(struct sim *s, int p, struct ft_main *out)
{
    sim_main_copy(&job_proc(s, p)->main, out);
    job_images_of_main(s, p, out);
}

/* Feeds one event, and what the shell owes after it. */
void job_event(struct sim *s, int p, struct ft_process_event ev)
{
    static struct ft_process_actions out;
    static struct ft_order was;
    static struct ft_agree_data local;
    struct ft_process *me = job_process(s, p);
    struct ft_main copy;
    for (int again = 1; again && sim_alive(s, p) && !job_world(s)->lost;) {
        if (!ev.now)
            ev.now = job_clock(s);
        was = me->order;
        ft_process_step(me, job_cfg_of(p), &ev, &out);
        if (!s->o.timed && ev.kind == FT_PE_TIME)
            time_passes(me, ev.now);
        note_superseded(s, p, &was);
        if (s->o.timed && ft_order_is_root(&me->order))
            job_measure(s, &was, &me->order);
        if (me->order.generation == was.generation)
            job_note_said(s, p);
        job_carry_out(s, p, &out);
        if (sim_alive(s, p) && !job_world(s)->lost)
            job_check_orders(s, p, was.generation, was.seq);
        again = 0;
        ev = (struct ft_process_event){0};
        if (did(&out, FT_DO_WITNESS)) {
            job_proc(s, p)->asked = 1;
            job_proc(s, p)->dead = out.set;
        }
        job_proc(s, p)->asked &= me->agree.asking;
        if (job_proc(s, p)->asked && may_vote(s, p)) {
            job_proc(s, p)->asked = 0;
            memset(&local, 0, sizeof local);
            ev.local = &local;
            ev.kind = FT_PE_WITNESSED;
            testify(s, p, &job_proc(s, p)->dead, &local);
            job_note_vote(s, p);
            again = 1;
        } else if (did(&out, FT_DO_HOLD) || (s->o.demand && did(&out, FT_DO_WISH))) {
            if (s->o.mutant == M_STALE_PROMISE) {
                copy = me->carrier.heard;
                copy.hold = job_proc(s, p)->main.hold;
            } else {
                copy_main(s, p, &copy);
            }
            ev.kind = FT_PE_MAIN;
            ev.main = &copy;
            again = 1;
        } else if (me->carrier.looks & FT_LOOK_QUIET && !job_proc(s, p)->main.inside) {
            ev = job_seen(FT_LOOK_QUIET, 1);
            again = 1;
        } else if (job_is_untouched(s, p) && !job_world(s)->slow) {
            ev = job_seen(FT_LOOK_UNTOUCHED, 1);
            again = 1;
        }
    }
}

void job_look(struct sim *s, int p)
{
    struct ft_main copy;
    copy_main(s, p, &copy);
    job_event(s, p, (struct ft_process_event){.kind = FT_PE_MAIN, .main = &copy});
}

void job_mail(struct sim *s, int p, int from, const struct ft_mail *m)
{
    job_event(s, p, (struct ft_process_event){.kind = FT_PE_MAIL, .slot = from, .mail = m});
}
