/* SPDX-License-Identifier: BSD-3-Clause
 *
 * model_job.c - jobs: how they begin, what happens in a step, and who is lost with whom.
 */
#include "check_job.h"
#include "job_draw.h"
#include "job_images.h"
#include "job_main.h"
#include "job_mutant.h"
#include "job_places.h"
#include "job_shell.h"
#include "job_time.h"
#include "sim_run.h"

static const char *const acts[] = {
    "sees",      "obeys",     "moves",      "looks",  "parks",       "accesses",
    "is-due",    "waits",     "is-stuck",   "forges", "diverges",    "dies",
    "hears-out", "untouched", "calls-off",  "asks",   "begins-copy", "copies",
    "declines",  "sees-live", "sees-group", NULL};
static const char *const mutants[] = {
#define JOB_MUTANT(id, name, broken) name,
#include "job_mutant.def"
#undef JOB_MUTANT
    NULL};

size_t job_images_bytes(const struct sim_options *o)
{
    return o->demand ? sizeof(struct job_images) : 0;
}

const struct ft_heir *job_heirs(const struct sim *s, int p)
{
    return ft_process_map(job_process(s, p), job_cfg()).heir;
}

static size_t bytes(const struct sim_options *o)
{
    return job_procs_at(o->n) + (size_t)o->n * job_proc_bytes(o);
}

/* ---- what happens ---- */

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
    job_mail(s, p, job_missing_child(o), &m);
}

static void is_due(struct sim *s, int p)
{
    static struct ft_mail m;
    job_world(s)->dues -= !s->o.timed;
    m.kind = FT_MAIL_DUE;
    job_mail(s, p, p, &m);
}

/* p hears that q has failed; node: and all others on the node of q. */
static void fails(struct sim *s, int p, int q, int node)
{
    static struct ft_bitset set;
    memset(&set, 0, sizeof set);
    for (int i = 0; node && i < s->o.n; i++)
        if (job_node(s, i) == job_node(s, q) && job_lost_with_node(s, i))
            ft_bit_set(&set, i);
    ft_bit_set(&set, q);
    job_event(s, p, (struct ft_process_event){.kind = FT_PE_FAILED, .set = &set, .node = node});
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
    case JOB_LOOKS: job_look(s, p); return;
    case JOB_PARKS:
        m->attention = 0;
        m->diverged = m->wants = 0;
        m->until_over = 0;
        sim_main_to(m, FT_AT_PARKED);
        break;
    case JOB_ACCESSES:
        job_main_accesses(s, p, q);
        if (me->process.carrier.looks & FT_LOOK_QUIET && !m->inside)
            job_event(s, p, job_seen(FT_LOOK_QUIET, 1));
        break;
    case JOB_UNTOUCHED: job_event(s, p, job_seen(FT_LOOK_UNTOUCHED, 1)); break;
    case JOB_CALLS_OFF: job_main_calls_off(s, p); break;
    case JOB_IS_DUE: is_due(s, p); break;
    case JOB_TIME:
        job_event(
            s, p,
            (struct ft_process_event){.kind = FT_PE_TIME, .now = ft_process_expiry(&me->process)});
        break;
    case JOB_IS_STUCK:
        w->stuck -= s->o.everywhere;
        job_happens(s, p, JOB_STUCK);
        job_event(s, p, job_seen(FT_LOOK_STUCK, 1));
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
    default: job_images_happen(s, p, what, q); break;
    }
    if (m->news && !w->slow && sim_alive(s, p))
        job_look(s, p);
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
            o->child_ready[from == o->tree.child[1]]); /* nobody waited for that answer */
}

static void deliver(struct sim *s, int p, int from, const void *body, size_t size)
{
    static struct ft_mail m;
    memset(&m, 0, sizeof m);
    memcpy(&m, body, size);
    FT_ASSERT(size == ft_mail_bytes(&m));
    if (s->o.mutant == M_OLD_TRAFFIC && m.kind == FT_MAIL_ORDER)
        m.u.order.generation = job_process(s, p)->order.generation;
    if (!job_world(s)->lost && !is_lost_mail(s, p, from, &m))
        job_mail(s, p, from, &m);
    if (s->o.timed && sim_alive(s, p))
        job_arm(s, p);
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

/* p is in body, and has heard that the checkpoint of the entry is committed. */
static int has_begun(const struct sim *s, int p)
{
    const struct job_proc *me = job_proc(s, p);
    return me->main.committed == 1 && (me->main.rank < 0 || me->main.place == FT_AT_BODY) &&
           me->main.number == me->main.answered;
}

/* Lets all that has to happen happen in one fixed order, until all have begun. */
static void all_begin(struct sim *s)
{
    static struct sim_choices can_now;
    for (int begun = 0; !begun && !s->wrong[0];) {
        int i = 0;
        FT_ASSERT(sim_choices(s, &can_now));
        begun = s->nmsg == 0 && job_root_is_idle(s);
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
    if (s->o.timed)
        job_timed_start(s);
    else
        job_draw(s);
    job_configure(s);
    for (int p = 0; p < s->o.n; p++) {
        struct sim_main *m = &job_proc(s, p)->main;
        m->rank = p < w->nranks ? p : -1;
        m->log_here = m->rank >= 0;
        m->place = m->rank >= 0 ? FT_AT_SETUP : FT_AT_INIT;
        FT_ASSERT(sizeof(struct job_proc) - sizeof(struct ft_process) +
                      ft_process_bytes(job_cfg()) <=
                  job_proc_bytes(&s->o));
        ft_process_init(job_process(s, p), job_cfg_of(p), job_clock(s), &out);
        job_images_start(s, p);
        job_carry_out(s, p, &out);
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
                 (unsigned)(m.u.marker.snapshot >> 32), (unsigned)m.u.marker.snapshot,
                 m.u.marker.rank);
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
    "commits",      "cancels by the root",  "rollbacks",    "jobs lost", "gone back alone",
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
    job_can, act,   crashed,    say,      1,     JOB_MAX, FT_MAX_SLOTS < 4096 ? FT_MAX_SLOTS : 4096,
    counted, tally, &job_places};
/* The same job on several nodes, which are lost with all processes on them. */
const struct sim_model sim_model_nodes = {"nodes", acts,    mutants, checkers, bytes,      start,
                                          deliver, job_can, act,     crashed,  say,        2,
                                          JOB_MAX, 0,       counted, tally,    &job_places};
/* The same job with a program that handles losses itself (G5). */
const struct sim_model sim_model_told = {"told",  acts,    mutants, checkers, bytes,      start,
                                         deliver, job_can, act,     crashed,  say,        1,
                                         JOB_MAX, 0,       counted, tally,    &job_places};
