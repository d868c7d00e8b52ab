/* SPDX-License-Identifier: BSD-3-Clause
 *
 * job_main.c - the program that the mains of a simulated job run: what they do at each place, and
 * how they carry out commands.
 */
#include "job_main.h"

#include "check_job.h"
#include "job_images.h"
#include "job_mutant.h"
#include "job_places.h"
#include "job_shell.h"

/* Main stops here without being told. */
static int stops_of_itself(const struct job_world *w, const struct sim_main *m)
{
    return w->every && w->nchecksums && m->reached > 0 && m->reached % (uint64_t)w->every == 0 &&
           m->reached != m->restored_at;
}

static int is_missing_log(const struct sim *s, const struct sim_main *m)
{
    return job_world(s)->node_slots && !m->log_here;
}

static void note_progress(struct sim *s, int p)
{
    struct sim_main *m = &job_proc(s, p)->main;
    if (m->rank < 0 || m->place == FT_AT_INIT || m->place == FT_AT_SETUP)
        return;
    uint64_t *furthest = job_reached(s, m->rank);
    int in_run = m->place != FT_AT_ENTRY && m->place != FT_AT_RESTORED;
    if (in_run && is_missing_log(s, m)) { /* it does not become live before all have gone back */
        m->diverged = m->place == FT_AT_BODY;
        m->asks |= FT_ASK_ROLLBACK;
        m->news = 1;
        return;
    }
    if (m->replaying && in_run && m->reached >= *furthest) {
        m->replaying = 0;
        m->news = 1;
        job_world(s)->live += m->committed > 0 && !s->searching;
        job_images_live(s, p);
    }
    if (m->reached > *furthest)
        *furthest = m->reached;
}

static void in_body(struct sim *s, int p, int how)
{
    struct job_world *w = job_world(s);
    struct sim_main *m = &job_proc(s, p)->main;
    if (m->reached == w->length && m->reached == m->passed) {
        sim_main_to(m, FT_AT_OVER);
        return;
    }
    if (m->reached == m->passed)
        m->reached++;
    job_main_arrives(s, p, how);
}

void job_main_arrives(struct sim *s, int p, int how)
{
    struct job_world *w = job_world(s);
    struct sim_main *m = &job_proc(s, p)->main;
    note_progress(s, p);
    sim_main_arrives(m, stops_of_itself(w, m));
    m->cannot = m->place == FT_AT_HELD && how == REFUSING ? FT_SKIP_REQUESTS : 0;
    w->refuses -= m->cannot != 0;
    if (m->cannot)
        job_happens(s, p, JOB_CANNOT);
}

/* A replacement copies the home log of its rank from the node that the plan names (R12). If that
 * node is lost, all have to go back. */
static void has_log(struct sim *s, int p)
{
    struct job_world *w = job_world(s);
    struct sim_main *m = &job_proc(s, p)->main;
    if (!is_missing_log(s, m))
        return;
    int home = ft_process_map(job_process(s, p), job_cfg()).home[m->rank];
    const struct sim_main *of = &job_proc(s, home)->main;
    int told = of->log_here || s->o.mutant == M_SAYS_WHOLE,
        had_not = m->left == 1 + home && !told && m->nth > 1;
    m->log_here = !had_not && !(w->nodes_lost >> job_node(s, home) & 1);
    if (m->log_here)
        job_check_log(s, p, home);
    else if (m->committed == 0 || job_process(s, p)->carrier.facts & FT_FACT_RUN_OVER)
        w->lost = 1;
}

void job_main_moves(struct sim *s, int p, int how)
{
    struct job_world *w = job_world(s);
    struct sim_main *m = &job_proc(s, p)->main;
    switch (m->place) {
    case FT_AT_SETUP:
        has_log(s, p);
        sim_main_to(m, w->no_run ? FT_AT_FINALIZE : m->refused ? FT_AT_AFTER : FT_AT_ENTRY);
        if (w->nchecksums && m->committed == 0)
            m->replaying = 0; /* it has repeated everything before it comes here */
        break;
    case FT_AT_AFTER: sim_main_to(m, FT_AT_FINALIZE); break;
    default: in_body(s, p, how); break;
    }
    note_progress(s, p);
}

static void restores_told(struct sim *s, int p, struct sim_main *m)
{
    job_check_told(s, p, &m->arg);
    if (m->arg.told == FT_TOLD_NEW) {
        m->fresh = 0;
        m->is_new = 1;
        m->restored_in = m->arg.generation;
        m->holds = m->arg.version;
        m->told_by = 0;
    }
    m->reached = m->passed = m->restored_at = *job_reached(s, m->rank) = 0;
    m->diverged = m->replaying = 0;
    m->log_here = 1;
    sim_main_to(m, FT_AT_RESTORED);
}

static void restores(struct sim *s, int p, struct sim_main *m)
{
    if (m->arg.told) {
        restores_told(s, p, m);
        return;
    }
    m->fresh = 0;
    job_check_restores(s, p, &m->arg);
    m->reached = m->passed = m->restored_at = job_images_safepoint(s, p, m->arg.version);
    job_images_restored(s, p);
    m->diverged = 0;
    m->answer.safepoint = m->reached;
    if (!m->arg.alone) {
        m->replaying = 0;
        m->log_here = 1;
        *job_reached(s, m->rank) = m->reached;
    }
    sim_main_to(m, FT_AT_RESTORED);
}

static void enters_body(struct sim *s, int p, struct sim_main *m)
{
    if (m->arg.told)
        job_note_told(s, p, m->arg.generation);
    m->attention &= ~(uint32_t)FT_ATTENTION_PARK; /* asked by the rollback before */
    sim_main_to(m, m->reached < job_world(s)->length || !m->restored_at ? FT_AT_BODY : FT_AT_OVER);
}

static void makes(struct sim *s, int p, struct sim_main *m, int how)
{
    m->answer.bytes = 1;
    if (FT_VERSION_ALONE(m->arg.version) && how == WELL) {
        job_images_obey(s, p, how);
        return;
    }
    if (how == REFUSING) {
        job_world(s)->refuses--;
        m->answer.reason = FT_SKIP_NOMEM;
        job_happens(s, p,
                    m->command == FT_CMD_COPY     ? JOB_REFUSED_COPY
                    : m->command == FT_CMD_PARITY ? JOB_REFUSED_PARITY
                                                  : JOB_REFUSED_REBUILD);
        return;
    }
    FT_ASSERT(m->arg.version < JOB_VERSIONS);
    if (m->command == FT_CMD_REBUILD && !job_check_sources(s, p, m->arg.version)) {
        m->answer.reason = FT_SKIP_FAILURE;
        return;
    }
    if (m->arg.head) {
        m->answer.version = m->arg.version;
        return;
    }
    if (m->command == FT_CMD_COPY) {
        *job_image(s, m->rank, m->arg.version) = m->reached;
        m->imaged = m->arg.snapshot;
        if (m->imaged && m->met == m->imaged)
            m->torn = m->arg.version;
        else if (m->torn == m->arg.version)
            m->torn = 0; /* the last image of this number was called off */
    }
    if (s->o.mutant == M_TRIMMED)
        m->oldest = m->arg.version;
    if (m->copied != m->arg.version)
        m->before = m->copied;
    m->answer.version = m->copied = m->arg.version;
    job_images_made(s, p);
}

void job_main_obeys(struct sim *s, int p, int how)
{
    struct sim_main *m = &job_proc(s, p)->main;
    enum ft_command c = (enum ft_command)m->command;
    memset(&m->answer, 0, sizeof m->answer);
    m->news = 1;
    if (!ft_place_takes((enum ft_place)m->place, c)) {
        m->answer.moved = 1;
        m->answered = m->number;
        return;
    }
    switch (c) {
    case FT_CMD_ROLE:
        m->rank = m->arg.rank;
        m->nth = (int32_t)ft_process_map(job_process(s, p), job_cfg()).incarnation[m->rank];
        m->fresh = job_world(s)->told && m->committed > 0;
        job_check_left(s, p);
        m->refused = m->arg.why != 0;
        if (m->refused)
            job_happens(s, p, JOB_TOLD);
        m->reached = m->passed = 0;
        sim_main_to(m, FT_AT_SETUP);
        break;
    case FT_CMD_COPY:
        if (m->arg.snapshot)
            job_check_image(s, p, &m->arg);
        else
            job_check_copies(s, p, &m->arg); /* fall through */
    case FT_CMD_PARITY:
    case FT_CMD_REBUILD: makes(s, p, m, how); break;
    case FT_CMD_RELEASE:
        m->passed = m->reached;
        m->cannot = 0;
        sim_main_to(m, FT_AT_BODY);
        break;
    case FT_CMD_BODY:
    case FT_CMD_RESUME: enters_body(s, p, m); break;
    case FT_CMD_FAIL: job_check_fails(s, p); job_happens(s, p, JOB_FAILED); /* fall through */
    case FT_CMD_OUT: sim_main_to(m, FT_AT_AFTER); break;
    case FT_CMD_RESTORE: restores(s, p, m); break;
    case FT_CMD_LIFT:
    case FT_CMD_FOLD: job_images_obey(s, p, how); break;
    case FT_CMD_DONE: sim_main_to(m, FT_AT_GONE); break;
    default: break; /* ROOM */
    }
    m->answered = m->number;
    note_progress(s, p);
}

/* What src/rma/gate.c decides for a put. */
int job_main_passes(const struct sim_main *m, const struct sim_main *to)
{
    if (!m->gate)
        return 1;
    return m->imaged == m->gate || to->entered == m->gate ? to->imaged == m->gate : 1;
}

/* Begins an access, or ends it. With snapshots an access has a target rank. */
void job_main_accesses(struct sim *s, int p, int rank)
{
    struct job_proc *me = job_proc(s, p);
    struct sim_main *m = &me->main;
    if (m->inside) {
        m->inside = m->of = m->gated = 0;
        return;
    }
    job_world(s)->accesses -= !m->wants;
    int q = rank ? me->process.map[rank - 1] : -1;
    m->wants = rank && !job_main_passes(m, &job_proc(s, q)->main) ? rank : 0;
    if (m->wants)
        return;
    if (m->attention & FT_ATTENTION_REBIND)
        m->bound = me->process.carrier.generation;
    m->attention &= ~(uint32_t)FT_ATTENTION_REBIND;
    m->inside = 1 + (int32_t)m->bound;
    m->of = 1 + q;
    m->gated = m->gate != 0;
    if (q >= 0)
        job_check_access(s, p, q);
}

/* A put would cross the cut and may not. Main waits until the snapshot is over. If it has no image
 * yet, it asks to call the snapshot off. */
void job_main_calls_off(struct sim *s, int p)
{
    struct sim_main *m = &job_proc(s, p)->main;
    job_world(s)->offs--;
    m->until_over = m->gate;
    if (m->imaged == m->gate)
        return;
    job_happens(s, p, JOB_CALLED_OFF);
    m->asks |= FT_ASK_SNAPSHOT_OFF;
    m->news = 1;
}
