/* SPDX-License-Identifier: BSD-3-Clause
 *
 * watch.c - judges a job by its board.
 */
#include "launch/watch.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/failpoint.h"
#include "base/near.h"

#define SECOND 1000000000ull
/* Grace for the processes of a given-up job to end by themselves. */
#define GRACE_ENDING (2 * SECOND)
/* Grace for a process to write down why the job ends: it writes one line, and may be delayed. */
#define GRACE_WRITING (10 * SECOND)
/* Grace for mpirun to notice that all is over, and to pass on the last output. */
#define GRACE_LINGERING (5 * SECOND)
/* Grace for mpirun to start its first process: it may wait for a lookup of the machine's own
 * name. */
#define GRACE_STARTING (30 * SECOND)
/* Grace for a node to be seen to have gone, of which a process has. */
#define GRACE_NODE (3 * SECOND)
/* Looks are 0.2 s apart. Of a longer pause no more than this is counted: ftrun itself was delayed,
 * and so was whatever it waits for. */
#define LONGEST_LOOK (SECOND / 2)

/* The status of a process that died without recording its end: only mpirun knows the real one. */
#define STATUS_KILLED (128 + SIGKILL)

static int over(struct ft_verdict *v, const char *result, int status, const char *message)
{
    v->result = result;
    v->status = status;
    v->reason = FT_REASON_NONE;
    snprintf(v->message, sizeof v->message, "%s", message);
    return 1;
}

/* Whether the process of a slot has come and gone. To be read before its phase: a process records
 * how it ended before it ends. */
static int gone(const struct ft_watch *w, int slot)
{
    struct ft_board_slot *s = &w->b->slot[slot];
    if (w->gone)
        return w->gone[slot];
    int pid = atomic_load(&s->pid);
    uint64_t known = atomic_load(&s->start_time);
    struct ft_proc p;
    int seen = pid ? ft_proc_look(pid, &p) : 0;
    if (pid == 0 ||
        pid != atomic_load(
                   &s->pid)) /* not yet there, or just taken over from the shell that started it */
        return 0;
    /* Its start time may not be written yet. */
    return seen == 0 || (seen > 0 && known != 0 && p.start_time != known);
}

/* a is a later carrier than c. [Those on a node adopt that rank 1 has a new carrier there; the node
 * is lost before others hear of it, and they give the rank another one, of the same number.] */
static int later(struct ft_board *b, int a, int c)
{
    int out_a = ft_board_slot_end(b, a) == FT_SLOT_OUT;
    int out_c = ft_board_slot_end(b, c) == FT_SLOT_OUT;
    uint32_t na = atomic_load(&b->slot[a].incarnation), nc = atomic_load(&b->slot[c].incarnation);
    return out_a != out_c ? out_c : na > nc;
}

int ft_watch_carrier(struct ft_board *b, int rank)
{
    int best = -1;
    for (int i = 0; i < b->nslots; i++) {
        struct ft_board_slot *s = &b->slot[i];
        if (atomic_load(&s->pid) == 0 || atomic_load(&s->who) != FT_WHO(FT_ROLE_RANK, rank))
            continue;
        if (best < 0 || later(b, i, best))
            best = i;
    }
    return best;
}

static void look(struct ft_watch *w, uint64_t now_ns)
{
    w->passed_ns = w->looked_ns ? ft_min_u64(now_ns - w->looked_ns, LONGEST_LOOK) : 0;
    w->looked_ns = now_ns;
}

/* 1 once the condition has held for grace. */
static int held_for(struct ft_watch *w, int condition, uint64_t grace)
{
    w->lingered_ns = condition && w->lingers ? w->lingered_ns + w->passed_ns : 0;
    w->lingers = condition;
    return condition && w->lingered_ns >= grace;
}

static int all_carriers_gone(const struct ft_watch *w)
{
    struct ft_board *b = w->b;
    for (int r = 0; r < b->nranks; r++) {
        int i = ft_watch_carrier(b, r);
        if (i >= 0 && !gone(w, i))
            return 0;
    }
    return 1;
}

static int registered(struct ft_board *b)
{
    int n = 0;
    for (int i = 0; i < b->nslots; i++)
        n += atomic_load(&b->slot[i].pid) != 0;
    return n;
}

static int all_registered_gone(const struct ft_watch *w)
{
    struct ft_board *b = w->b;
    for (int i = 0; i < b->nslots; i++)
        if (atomic_load(&b->slot[i].pid) != 0 && !gone(w, i))
            return 0;
    return 1;
}

/* All ranks have left MPI_Finalize: their exit statuses are the result. */
static int judge_done(struct ft_board *b, struct ft_verdict *v)
{
    char text[200];
    for (int r = 0; r < b->nranks; r++) {
        int i = ft_watch_carrier(b, r);
        int said = i >= 0 && atomic_load(&b->slot[i].phase) == FT_PHASE_EXITED;
        int status = said ? atomic_load(&b->slot[i].exit_status) & 0xff : STATUS_KILLED;
        if (status == 0)
            continue;
        if (said)
            snprintf(text, sizeof text, "rank %d ended with exit status %d", r, status);
        else
            snprintf(text, sizeof text, "rank %d died after MPI_Finalize", r);
        return over(v, "failed", status, text);
    }
    return over(v, "ok", 0, "");
}

/* All processes are gone, or mpirun is, and none has recorded DONE, FAILED or LOST. */
static int judge_broken(struct ft_board *b, const struct ft_mpirun *m, struct ft_verdict *v)
{
    char text[300];
    int ended = 0;
    if (m->gone && WIFSIGNALED(m->status)) {
        ft_verdict_lost(v, MPIRUN_KILLED, WTERMSIG(m->status), strsignal(WTERMSIG(m->status)));
        return 1;
    }
    for (int r = 0; r < b->nranks; r++) {
        int i = ft_watch_carrier(b, r);
        int said = i >= 0 && atomic_load(&b->slot[i].phase) == FT_PHASE_EXITED;
        int status = said ? atomic_load(&b->slot[i].exit_status) & 0xff : 0;
        ended += said;
        if (status != 0) {
            snprintf(text, sizeof text, "rank %d ended with exit status %d before MPI_Finalize", r,
                     status);
            return over(v, "failed", status, text);
        }
    }
    if (ended == b->nranks)
        return over(v, "failed", 1, "the program ended without MPI_Finalize");
    ft_verdict_lost(v, NOBODY_LEFT, b->nranks - ended, b->nranks);
    return 1;
}

/* A process has gone before MPI_Init. Without recovery the host would end the job; as it lets
 * survivors live, the others wait in MPI_Init for ever. An exit with status 0 is an error only if
 * others wait like that: a program that uses no MPI at all may end as it likes. */
static int judge_early_death(const struct ft_watch *w, struct ft_verdict *v)
{
    struct ft_board *b = w->b;
    int waiting = 0, quitter = -1;
    char text[300];
    for (int i = 0; i < b->nslots; i++) {
        int is_gone = gone(w, i), phase = atomic_load(&b->slot[i].phase);
        int status = phase == FT_PHASE_EXITED ? atomic_load(&b->slot[i].exit_status) & 0xff : 0;
        waiting |= phase >= FT_PHASE_ENTERED && phase <= FT_PHASE_RUNNING;
        if (!is_gone || phase == FT_PHASE_FINALIZED)
            continue;
        int pid = atomic_load(&b->slot[i].pid);
        if (phase == FT_PHASE_EXITED && status != 0) {
            snprintf(text, sizeof text,
                     "process %d (pid %d) ended with exit status %d before the end of MPI_Init", i,
                     pid, status);
            return over(v, "failed", status, text);
        }
        if (phase == FT_PHASE_EXITED) {
            quitter = i;
        } else if (phase == FT_PHASE_LOADED || phase == FT_PHASE_ENTERED) {
            snprintf(text, sizeof text, "process %d (pid %d) died before the end of MPI_Init", i,
                     pid);
            return over(v, "failed", 1, text);
        }
    }
    if (quitter < 0 || !waiting)
        return 0;
    snprintf(text, sizeof text,
             "process %d ended without calling MPI_Init, and the others wait for it in MPI_Init",
             quitter);
    return over(v, "failed", 1, text);
}

/* All of its node may have gone, which is another end. [The node's processes were killed, and its
 * keeper will be, or nobody has looked at it yet.] */
static int may_be_its_node(struct ft_watch *w)
{
    struct ft_board *b = w->b;
    int killed = 0;
    for (int i = 0; i < b->nslots && b->nodes.n; i++) {
        int is_gone = gone(w, i), phase = atomic_load(&b->slot[i].phase);
        killed |= is_gone && (phase == FT_PHASE_LOADED || phase == FT_PHASE_ENTERED);
    }
    w->killed_ns = killed ? w->killed_ns + w->passed_ns : 0;
    return killed && w->killed_ns < GRACE_NODE;
}

/* The others wait in MPI_Init for a process that cannot see the board. */
static int judge_elsewhere(const struct ft_watch *w, struct ft_verdict *v)
{
    ft_verdict_lost(v, ELSEWHERE, w->elsewhere, w->node, w->b->nslots);
    return 1;
}

/* mpirun has gone, or has no process left, and not all have passed MPI_Init. */
static int judge_never_started(const struct ft_watch *w, const struct ft_mpirun *m,
                               struct ft_verdict *v)
{
    char text[600];
    int status = m->gone && WIFEXITED(m->status) ? WEXITSTATUS(m->status) : 1;
    if (m->gone && WIFSIGNALED(m->status))
        return judge_broken(w->b, m, v);
    if (registered(w->b) == 0) {
        if (m->gone && status != 0)
            snprintf(text, sizeof text, "mpirun ended with status %d before it started the program",
                     status);
        else
            snprintf(
                text, sizeof text,
                "no process loaded libftrma.so: can %s be executed, and is it linked dynamically?",
                w->program);
        return over(v, "failed", status ? status : 1,
                    text); /* mpirun's 0 means nothing once it lets survivors live */
    }
    if (judge_early_death(w, v))
        return 1;
    return over(v, "ok", 0, "the program ended without ever calling MPI_Init");
}

/* Some processes wait for one that is missing and will never come: no other process lives below
 * mpirun. [It was killed before it had loaded the library: mpirun, told to let survivors live, says
 * nothing.] */
static int one_never_came(const struct ft_watch *w, const struct ft_mpirun *m)
{
    struct ft_board *b = w->b;
    int alive = 0;
    for (int i = 0; i < b->nslots; i++)
        alive += atomic_load(&b->slot[i].pid) != 0 && !gone(w, i);
    return registered(b) < b->nslots && alive > 0 && m->descendants >= 0 && m->descendants <= alive;
}

/* mpirun does nothing any more. [On a machine with much else to do it takes seconds until it starts
 * the first process.] */
static int mpirun_rests(struct ft_watch *w, const struct ft_mpirun *m)
{
    int rests = !m->itself.at_work && m->itself.ticks == w->ticks;
    w->ticks = m->itself.ticks;
    return rests;
}

/* The library's own verdict. */
static int given_up(const struct ft_board *b, struct ft_verdict *v)
{
    over(v, "lost", FT_EXIT_LOST, b->message);
    v->reason = b->reason < FT_REASON_COUNT ? (enum ft_reason)b->reason : FT_REASON_NONE;
    return 1;
}

int ft_watch_wants_descendants(const struct ft_watch *w)
{
    return atomic_load(&w->b->state) == FT_JOB_STARTING && registered(w->b) < w->b->nslots;
}

int ft_watch_step(struct ft_watch *w, uint64_t now_ns, const struct ft_mpirun *m,
                  struct ft_verdict *v)
{
    struct ft_board *b = w->b;
    int state = atomic_load(&b->state);
    look(w, now_ns);
    w->started |= m->descendants > 0;
    switch ((enum ft_job_state)state) {
    case FT_JOB_STARTING:
        if (w->elsewhere && *w->elsewhere)
            return judge_elsewhere(w, v);
        if (may_be_its_node(w))
            return 0;
        if (m->gone)
            return judge_never_started(w, m, v);
        if (registered(b) == 0)
            return held_for(w, mpirun_rests(w, m) && m->descendants == 0,
                            w->started ? GRACE_LINGERING : GRACE_STARTING) &&
                   judge_never_started(w, m, v);
        /* [Between our looks at the state and at the processes a short job began, was lost, and its
         * processes ended with 75.] */
        if (!judge_early_death(w, v)) {
            int missing = mpirun_rests(w, m) && one_never_came(w, m);
            if (!held_for(w, missing || all_registered_gone(w), GRACE_LINGERING))
                return 0;
            if (missing)
                over(v, "failed", 1,
                     "a process died before it had loaded libftrma.so, and the others wait for it "
                     "in MPI_Init");
            else if (!judge_never_started(w, m, v))
                return 0;
        }
        return atomic_load(&b->state) == FT_JOB_STARTING;
    case FT_JOB_RUNNING:
        return (m->gone || held_for(w, all_registered_gone(w), GRACE_LINGERING)) &&
               judge_broken(b, m, v);
    case FT_JOB_DONE:
        return (m->gone || held_for(w, all_carriers_gone(w), GRACE_LINGERING)) && judge_done(b, v);
    case FT_JOB_ENDING:
        if (!m->gone && !held_for(w, 1, GRACE_WRITING))
            return 0;
        ft_verdict_lost(v, DIED_ENDING);
        return 1;
    case FT_JOB_FAILED:
    case FT_JOB_LOST:
        b->message[sizeof b->message - 1] = '\0';
        if (!m->gone && !held_for(w, 1, GRACE_ENDING))
            return 0;
        if (state == FT_JOB_LOST)
            return given_up(b, v);
        return over(v, "failed", atomic_load(&b->status) & 0xff, b->message);
    }
    ft_verdict_lost(v, BOARD_OVERWRITTEN);
    return 1;
}
