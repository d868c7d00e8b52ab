/* SPDX-License-Identifier: BSD-3-Clause
 *
 * model_job.c - jobs: the program that mains run, the shell between mains and machines, what may
 * happen when.
 */
#include "job_images.h"

static const char *const acts[] = {
    "sees",     "obeys",  "moves",    "looks", "parks",     "accesses",  "is-due",    "waits",
    "is-stuck", "forges", "diverges", "dies",  "hears-out", "untouched", "calls-off",
    "asks", "begins-copy", "copies", "declines", "sees-live", "sees-group", NULL};
static const char *const mutants[] = {"no-ending",
                                      "forged",
                                      "lost-commit",
                                      "trimmed",
                                      "eager-commit",
                                      "due-once",
                                      "early-promise",
                                      "ready-twice",
                                      "votes-whole",
                                      "unbuilt",
                                      "rejoins-early",
                                      "holds",
                                      "keeps-hold",
                                      "told-early",
                                      "left-unknown",
                                      "own-witness",
                                      "snapshot-goes-on",
                                      "ungated",
                                      "touched",
                                      "keeps-snapshot",
                                      "early-gate",
                                      "silent",
                                      "snapshot-stays",
                                      "untaken",
                                      "unawaited",
                                      "stale-promise",
                                      "no-node",
                                      "no-replaying",
                                      "hasty",
                                      "told-forgets",
                                      "told-keeps",
                                      "told-rebuilds",
                                      "copies-over",
                                      "wishes-on",
                                      "thaws",
                                      "tells-first",
                                      "unsaid",
                                      "folds-over",
                                      "folds-frozen",
                                      "forgets-given",
                                      "old-round",
                                      "hears-late",
                                      "takes-early",
                                      NULL};
static const enum ft_broken broken[] = {[M_NO_ENDING] = FT_BROKEN_NO_ENDING,
                                        [M_EAGER_COMMIT] = FT_BROKEN_EAGER_COMMIT,
                                        [M_DUE_ONCE] = FT_BROKEN_DUE_ONCE,
                                        [M_EARLY_PROMISE] = FT_BROKEN_EARLY_PROMISE,
                                        [M_READY_TWICE] = FT_BROKEN_TWICE,
                                        [M_VOTES_WHOLE] = FT_BROKEN_WHOLE,
                                        [M_UNBUILT] = FT_BROKEN_UNBUILT,
                                        [M_REJOINS_EARLY] = FT_BROKEN_REJOINS,
                                        [M_HOLDS] = FT_BROKEN_HOLDS,
                                        [M_KEEPS_HOLD] = FT_BROKEN_KEEPS_HOLD,
                                        [M_TOLD_EARLY] = FT_BROKEN_TOLD_EARLY,
                                        [M_LEFT_UNKNOWN] = FT_BROKEN_LEFT_UNKNOWN,
                                        [M_OWN_WITNESS] = FT_BROKEN_OWN_WITNESS,
                                        [M_SNAPSHOT_GOES_ON] = FT_BROKEN_SNAPSHOT_GOES_ON,
                                        [M_UNGATED] = FT_BROKEN_UNGATED,
                                        [M_TOUCHED] = FT_BROKEN_TOUCHED,
                                        [M_KEEPS_SNAPSHOT] = FT_BROKEN_KEEPS_SNAPSHOT,
                                        [M_EARLY_GATE] = FT_BROKEN_EARLY_GATE,
                                        [M_SILENT] = FT_BROKEN_SILENT,
                                        [M_SNAPSHOT_STAYS] = FT_BROKEN_SNAPSHOT_STAYS,
                                        [M_UNTAKEN] = FT_BROKEN_UNTAKEN,
                                        [M_UNAWAITED] = FT_BROKEN_NOTHING,
                                        [M_STALE_PROMISE] = FT_BROKEN_NOTHING,
                                        [M_NO_NODE] = FT_BROKEN_NO_NODE,
                                        [M_NO_REPLAYING] = FT_BROKEN_NO_REPLAYING,
                                        [M_HASTY] = FT_BROKEN_NOTHING,
                                        [M_TOLD_FORGETS] = FT_BROKEN_TOLD_FORGETS,
                                        [M_TOLD_KEEPS] = FT_BROKEN_TOLD_KEEPS,
                                        [M_TOLD_REBUILDS] = FT_BROKEN_TOLD_REBUILDS,
                                        [M_COPIES_OVER] = FT_BROKEN_COPIES,
                                        [M_WISHES_ON] = FT_BROKEN_WISHES,
                                        [M_THAWS] = FT_BROKEN_THAWS,
                                        [M_TELLS_FIRST] = FT_BROKEN_TELLS_FIRST,
                                        [M_UNSAID] = FT_BROKEN_UNSAID,
                                        [M_FOLDS_OVER] = FT_BROKEN_FOLDS_OVER,
                                        [M_FOLDS_FROZEN] = FT_BROKEN_FOLDS_FROZEN,
                                        [M_FORGETS_GIVEN] = FT_BROKEN_FORGETS_GIVEN,
                                        [M_OLD_ROUND] = FT_BROKEN_OLD_ROUND,
                                        [M_HEARS_LATE] = FT_BROKEN_HEARS_LATE,
                                        [M_TAKES_EARLY] = FT_BROKEN_NOTHING};

/* Of the job under way: never changes, but for cfg.self. */
static struct ft_groups groups;
static struct ft_process_cfg cfg;

const struct ft_groups *job_groups(void) { return &groups; }
const struct ft_process_cfg *job_cfg(void) { return &cfg; }

size_t job_images_bytes(const struct sim_options *o)
{
    return o->demand ? sizeof(struct job_images) : 0;
}

const struct ft_heir *job_heirs(const struct sim *s, int p)
{
    return ft_process_map(job_process(s, p), &cfg).heir;
}

static size_t bytes(const struct sim_options *o)
{
    return job_procs_at(o->n) + (size_t)o->n * job_proc_bytes(o);
}

/* ---- the shell ---- */

/* In free runs all happens at time 1, as seen by each process. */
static uint64_t clock_of(const struct sim *s) { return 1 + (s->o.timed ? s->now : 0); }

static void rebase(uint64_t *t, uint64_t by)
{
    if (*t && *t != UINT64_MAX)
        *t = *t > by ? *t - by : 1;
}

/* Time passes for one process, which is then at time 1 again: times are part of the state. */
static void time_passes(struct ft_process *p, uint64_t now)
{
    struct ft_due *d = &p->carrier.due;
    uint64_t *t[] = {&d->next_ns,  &d->target_ns, &d->cut_ns,    &d->commit_ns,
                     &d->again_ns, &d->retry_ns,  &d->noticed_ns};
    for (size_t i = 0; i < FT_COUNTOF(t); i++)
        rebase(t[i], now - 1);
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

static void carry_out(struct sim *s, int p, const struct ft_process_actions *out)
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

/* An order that is cut short by the root: who has not answered it need not. */
static void note_superseded(struct sim *s, int p, const struct ft_order *was)
{
    const struct ft_order *o = &job_process(s, p)->order;
    if (ft_order_is_root(o) && o->generation == was->generation && o->seq > was->seq &&
        (was->order == FT_ORDER_PROPOSE || was->order == FT_ORDER_TARGET ||
         o->seq > was->seq + 1) && /* begun and cut short in this step */
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

/* What p can say of the dead: of each carrier of a rank that it came further than the one before.
 * It can read the testaments of some only; the lowest of the living can read all. */
static void testify(const struct sim *s, int p, const struct ft_bitset *dead,
                    struct ft_agree_data *d)
{
    struct ft_mapping m = ft_process_map(job_process(s, p), &cfg);
    for (int q = 0; q < s->o.n; q++)
        if (ft_bit_get(dead, q) && (s->o.demand || is_lowest(s, p) || (p + q) % 2)) {
            struct ft_testimony t = {.slot = q, .calls = 1 + m.incarnation[m.pos_of[q]]};
            job_images_testify(s, p, q, &t);
            ft_testimony_add(&d->told, &t);
        }
}

/* p may vote for its set: of each one in it that was lost with its node, it has heard that. */
static int may_vote(const struct sim *s, int p)
{
    const struct ft_process *me = job_process(s, p);
    for (int w = 0; w < (s->o.n + 63) / 64 && s->o.mutant != M_HASTY; w++)
        if (me->agree.failed.w[w] & ~me->agree.last.failed.w[w] &
            job_world(s)->lost_with_node.w[w] & ~me->out.w[w])
            return 0;
    return 1;
}

/* Nobody is inside an access to p's windows that could have seen that p has entered. */
static int is_untouched(const struct sim *s, int p)
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

static struct ft_process_event seen(uint32_t look, uint64_t value)
{
    return (struct ft_process_event){.kind = FT_PE_SEEN, .look = look, .value = value};
}

static void copy_main(struct sim *s, int p, struct ft_main *out)
{
    sim_main_copy(&job_proc(s, p)->main, out);
    job_images_of_main(s, p, out);
}

/* One event, and what the shell owes after it. */
static void event(struct sim *s, int p, struct ft_process_event ev)
{
    static struct ft_process_actions out;
    static struct ft_order was;
    static struct ft_agree_data local;
    struct ft_process *me = job_process(s, p);
    struct ft_main copy;
    for (int again = 1; again && sim_alive(s, p) && !job_world(s)->lost;) {
        cfg.self = p;
        if (!ev.now)
            ev.now = clock_of(s);
        was = me->order;
        ft_process_step(me, &cfg, &ev, &out);
        if (!s->o.timed && ev.kind == FT_PE_TIME)
            time_passes(me, ev.now);
        note_superseded(s, p, &was);
        if (s->o.timed && ft_order_is_root(&me->order))
            job_measure(s, &was, &me->order);
        if (me->order.generation == was.generation)
            job_note_said(s, p);
        carry_out(s, p, &out);
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
            ev = seen(FT_LOOK_QUIET, 1);
            again = 1;
        } else if (is_untouched(s, p) && !job_world(s)->slow) {
            ev = seen(FT_LOOK_UNTOUCHED, 1);
            again = 1;
        }
    }
}

static void look(struct sim *s, int p)
{
    struct ft_main copy;
    copy_main(s, p, &copy);
    event(s, p, (struct ft_process_event){.kind = FT_PE_MAIN, .main = &copy});
}

/* ---- what else happens ---- */

static int missing_child(const struct ft_order *o)
{
    for (int i = 0; i < o->tree.nchildren; i++)
        if (o->active && o->order != FT_ORDER_NONE && !o->child_ready[i])
            return o->tree.child[i];
    return -1;
}

static void mail_from(struct sim *s, int p, int from, const struct ft_mail *m)
{
    event(s, p, (struct ft_process_event){.kind = FT_PE_MAIL, .slot = from, .mail = m});
}

static void forge(struct sim *s, int p)
{
    static struct ft_mail m;
    const struct ft_order *o = &job_process(s, p)->order;
    memset(&m, 0, sizeof m);
    m.kind = FT_MAIL_ORDER;
    m.u.order.kind = FT_OM_READY;
    m.u.order.generation = o->generation;
    m.u.order.seq = o->seq;
    m.u.order.ready.running = 1;
    m.u.order.ready.max = 9;
    job_world(s)->forgeries++;
    mail_from(s, p, missing_child(o), &m);
}

static void is_due(struct sim *s, int p)
{
    static struct ft_mail m;
    job_world(s)->dues -= !s->o.timed;
    m.kind = FT_MAIL_DUE;
    mail_from(s, p, p, &m);
}

/* p hears that q has failed; node: and all that were on its node. */
static void fails(struct sim *s, int p, int q, int node)
{
    static struct ft_bitset set;
    memset(&set, 0, sizeof set);
    for (int i = 0; node && i < s->o.n; i++)
        if (job_node(s, i) == job_node(s, q) && job_lost_with_node(s, i))
            ft_bit_set(&set, i);
    ft_bit_set(&set, q);
    event(s, p, (struct ft_process_event){.kind = FT_PE_FAILED, .set = &set, .node = node});
}

static void happens(struct sim *s, int p, int what, int q)
{
    struct job_world *w = job_world(s);
    struct job_proc *me = job_proc(s, p);
    struct sim_main *m = &me->main;
    switch (what) {
    case JOB_SEES: fails(s, p, q, 0); break;
    case JOB_HEARS_OUT: fails(s, p, q, 1); break;
    case JOB_OBEYS: job_main_obeys(s, p, q); break;
    case JOB_MOVES: job_main_moves(s, p, q); break;
    case JOB_LOOKS: look(s, p); return;
    case JOB_PARKS:
        m->attention = 0;
        m->diverged = m->wants = 0;
        m->until_over = 0;
        sim_main_to(m, FT_AT_PARKED);
        break;
    case JOB_ACCESSES:
        job_main_accesses(s, p, q);
        if (me->process.carrier.looks & FT_LOOK_QUIET && !m->inside)
            event(s, p, seen(FT_LOOK_QUIET, 1));
        break;
    case JOB_UNTOUCHED: event(s, p, seen(FT_LOOK_UNTOUCHED, 1)); break;
    case JOB_ASKS: job_images_ask(s, p, q); break;
    case JOB_BEGINS: job_images_begin(s, p); break;
    case JOB_COPIES:
        job_images_copy(s, p);
        job_main_arrives(s, p, WELL);
        break;
    case JOB_DECLINES:
        job_happens(s, p, JOB_DECLINED);
        job_images_decline(s, p);
        break;
    case JOB_SEES_LIVE: event(s, p, seen(FT_LOOK_LIVE, 1)); break;
    case JOB_SEES_GROUP:
        job_images(s, p)->group_seen = job_images_group(s, p);
        event(s, p, seen(FT_LOOK_GROUP, job_images(s, p)->group_seen));
        break;
    case JOB_CALLS_OFF: job_main_calls_off(s, p); break;
    case JOB_IS_DUE: is_due(s, p); break;
    case JOB_TIME:
        event(
            s, p,
            (struct ft_process_event){.kind = FT_PE_TIME, .now = ft_process_expiry(&me->process)});
        break;
    case JOB_IS_STUCK:
        w->stuck -= s->o.everywhere;
        job_happens(s, p, JOB_STUCK);
        event(s, p, seen(FT_LOOK_STUCK, 1));
        break;
    case JOB_FORGES: forge(s, p); break;
    case JOB_DIVERGES:
        w->diverges--;
        job_happens(s, p, q ? JOB_FOUND : JOB_DIVERGED);
        m->asks |= FT_ASK_ROLLBACK;
        m->diverged = q == 0;
        m->news = 1;
        break;
    case JOB_DIES:
        if (s->crashes > 0)
            sim_crash(s, p, 0);
        break;
    }
    if (m->news && !w->slow && sim_alive(s, p))
        look(s, p);
}

static void act(struct sim *s, int p, int what, int q)
{
    const struct job_proc *me = job_proc(s, p);
    int stale = (what == JOB_MOVES && !sim_main_can_move(&me->main)) ||
                (what == JOB_OBEYS && !sim_main_can_obey(&me->main)) ||
                (what == JOB_PARKS && !sim_main_can_park(&me->main)) ||
                (what == JOB_IS_DUE && !ft_order_is_root(&me->process.order)) ||
                job_world(s)->lost ||
                (what == JOB_SEES && ft_bit_get(&me->process.agree.failed, q)) ||
                (what == JOB_HEARS_OUT && ft_bit_get(&me->process.out, q));
    if (s->o.timed) {
        job_proc(s, p)->moving &= what != JOB_MOVES;
        job_proc(s, p)->parking &= what != JOB_PARKS;
        job_proc(s, p)->obeying &= what != JOB_OBEYS;
        job_proc(s, p)->due &= what != JOB_IS_DUE;
    }
    if (!s->o.timed || !stale)
        happens(s, p, what, q);
    if (s->o.timed && sim_alive(s, p))
        job_arm(s, p);
}

static int is_lost_mail(const struct sim *s, int p, int from, const struct ft_mail *m)
{
    const struct ft_order *o = &job_process(s, p)->order;
    if (m->kind != FT_MAIL_ORDER)
        return 0;
    if (s->o.mutant == M_LOST_COMMIT && m->u.order.kind == FT_OM_ORDER &&
        m->u.order.order == FT_ORDER_COMMIT && p == s->o.n - 1)
        return 1;
    return s->o.mutant == M_FORGED && job_world(s)->forgeries && m->u.order.kind == FT_OM_READY &&
           m->u.order.seq == o->seq &&
           (o->order == FT_ORDER_NONE ||
            o->child_ready[from == o->tree.child[1]]); /* it was not waited for */
}

static void deliver(struct sim *s, int p, int from, const void *body, size_t size)
{
    static struct ft_mail m;
    memset(&m, 0, sizeof m);
    memcpy(&m, body, size);
    FT_ASSERT(size == ft_mail_bytes(&m));
    if (!job_world(s)->lost && !is_lost_mail(s, p, from, &m))
        mail_from(s, p, from, &m);
    if (s->o.timed && sim_alive(s, p))
        job_arm(s, p);
}

/* ---- what can happen ---- */

static void may_come(const struct sim *s, int p, int act, int q, enum job_what what,
                     struct sim_choices *out)
{
    int when = job_when(s, p, what);
    if (when >= 0)
        sim_can(out, p, act, q, when);
}

/* The image of the member that p is to add lies over its latest one: there is no way back. */
static int is_over(const struct sim *s, int p)
{
    const struct job_proc *me = job_proc(s, p);
    struct ft_main m = {0};
    job_images_of_main(s, me->process.map[me->main.arg.rank], &m);
    return (int)m.over;
}

static enum job_what refused(enum ft_command c)
{
    return c == FT_CMD_FOLD ? JOB_REFUSED_PARITY : c == FT_CMD_COPY     ? JOB_REFUSED_COPY
           : c == FT_CMD_PARITY ? JOB_REFUSED_PARITY
                                : JOB_REFUSED_REBUILD;
}

/* No order is under way at the root. */
static int root_is_idle(const struct sim *s)
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
    int may = m->place == FT_AT_BODY && !m->diverged && !m->taking, waits = m->gate && m->gate == m->until_over;
    if (m->inside) {
        sim_can(out, p, JOB_ACCESSES, 0, SIM_MUST);
    } else if (m->wants) {
        if (job_main_passes(m, &job_proc(s, me->process.map[m->wants - 1])->main))
            sim_can(out, p, JOB_ACCESSES, m->wants, SIM_MUST);
    } else if (w->accesses > 0 && may && !waits && !(w->alone && root_is_idle(s))) {
        for (int r = 0; r < w->nranks && w->alg; r++)
            if (r != m->rank)
                sim_can(out, p, JOB_ACCESSES, 1 + r, SIM_MAY);
        if (!w->alg)
            sim_can(out, p, JOB_ACCESSES, 0, SIM_SELDOM);
    }
    if (may && w->offs > 0 && m->gate && !waits && !m->inside && !m->wants)
        may_come(s, p, JOB_CALLS_OFF, 0, JOB_CALLED_OFF, out);
}

static void images_can(const struct sim *s, int p, struct sim_choices *out)
{
    const struct job_world *w = job_world(s);
    const struct sim_main *m = &job_proc(s, p)->main;
    const struct job_images *me = job_images(s, p);
    uint32_t looks = job_process(s, p)->carrier.looks;
    if (!me)
        return;
    if (m->taking)
        sim_can(out, p, JOB_COPIES, 0, SIM_MUST);
    if (job_images_can_take(s, p))
        sim_can(out, p, JOB_BEGINS, 0, SIM_MAY);
    if (me->im.wish > 0 && !me->im.taken && m->place == FT_AT_BODY && !m->replaying)
        may_come(s, p, JOB_DECLINES, 0, JOB_DECLINED, out);
    for (int r = 0; r < w->nranks && w->asks > 0 && m->place == FT_AT_BODY && !m->taking; r++)
        if (!m->replaying && m->committed > 0 && !(m->asks & FT_ASK_IMAGE))
            sim_can(out, p, JOB_ASKS, r, SIM_MAY);
    if (looks & FT_LOOK_LIVE && job_images_all_live(s, p))
        sim_can(out, p, JOB_SEES_LIVE, 0, SIM_MUST);
    if (looks & FT_LOOK_GROUP && job_images_group(s, p) != me->group_seen)
        sim_can(out, p, JOB_SEES_GROUP, 0, SIM_MUST);
}

/* Where there is just one checkpoint: main waits for it after --ops safepoints, goes on to where it
 * is held, passes one more safepoint when it has its image, and rests when all is over. */
static int goes_on(const struct sim *s, int p)
{
    const struct job_world *w = job_world(s);
    const struct sim_main *m = &job_proc(s, p)->main;
    uint64_t most = (uint64_t)s->o.ops;
    if (m->hold >= FT_HOLD_AT)
        most = m->hold - FT_HOLD_AT;
    if (m->copied > m->committed)
        most = *job_image(s, m->rank, m->copied) + 1;
    if (!w->alone || m->place != FT_AT_BODY || m->replaying || m->reached != m->passed)
        return 1;
    return m->reached < most && (w->dues > 0 || !root_is_idle(s));
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
            may_come(s, p, JOB_OBEYS, REFUSING, refused(c), out);
    }
    if (sim_main_can_move(m) && goes_on(s, p)) {
        sim_can(out, p, JOB_MOVES, WELL, SIM_MUST);
        if (w->refuses > 0 && m->place == FT_AT_BODY)
            may_come(s, p, JOB_MOVES, REFUSING, JOB_CANNOT, out);
    }
    accesses_can(s, p, out);
    images_can(s, p, out);
    if (is_untouched(s, p))
        sim_can(out, p, JOB_UNTOUCHED, 0, SIM_MUST);
    if (w->diverges > 0 && m->place == FT_AT_BODY && !m->diverged && !m->taking &&
        m->committed > 0) {
        if (m->replaying)
            may_come(s, p, JOB_DIVERGES, 0, JOB_DIVERGED, out);
        else if (me->process.generation > 0) /* a survivor finds it out, and goes on */
            may_come(s, p, JOB_DIVERGES, 1, JOB_FOUND, out);
    }
}

/* It waits for nothing but its clock: what could not be rebuilt is tried again. */
static int waits_for_clock(const struct ft_carrier *c)
{
    return c->due.retry_ns && c->cmd.kind == FT_CMD_NONE &&
           (c->state != FT_CS_PARKING || ft_place_stands(c->heard.place));
}

/* One that was lost with its node, as p has not heard yet; -1: none. */
static int hears_out(const struct sim *s, int p)
{
    const struct ft_process *me = job_process(s, p);
    for (int q = 0; q < s->o.n && job_world(s)->nodes_lost; q++)
        if (job_lost_with_node(s, q) && !ft_bit_get(&me->out, q))
            return q;
    return -1;
}

static void can(struct sim *s, struct sim_choices *out)
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
            may_come(s, p, JOB_IS_STUCK, 0, JOB_STUCK, out);
        if (s->o.everywhere && s->crashes > 0 &&
            (!w->ranks_die || (job_rank(s, p) >= 0 && job_proc(s, p)->main.reached >= w->die_at)))
            may_come(s, p, JOB_DIES, 0, JOB_DIED, out);
        if (s->o.mutant == M_FORGED && !w->forgeries && missing_child(&me->order) >= 0)
            sim_can(out, p, JOB_FORGES, 0, SIM_SELDOM);
    }
}

/* p dies, and so does whoever is on its node. */
static void node_crashes(struct sim *s, int p)
{
    struct job_world *w = job_world(s);
    int left = s->crashes;
    w->nodes_lost |= 1ull << job_node(s, p);
    ft_bit_set(&w->lost_with_node, p);
    for (int q = 0; q < s->o.n; q++)
        if (job_node(s, q) == job_node(s, p) && sim_alive(s, q)) {
            ft_bit_set(&w->lost_with_node, q);
            sim_crash(s, q, 0);
        }
    s->crashes = left;
}

static void crashed(struct sim *s, int p)
{
    struct job_world *w = job_world(s);
    ft_bit_set(&w->crashed, p);
    job_happens(s, p, JOB_DIED);
    if (w->node_slots && !(w->nodes_lost >> job_node(s, p) & 1) &&
        w->node_deaths >> w->deaths++ & 1)
        node_crashes(s, p);
    if (s->o.timed)
        job_timed_crashed(s, p);
}

/* ---- the start ---- */

static void draw_demand(struct sim *s)
{
    struct job_world *w = job_world(s);
    struct ft_prng *r = &s->rng;
    int small = s->o.ops > 1; /* all orders are to be tried: little else happens */
    w->asks = small ? 1 : 1 + (int)ft_prng_below(r, 20);
    if (small)
        w->accesses = w->refuses = w->diverges = w->slow = w->every = w->dues = 0;
    w->stream = ft_prng_below(r, 2) != 0;
    w->local = w->local || ft_prng_below(r, 2);
    w->no_run = 0;
    w->nchecksums = w->nchecksums ? w->nchecksums : s->o.n > w->nranks;
    if (w->nchecksums == 2 && ft_prng_below(r, 2))
        w->parity = 2;
    if (w->nchecksums == 1)
        w->parity = 1;
    if (s->o.everywhere)
        job_draw_alone(s);
}

/* --starters: so many ranks, and just one checkpoint, so that all orders of it can be tried. Before
 * it all have entered body, in one order; mains do not come to body's end. --ops: safepoints that
 * they may pass before it. Seeds: one more than the accesses. Nobody is late, so that nothing but a
 * death calls it off. */
static void draw_one_checkpoint(struct sim *s)
{
    struct job_world *w = job_world(s);
    w->alone = 1;
    w->nranks = s->o.starters;
    w->nchecksums = w->parity = 1;
    w->dues = 1;
    w->local = 1;
    w->length = UINT64_MAX;
    w->accesses = (int)(s->o.seed - 1);
    w->every = w->slow = w->refuses = w->diverges = w->no_run = w->offs = 0;
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
    w->slow = ft_prng_below(r, 2) != 0;
    w->accesses = (int)ft_prng_below(r, 3);
    if (s->m == &sim_model_told) {
        w->told = 1;
        w->local = w->diverges = 0;
        w->length %= 10; /* it begins again after each loss */
        w->nchecksums = w->nchecksums ? w->nchecksums : n > w->nranks;
        if (w->nchecksums == 1)
            w->parity = 1;
    }
    if (s->m == &sim_model_nodes) {
        w->node_slots = 1 + (int)ft_prng_below(r, n > 4 ? 3 : 2);
        w->node_deaths = (uint32_t)ft_prng_below(r, 1 << 9);
    }
    w->alg = s->o.alg;
    if (w->alg) {
        w->accesses += (int)ft_prng_below(r, s->o.ops > 1 ? (uint64_t)s->o.ops : 40);
        w->offs = (int)ft_prng_below(r, 2);
    }
    if (s->o.everywhere)
        job_draw_places(s);
    if (s->o.starters > 1 && s->o.starters < n)
        draw_one_checkpoint(s);
    if (s->o.demand)
        draw_demand(s);
}

static void configure(const struct sim *s)
{
    const struct job_world *w = job_world(s);
    cfg =
        (struct ft_process_cfg){.nslots = s->o.n,
                                .nranks = w->nranks,
                                .nchecksums = w->nchecksums,
                                .local = w->local,
                                .why_not = w->told ? FT_FALLBACK_PROGRAM : 0,
                                .groups = w->nchecksums ? &groups : NULL,
                                .carrier = {.nranks = w->nranks,
                                            .parity = w->nchecksums ? w->parity : 0,
                                            .checkpoints = w->nchecksums > 0,
                                            .logs = !w->told,
                                            .told = w->told,
                                            .every = w->every,
                                            .snapshot = w->alg,
                                            .demand = s->o.demand && w->nchecksums > 0,
                                            .stream = s->o.demand && w->stream,
                                            .broken = s->o.mutant ? (int)broken[s->o.mutant] : 0}};
    for (int i = 0; i < s->o.n; i++)
        ft_bit_set(&cfg.neighbours, i);
}

/* In body, and has heard of the checkpoint at the entry. */
static int has_begun(const struct sim *s, int p)
{
    const struct job_proc *me = job_proc(s, p);
    return me->main.committed == 1 && (me->main.rank < 0 || me->main.place == FT_AT_BODY) &&
           me->main.number == me->main.answered;
}

/* Whatever must happen, in one order, until all have begun. */
static void all_begin(struct sim *s)
{
    static struct sim_choices can_now;
    for (int begun = 0; !begun && !s->wrong[0];) {
        int i = 0;
        FT_ASSERT(sim_choices(s, &can_now));
        begun = s->nmsg == 0 && root_is_idle(s);
        for (int p = 0; p < s->o.n; p++)
            begun &= has_begun(s, p);
        while (!begun && (can_now.c[i].idle != SIM_MUST ||
                          (can_now.c[i].act == JOB_MOVES && can_now.c[i].what == SIM_DO &&
                           has_begun(s, can_now.c[i].p))))
            FT_ASSERT(++i < can_now.n);
        if (!begun)
            sim_do(s, &can_now.c[i]);
    }
    s->steps = s->sent = 0;
}

static void start(struct sim *s)
{
    static struct ft_process_actions out;
    struct job_world *w = job_world(s);
    char why[200];
    if (s->o.timed)
        job_timed_start(s);
    else
        draw(s);
    ft_groups_finish(&groups);
    memset(&groups, 0, sizeof groups);
    if (w->nchecksums)
        FT_ASSERT(ft_groups_init(&groups, w->nranks, w->nchecksums, w->parity, NULL, why,
                                 sizeof why) == FT_OK);
    configure(s);
    for (int p = 0; p < s->o.n; p++) {
        struct sim_main *m = &job_proc(s, p)->main;
        cfg.self = p;
        m->rank = p < w->nranks ? p : -1;
        m->place = m->rank >= 0 ? FT_AT_SETUP : FT_AT_INIT;
        FT_ASSERT(sizeof(struct job_proc) - sizeof(struct ft_process) + ft_process_bytes(&cfg) <=
                  job_proc_bytes(&s->o));
        ft_process_init(job_process(s, p), &cfg, clock_of(s), &out);
        job_images_start(s, p);
        carry_out(s, p, &out);
        if (s->o.timed)
            job_arm(s, p);
    }
    if (w->alone)
        all_begin(s);
}

static void say(const struct sim *s, const void *body, size_t size, char *out, int room)
{
    static const char *const order[] = {"",        "PROPOSE", "TARGET", "CUT",
                                        "LEAVE",   "COMMIT",  "CANCEL", "RECOVER",
                                        "RESTORE", "RESUME",  "REJOIN", "DONE"};
    static const char *const vote[] = {"", "announce", "vote", "decide"};
    static struct ft_mail m;
    (void)s;
    memcpy(&m, body, size);
    switch (m.kind) {
    case FT_MAIL_AGREE:
        snprintf(out, (size_t)room, "%s, dead %#llx, last generation %u", vote[m.u.agree.kind],
                 (unsigned long long)m.u.agree.failed.w[0], m.u.agree.last.generation);
        break;
    case FT_MAIL_ORDER:
        if (m.u.order.kind == FT_OM_ORDER)
            snprintf(out, (size_t)room, "order %u.%u %s(%llu)", m.u.order.generation, m.u.order.seq,
                     order[m.u.order.order], (unsigned long long)m.u.order.arg);
        else
            snprintf(out, (size_t)room,
                     m.u.order.kind == FT_OM_READY ? "ready %u.%u" : "milestone, order %u.%u",
                     m.u.order.generation, m.u.order.seq);
        break;
    case FT_MAIL_DUE: snprintf(out, (size_t)room, "asks for a checkpoint"); break;
    case FT_MAIL_ROLLBACK: snprintf(out, (size_t)room, "asks for a rollback"); break;
    case FT_MAIL_SNAPSHOT_OFF: snprintf(out, (size_t)room, "asks to call the snapshot off"); break;
    case FT_MAIL_MARKER:
        snprintf(out, (size_t)room, "%s marker of snapshot %u.%u from rank %d",
                 m.u.marker.kind == FT_SNAP_SECOND ? "second" : "first",
                 (unsigned)(m.u.marker.snapshot >> 32), (unsigned)m.u.marker.snapshot, m.u.marker.rank);
        break;
    case FT_MAIL_ASKS_LEFT:
        snprintf(out, (size_t)room, "asks what %d left", (int)m.u.number);
        break;
    case FT_MAIL_LEFT: snprintf(out, (size_t)room, "what %d left", m.u.left.slot); break;
    case FT_MAIL_DEMAND: sim_images_say(&m.u.demand, out, room); break;
    default: snprintf(out, (size_t)room, "mail %u", m.kind); break;
    }
}

static const char *const counted[] = {
    "commits",      "cancels by the root",  "rollbacks", "jobs lost", "gone back alone",
    "by snapshots", "snapshots called off", "images alone", NULL};
static void tally(const struct sim *s, uint64_t *sums)
{
    const struct job_world *w = job_world(s);
    sums[0] += w->commits;
    sums[1] += w->cancels;
    sums[2] += w->rollbacks;
    sums[3] += (uint64_t)w->lost;
    sums[4] += w->live;
    sums[5] += w->snapshots;
    sums[6] += w->offed;
    sums[7] += w->taken_alone;
}

static const struct sim_checker *const checkers[] = {&sim_check_job, NULL};
const struct sim_model sim_model_job = {
    "job",   acts,  mutants,    checkers, bytes, start,   deliver,
    can,     act,   crashed,    say,      1,     JOB_MAX, FT_MAX_SLOTS < 4096 ? FT_MAX_SLOTS : 4096,
    counted, tally, &job_places};
/* The same on several nodes, which are lost with all that is on them. */
const struct sim_model sim_model_nodes = {"nodes", acts, mutants, checkers, bytes,      start,
                                          deliver, can,  act,     crashed,  say,        2,
                                          JOB_MAX, 0,    counted, tally,    &job_places};
/* The same, where the program handles losses (G5). */
const struct sim_model sim_model_told = {"told",  acts, mutants, checkers, bytes,      start,
                                         deliver, can,  act,     crashed,  say,        1,
                                         JOB_MAX, 0,    counted, tally,    &job_places};
