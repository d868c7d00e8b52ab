/* SPDX-License-Identifier: BSD-3-Clause
 *
 * tell.c - see tell.h.
 */
#include "launch/tell.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/failpoint.h"
#include "base/near.h"
#include "launch/report.h"

/* A process that takes longer than this to record an event has died or was stopped meanwhile. */
#define STUCK_NS 1000000000ull

enum outcome {
    OPEN = 0,
    ALONE,
    ROLLBACK,
    REPLACED,
    SPARE_LOST,
    UNRECOVERED,
    RESTARTED,
    TOLD,
    WITH_NODE, /* its node was lost, which has a line of its own: no loss besides */
    OUTCOMES
};

struct told_loss {
    uint32_t who;
    int slot;
    uint64_t at_ns;
    enum outcome outcome;
};

struct ft_tell {
    struct ft_board *b;
    int verbose, quiet;
    void (*say)(void *arg, const char *line);
    void *arg;
    struct heard {
        struct ft_event e;
        uint64_t n; /* the number in the order of hearing: a process's events come in order */
    } * heard;
    size_t count, room;
    uint64_t n;
    struct told_loss *loss; /* in the order of their times */
    int losses, spares_left;
    uint64_t nodes;               /* lost ones of which a line has said how the job went on */
    struct ft_bitset lost, taken; /* slots that a loss names; slots that took the place of others */
    struct ft_bitset stuck;       /* slots for which ftrun waits no longer */
    /* blocked_ns: since when a process has not finished an event */
    uint64_t blocked_ns, horizon_ns;
    struct ft_tell_sum *sum;
    int over; /* the job ends: a death from now on is no loss */
};

enum ft_status ft_tell_create(struct ft_board *b, int verbose, int quiet,
                              void (*say)(void *arg, const char *line), void *arg,
                              struct ft_tell_sum *sum, struct ft_tell **out)
{
    _Static_assert(OUTCOMES <= FT_COUNTOF(sum->outcome), "a count for each");
    struct ft_tell *t = calloc(1, sizeof *t);
    if (t)
        t->loss = calloc((size_t)b->nslots, sizeof *t->loss); /* a slot is lost once */
    if (!t || !t->loss) {
        free(t);
        return FT_ERR_NOMEM;
    }
    t->b = b;
    t->verbose = verbose;
    t->quiet = quiet;
    t->say = say;
    t->arg = arg;
    t->spares_left = b->nspares;
    t->sum = sum;
    *out = t;
    return FT_OK;
}

void ft_tell_destroy(struct ft_tell *t)
{
    if (!t)
        return;
    free(t->heard);
    free(t->loss);
    free(t);
}

uint64_t ft_tell_horizon(struct ft_tell *t, uint64_t now_ns)
{
    int waits = 0;
    atomic_thread_fence(memory_order_seq_cst); /* now_ns was read before */
    for (int i = 0; i < t->b->nslots; i++) {
        if (!atomic_load(&t->b->slot[i].recording) || ft_bit_get(&t->stuck, i))
            continue;
        waits = 1;
        if (t->blocked_ns && now_ns - t->blocked_ns > STUCK_NS)
            ft_bit_set(&t->stuck, i);
    }
    if (!waits)
        t->horizon_ns = now_ns;
    t->blocked_ns = !waits ? 0 : t->blocked_ns ? t->blocked_ns : now_ns;
    return t->horizon_ns;
}

static int of_interest(const struct ft_tell *t, const struct ft_event *e)
{
    switch ((enum ft_event_kind)e->kind) {
    case FT_EV_FAILED:
    case FT_EV_REPLACED:
    case FT_EV_REBUILT:
    case FT_EV_LIVE:
    case FT_EV_RESUMED:
    case FT_EV_ENTERED:
    case FT_EV_DUE_LOST:
    case FT_EV_ENDED:
    case FT_EV_DONE: return 1;
    default:
        return t->verbose >= 2 ||
               (t->verbose && e->kind < FT_EV_COUNT && ft_event_table[e->kind].tell);
    }
}

void ft_tell_hear(struct ft_tell *t, const struct ft_event *e)
{
    if (!of_interest(t, e))
        return;
    if (t->count == t->room) {
        t->room = t->room ? 2 * t->room : 256;
        t->heard = ft_need(realloc(t->heard, t->room * sizeof *t->heard),
                           t->room * sizeof *t->heard, "events");
    }
    t->heard[t->count++] = (struct heard){*e, t->n++};
}

/* ---- losses ---- */

static void put_cause(const struct ft_board_slot *s, char *out, size_t size)
{
    int how = ft_report_death(s), sig = how & ~FT_CORE_DUMPED;
    if (sig == 0)
        *out = '\0';
    else if (sig == SIGKILL)
        snprintf(out, size, " (SIGKILL)");
    else /* it shows an error of the program */
        snprintf(out, size, " (pid %d, %s%s)", (int)atomic_load(&s->pid), ft_signal_name(sig),
                 how & FT_CORE_DUMPED ? ", core dumped" : "");
}

static void put_time(uint64_t ns, char *out, size_t size)
{
    double ms = (double)ns / 1e6;
    if (ms < 10)
        snprintf(out, size, "%.1f ms", ms);
    else if (ms < 10000)
        snprintf(out, size, "%.0f ms", ms);
    else
        snprintf(out, size, "%.0f s", ms / 1000);
}

static void put_spares(const struct ft_tell *t, char *out, size_t size)
{
    snprintf(out, size, "%d spare%s left", t->spares_left, t->spares_left == 1 ? "" : "s");
}

/* Others may have seen it die before it was known that all of its node was lost. */
static int with_node(const struct ft_tell *t, const struct told_loss *l, uint64_t at_ns)
{
    const struct ft_board_nodes *n = &t->b->nodes;
    uint64_t out = atomic_load(&n->out);
    int k = out ? ft_board_node_of(t->b, l->slot) : 0;
    return out >> k & 1 && n->out_ns[k] <= at_ns;
}

/* checkpoint: the one to which all ranks went back. */
static void close_loss(struct ft_tell *t, struct told_loss *l, enum outcome outcome, uint64_t at_ns,
                       long long checkpoint)
{
    char who[40], cause[80], time[40], spares[40], what[100] = "", line[400];
    l->outcome = with_node(t, l, at_ns) ? WITH_NODE : outcome;
    t->sum->outcome[l->outcome]++;
    t->sum->losses += l->outcome != WITH_NODE;
    if (t->quiet || l->outcome == WITH_NODE)
        return;
    ft_who_format(l->who, who, sizeof who);
    put_cause(&t->b->slot[l->slot], cause, sizeof cause);
    put_time(at_ns > l->at_ns ? at_ns - l->at_ns : 0, time, sizeof time);
    put_spares(t, spares, sizeof spares);
    switch (outcome) {
    case ALONE: snprintf(what, sizeof what, ", recovered alone in %s", time); break;
    case ROLLBACK:
        snprintf(what, sizeof what, ", all ranks went back to checkpoint %lld in %s", checkpoint,
                 time);
        break;
    case TOLD: snprintf(what, sizeof what, ", all entered body again in %s", time); break;
    case REPLACED: snprintf(what, sizeof what, ", replaced in %s", time); break;
    case UNRECOVERED: snprintf(what, sizeof what, ", not recovered"); break;
    default: break;
    }
    snprintf(line, sizeof line, "%s lost%s%s; %s", who, cause, what, spares);
    t->say(t->arg, line);
}

static void close_all(struct ft_tell *t, uint32_t role, uint32_t who, enum outcome outcome,
                      const struct ft_event *e)
{
    for (int i = 0; i < t->losses; i++) {
        struct told_loss *l = &t->loss[i];
        if (l->outcome == OPEN && l->who >> 24 == role && (who == FT_WHO_NONE || l->who == who))
            close_loss(t, l, outcome, e->t_ns, (long long)e->a);
    }
}

/* The moment of an injected death is known exactly; it was earlier than anybody saw it. */
static void open_loss(struct ft_tell *t, const struct ft_event *e)
{
    if (t->over || e->a < 0 || e->a >= t->b->nslots || ft_bit_get(&t->lost, (int)e->a))
        return;
    const struct ft_board_slot *s = &t->b->slot[e->a];
    uint64_t at = s->last_failpoint ? ft_min_u64(s->failpoint_ns, e->t_ns) : e->t_ns;
    ft_bit_set(&t->lost, (int)e->a);
    struct told_loss *l = &t->loss[t->losses++];
    *l = (struct told_loss){.who = e->who, .slot = (int)e->a, .at_ns = at};
    if (e->who >> 24 == FT_ROLE_SPARE) {
        t->spares_left -= t->spares_left > 0;
        close_loss(t, l, SPARE_LOST, e->t_ns, 0);
    }
}

/* The spares of a lost node, whose processes are not among the losses, are gone, too. */
static void take_node(struct ft_tell *t, int k)
{
    t->nodes |= 1ull << k;
    for (int i = 0; i < t->b->nslots; i++)
        if (ft_board_node_of(t->b, i) == k && !ft_bit_get(&t->taken, i) &&
            !ft_bit_get(&t->lost, i) && t->b->slot[i].at_first >> 24 == FT_ROLE_SPARE)
            t->spares_left -= t->spares_left > 0;
}

/* That a node is lost is said at once (nodes.c), and here how the job went on. */
static void close_nodes(struct ft_tell *t, const struct ft_event *e)
{
    const struct ft_board_nodes *n = &t->b->nodes;
    uint64_t out = atomic_load(&n->out) & ~t->nodes;
    char time[40], spares[40], what[100], line[500];
    for (int k = 0; k < n->n; k++) {
        if (!(out >> k & 1) || n->out_ns[k] > e->t_ns)
            continue;
        take_node(t, k);
        put_time(e->t_ns - n->out_ns[k], time, sizeof time);
        put_spares(t, spares, sizeof spares);
        if (e->kind == FT_EV_RESUMED)
            snprintf(what, sizeof what, "all ranks went back to checkpoint %lld", (long long)e->a);
        else
            snprintf(what, sizeof what, "all entered body again");
        snprintf(line, sizeof line, "after the loss of %s %s in %s; %s", n->name[k], what, time,
                 spares);
        if (!t->quiet)
            t->say(t->arg, line);
    }
}

static int nodes_lost(struct ft_tell *t)
{
    uint64_t out = atomic_load(&t->b->nodes.out);
    for (int k = 0; k < t->b->nodes.n; k++)
        if ((out & ~t->nodes) >> k & 1)
            take_node(t, k);
    return __builtin_popcountll(out);
}

static void follow(struct ft_tell *t, const struct ft_event *e)
{
    switch ((enum ft_event_kind)e->kind) {
    case FT_EV_FAILED: open_loss(t, e); break;
    case FT_EV_REPLACED:
        if (e->a >= 0 && e->a < t->b->nslots && !ft_bit_get(&t->taken, (int)e->a)) {
            ft_bit_set(&t->taken, (int)e->a);
            t->spares_left -= t->spares_left > 0;
        }
        break;
    case FT_EV_REBUILT:
        if (e->who >> 24 == FT_ROLE_CHECKSUM)
            close_all(t, FT_ROLE_CHECKSUM, e->who, REPLACED, e);
        break;
    case FT_EV_LIVE: close_all(t, FT_ROLE_RANK, e->who, ALONE, e); break;
    case FT_EV_RESUMED:
        close_all(t, FT_ROLE_RANK, FT_WHO_NONE, ROLLBACK, e);
        close_all(t, FT_ROLE_CHECKSUM, FT_WHO_NONE, REPLACED, e);
        close_nodes(t, e);
        break;
    case FT_EV_ENTERED:
        close_all(t, FT_ROLE_RANK, FT_WHO_NONE, TOLD, e);
        close_all(t, FT_ROLE_CHECKSUM, FT_WHO_NONE, REPLACED, e);
        close_nodes(t, e);
        break;
    case FT_EV_DUE_LOST:
    case FT_EV_ENDED:
    case FT_EV_DONE: t->over = 1; break;
    default: break;
    }
}

/* ---- in order ---- */

static int by_time(const void *a, const void *b)
{
    const struct heard *x = a, *y = b;
    if (x->e.t_ns != y->e.t_ns)
        return x->e.t_ns < y->e.t_ns ? -1 : 1;
    return (x->n > y->n) - (x->n < y->n);
}

void ft_tell_step(struct ft_tell *t, uint64_t horizon_ns)
{
    size_t n = 0;
    if (t->count)
        qsort(t->heard, t->count, sizeof *t->heard, by_time);
    for (; n < t->count && t->heard[n].e.t_ns <= horizon_ns; n++) {
        const struct ft_event *e = &t->heard[n].e;
        char line[512];
        ft_event_format(t->b, e, line, sizeof line);
        if (t->verbose >= 2 || (t->verbose && ft_event_table[e->kind].tell))
            fprintf(stderr, "%s\n", line);
        follow(t, e);
    }
    t->count -= n;
    if (n)
        memmove(t->heard, t->heard + n, t->count * sizeof *t->heard);
}

static void add_part(char *out, size_t size, int n, const char *one, const char *many)
{
    size_t len = strlen(out);
    if (n)
        snprintf(out + len, size - len, "%s%d %s", len ? ", " : "", n, n == 1 ? one : many);
}

static void say_sum(struct ft_tell *t)
{
    const int *n = t->sum->outcome;
    char parts[400] = "", runs[40] = "", nodes[40] = "", spares[40], line[600];
    int lost = nodes_lost(t), losses = t->sum->losses;
    add_part(parts, sizeof parts, n[ALONE], "rank recovered alone", "ranks recovered alone");
    add_part(parts, sizeof parts, n[ROLLBACK], "rank by a rollback of all",
             "ranks by rollbacks of all");
    add_part(parts, sizeof parts, n[TOLD], "rank that the program was told of",
             "ranks that the program was told of");
    add_part(parts, sizeof parts, n[RESTARTED], "by a restart", "by restarts");
    add_part(parts, sizeof parts, n[REPLACED], "checksum process replaced",
             "checksum processes replaced");
    add_part(parts, sizeof parts, n[SPARE_LOST], "spare", "spares");
    add_part(parts, sizeof parts, n[UNRECOVERED], "not recovered", "not recovered");
    put_spares(t, spares, sizeof spares);
    if (t->sum->runs > 1)
        snprintf(runs, sizeof runs, " in %d runs", t->sum->runs);
    if (lost)
        snprintf(nodes, sizeof nodes, "lost %d node%s%s", lost, lost == 1 ? "" : "s",
                 losses ? ", and " : "");
    if (losses)
        snprintf(line, sizeof line, "the job %shad %d loss%s%s%s: %s; %s", nodes, losses,
                 losses == 1 ? "" : "es", lost ? " besides" : "", runs, parts, spares);
    else
        snprintf(line, sizeof line, "the job %s; %s", nodes, spares);
    t->say(t->arg, line);
}

void ft_tell_end(struct ft_tell *t, uint64_t over_ns, int job_lost)
{
    int unrecovered = t->sum->outcome[UNRECOVERED];
    ft_tell_step(t, over_ns);
    t->over = 1;
    ft_tell_step(t, UINT64_MAX);
    for (int i = 0; i < t->losses; i++) {
        struct told_loss *l = &t->loss[i];
        /* A checksum process without parity has nothing to rebuild. */
        int replaced = l->who >> 24 == FT_ROLE_CHECKSUM && !job_lost;
        enum outcome outcome = with_node(t, l, UINT64_MAX) ? WITH_NODE : replaced ? REPLACED : UNRECOVERED;
        if (l->outcome == OPEN)
            close_loss(t, l, outcome, l->at_ns, 0);
    }
    t->sum->runs++;
    if (job_lost) { /* if another run follows, that is their recovery */
        t->sum->outcome[RESTARTED] += t->sum->outcome[UNRECOVERED] - unrecovered;
        t->sum->outcome[UNRECOVERED] = unrecovered;
    } else if ((t->sum->losses > 0 || atomic_load(&t->b->nodes.out)) && !t->quiet) {
        say_sum(t);
    }
}

int ft_tell_names(const struct ft_tell *t, int slot)
{
    return !t->quiet && ft_bit_get(&t->lost, slot);
}
