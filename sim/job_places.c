/* SPDX-License-Identifier: BSD-3-Clause
 *
 * job_places.c - where in a job things have happened: under which order, and in which state of the
 * carrier.
 */
#include "job_places.h"

#include "model_job.h"

static const char *const what[] = {"copy refused",
                                   "parity refused",
                                   "rebuild refused",
                                   "no image here",
                                   "leaves a refused run",
                                   "is told of a refused run",
                                   "replay diverges",
                                   "finds a divergence",
                                   "stuck",
                                   "calls a snapshot off",
                                   "dies",
                                   "image alone",
                                   "tagged",
                                   "flipped",
                                   "takes none",
                                   NULL};

/* Orders, with flags where these matter, and then states. */
enum {
    IDLE,
    PROPOSE,
    TARGET,
    TARGET_S,
    CUT_ENTRY,
    CUT,
    CUT_S,
    CUT_EXIT,
    LEAVE_ENTRY,
    LEAVE,
    LEAVE_S,
    LEAVE_EXIT,
    COMMIT_ENTRY,
    COMMIT,
    COMMIT_S,
    COMMIT_EXIT,
    CANCEL_ENTRY,
    CANCEL,
    CANCEL_S,
    CANCEL_EXIT,
    RECOVER,
    RESTORE,
    RESUME,
    REJOIN,
    DONE,
    BALLOT,
    STATES
};
static const char *const where[] = {"idle",
                                    "PROPOSE",
                                    "TARGET",
                                    "snapshot's TARGET",
                                    "entry's CUT",
                                    "CUT",
                                    "snapshot's CUT",
                                    "exit's CUT",
                                    "entry's LEAVE",
                                    "LEAVE",
                                    "snapshot's LEAVE",
                                    "exit's LEAVE",
                                    "entry's COMMIT",
                                    "COMMIT",
                                    "snapshot's COMMIT",
                                    "exit's COMMIT",
                                    "entry's CANCEL",
                                    "CANCEL",
                                    "snapshot's CANCEL",
                                    "exit's CANCEL",
                                    "RECOVER",
                                    "RESTORE",
                                    "RESUME",
                                    "REJOIN",
                                    "DONE",
                                    "ballot",
                                    "in SPARE",
                                    "in SERVING",
                                    "in ASSIGNED",
                                    "in SETUP",
                                    "in ENTRY",
                                    "in RETURN",
                                    "in BODY",
                                    "in HELD",
                                    "in OVER",
                                    "in PARKING",
                                    "in PARKED",
                                    "in RESTORED",
                                    "in AFTER",
                                    "in FINALIZE",
                                    "in GONE",
                                    "lead lifts",
                                    "lead asked",
                                    "lead folds",
                                    "lead has helpers tag",
                                    "lead has tagged",
                                    "lead resumes",
                                    "helper lifts",
                                    "helper has lifted",
                                    "helper folds",
                                    "helper has staged",
                                    "helper has tagged",
                                    "rank is wanted",
                                    "rank has taken",
                                    "rank awaits the tag",
                                    "replaced one awaits the tag",
                                    "codeword awaits the tag",
                                    "lead's helpers have not heard",
                                    NULL};
#define ALONE \
    (STATES + \
     (int)FT_CARRIER_STATES) /* from here on: what happens with images that are taken alone */
enum { WANTED = ALONE + FT_CH_HOLDS, TAKEN, AWAITS, NEW_AWAITS, CH_AWAITS, UNHEARD, ALL_PLACES };
_Static_assert(FT_COUNTOF(where) == ALL_PLACES + 1, "a name for each");

static int by_flags(int entry, uint32_t flags)
{
    return flags & FT_ORDER_ENTRY      ? entry
           : flags & FT_ORDER_EXIT     ? entry + 3
           : flags & FT_ORDER_SNAPSHOT ? entry + 2
                                       : entry + 1;
}

static int order_of(const struct ft_process *p)
{
    const struct ft_order *o = &p->order;
    if (ft_agree_pending(&p->agree) || !o->active)
        return BALLOT;
    switch (o->order) {
    case FT_ORDER_PROPOSE: return PROPOSE;
    case FT_ORDER_TARGET: return o->flags & FT_ORDER_SNAPSHOT ? TARGET_S : TARGET;
    case FT_ORDER_CUT: return by_flags(CUT_ENTRY, o->flags);
    case FT_ORDER_LEAVE: return by_flags(LEAVE_ENTRY, o->flags);
    case FT_ORDER_COMMIT: return by_flags(COMMIT_ENTRY, o->flags);
    case FT_ORDER_CANCEL: return by_flags(CANCEL_ENTRY, o->flags);
    case FT_ORDER_RECOVER: return RECOVER;
    case FT_ORDER_RESTORE: return RESTORE;
    case FT_ORDER_RESUME: return RESUME;
    case FT_ORDER_REJOIN: return REJOIN;
    case FT_ORDER_DONE: return DONE;
    default: return IDLE;
    }
}

/* -1: none. */
static int alone_of(const struct ft_process *p)
{
    const struct ft_carry_demand *d = &p->carrier.demand;
    int checksum = p->carrier.pos >= job_cfg()->nranks;
    if (d->awaits)
        return checksum ? CH_AWAITS : p->carrier.state == FT_CS_ASSIGNED ? NEW_AWAITS : AWAITS;
    if (d->unsettled)
        return UNHEARD;
    if (checksum)
        return d->ch.state == FT_CH_IDLE ? -1 : ALONE + (int)d->ch.state - 1;
    return d->owner.state == FT_OWNER_NONE     ? -1
           : d->owner.state == FT_OWNER_WANTED ? WANTED
                                               : TAKEN;
}

void job_happens(struct sim *s, int p, enum job_what w)
{
    const struct ft_process *me = job_process(s, p);
    if (s->o.timed)
        return;
    sim_happens(s, (int)w, order_of(me));
    sim_happens(s, (int)w, STATES + (int)me->carrier.state);
    if (alone_of(me) >= 0)
        sim_happens(s, (int)w, alone_of(me));
}

static int places(const struct sim *s) { return s->o.demand ? ALL_PLACES : ALONE; }

int job_when(const struct sim *s, int p, enum job_what w)
{
    const struct job_world *world = job_world(s);
    const struct ft_process *me = job_process(s, p);
    int at = world->at[w];
    if (!s->o.everywhere)
        return SIM_SELDOM;
    if (w == JOB_DIED) /* each of them at another place */
        at = (at + 7 * ft_bitset_count(&world->crashed)) % places(s);
    return at == order_of(me) || at == STATES + (int)me->carrier.state || at == alone_of(me)
               ? SIM_MAY
               : -1;
}

void job_may_come(const struct sim *s, int p, int act, int q, enum job_what what,
                  struct sim_choices *out)
{
    int when = job_when(s, p, what);
    if (when >= 0)
        sim_can(out, p, act, q, when);
}

/* The places at which a replay can be. */
static const int replay[] = {
    IDLE, PROPOSE, RECOVER, REJOIN, BALLOT, STATES + FT_CS_BODY, STATES + FT_CS_PARKING};

/* Draws jobs in which these things can happen, and which survive. */
void job_draw_places(struct sim *s)
{
    struct job_world *w = job_world(s);
    struct ft_prng *r = &s->rng;
    int n = s->o.n;
    for (int i = 0; i < (s->o.demand ? JOB_WHATS : JOB_TAKEN); i++)
        w->at[i] = (uint8_t)ft_prng_below(r, (uint64_t)places(s));
    w->nchecksums = n > 4 ? 1 + (int)ft_prng_below(r, 2) : 1;
    w->nranks = w->nchecksums + (int)ft_prng_below(r, (uint64_t)(n - 2 * w->nchecksums));
    w->parity = w->nchecksums == 2 ? 1 + (int)ft_prng_below(r, 2) : 1;
    int spares = n - w->nranks - w->nchecksums;
    s->crashes = (int)ft_prng_below(r, (uint64_t)(s->crashes < spares ? s->crashes : spares) + 1);
    int small = s->o.ops > 1; /* all orders will be tried */
    w->dues = small ? 1 : 3 + (int)ft_prng_below(r, 5);
    w->every = ft_prng_below(r, 3) ? 0 : 1 + (int)ft_prng_below(r, 5);
    w->refuses = (int)ft_prng_below(r, small ? 2 : 4);
    w->diverges = (int)ft_prng_below(r, small ? 2 : 4);
    w->stuck = (int)ft_prng_below(r, small ? 2 : 4);
    w->offs = w->alg ? (int)ft_prng_below(r, small ? 2 : 3) : 0;
    w->length = ft_prng_below(r, (uint64_t)(s->o.ops > 1 ? s->o.ops : 12));
    w->local = ft_prng_below(r, 4) != 0;
    w->no_run = 0;
    w->ranks_die = ft_prng_below(r, 4) != 0;
    if (ft_prng_below(r, 2)) /* a rank dies in body, and its replacement repeats what it did */
        return;
    w->ranks_die = w->local = 1;
    w->at[JOB_DIED] = STATES + FT_CS_BODY;
    w->at[JOB_DIVERGED] = (uint8_t)replay[ft_prng_below(r, FT_COUNTOF(replay))];
    w->die_at = ft_prng_below(r, small ? 2 : 8);
    w->refuses = (int)ft_prng_below(r, 2);
    w->diverges += 1;
    w->dues = (int)ft_prng_below(r, small ? 2 : 4);
    w->length += small ? 1 : 4;
    s->crashes += s->crashes == 0 && s->o.crashes > 0 && spares > 0;
}

void job_draw_alone(struct sim *s)
{
    struct job_world *w = job_world(s);
    struct ft_prng *r = &s->rng;
    if (ft_prng_below(r, 2))
        return;
    w->at[JOB_DIED] = (uint8_t)(ALONE + (int)ft_prng_below(r, ALL_PLACES - ALONE));
    w->ranks_die = 0;
    w->local = 1;
}

#define AT(x) (1ull << (x))
#define IN(x) (1ull << (STATES + FT_CS_##x))
#define EVERYWHERE (AT(ALONE) - 1)
#define OF_SNAPSHOTS (AT(TARGET_S) | AT(CUT_S) | AT(LEAVE_S) | AT(COMMIT_S) | AT(CANCEL_S))
#define OF_BARRIERS (AT(TARGET) | AT(CUT) | AT(LEAVE) | AT(COMMIT) | AT(CANCEL))

/* Places that must be reached, with barriers or with snapshots. */
static const uint64_t must[JOB_WHATS] = {
    [JOB_REFUSED_COPY] = AT(CUT_ENTRY) | AT(CUT) | AT(TARGET_S) | AT(CANCEL_S) | AT(CUT_EXIT) |
                         AT(BALLOT) | IN(ENTRY) | IN(HELD) | IN(OVER),
    [JOB_REFUSED_PARITY] = AT(LEAVE_ENTRY) | AT(LEAVE) | AT(LEAVE_S) | AT(LEAVE_EXIT) | IN(SERVING),
    [JOB_REFUSED_REBUILD] = AT(IDLE) | AT(RECOVER) | AT(REJOIN) | IN(ASSIGNED),
    [JOB_CANNOT] = AT(IDLE) | AT(PROPOSE) | AT(TARGET) | AT(TARGET_S) | AT(CUT_S) | AT(LEAVE) |
                   AT(LEAVE_S) | AT(COMMIT_ENTRY) | AT(CANCEL) | AT(CANCEL_S) | AT(RESUME) |
                   AT(REJOIN) | AT(BALLOT) | IN(BODY),
    [JOB_FAILED] = AT(IDLE) | AT(CANCEL_ENTRY) | AT(REJOIN) | AT(BALLOT) | IN(AFTER),
    [JOB_TOLD] = AT(IDLE) | IN(SETUP),
    [JOB_DIVERGED] =
        AT(IDLE) | AT(PROPOSE) | AT(RECOVER) | AT(REJOIN) | AT(BALLOT) | IN(BODY) | IN(PARKING),
    [JOB_FOUND] = AT(IDLE) | AT(PROPOSE) | AT(TARGET) | AT(TARGET_S) | AT(CUT_S) | AT(LEAVE) |
                  AT(LEAVE_S) | AT(COMMIT_ENTRY) | AT(COMMIT) | AT(COMMIT_S) | AT(CANCEL) |
                  AT(CANCEL_S) | AT(RESUME) | AT(REJOIN) | AT(BALLOT) | IN(BODY) | IN(PARKING),
    [JOB_STUCK] = AT(TARGET) | AT(TARGET_S) | IN(BODY),
    [JOB_CALLED_OFF] = AT(PROPOSE) | AT(TARGET_S) | IN(BODY),
    [JOB_DIED] = EVERYWHERE,
};

/* Places that must be reached with --demand. The rest is reached without it. */
static const uint64_t must_alone[JOB_WHATS] = {
    [JOB_REFUSED_PARITY] = AT(ALONE + FT_CH_LIFTING - 1) | AT(ALONE + FT_CH_LIFTED - 1),
    [JOB_CANNOT] = AT(WANTED),
    [JOB_FOUND] = AT(WANTED) | AT(TAKEN),
    [JOB_DIED] = (AT(ALL_PLACES) - AT(ALONE)) & ~(AT(ALONE + FT_CH_RESUMING - 1) | AT(AWAITS)),
    [JOB_TAKEN] = AT(IDLE) | AT(PROPOSE) | AT(COMMIT) | AT(CANCEL) | AT(RESUME) | AT(REJOIN) |
                  AT(BALLOT) | IN(BODY) | IN(PARKING) | AT(WANTED),
    [JOB_TAGGED] = AT(IDLE) | AT(PROPOSE) | AT(TARGET) | AT(CUT) | AT(CUT_EXIT) | IN(SERVING) |
                   AT(ALONE + FT_CH_TAGGED - 1) | AT(ALONE + FT_CH_HOLDS - 1),
    [JOB_FLIPPED] = AT(IDLE) | AT(PROPOSE) | AT(TARGET) | AT(CUT) | AT(CUT_EXIT) | AT(REJOIN) |
                    IN(BODY) | IN(HELD) | IN(OVER),
    [JOB_DECLINED] = AT(IDLE) | AT(PROPOSE) | IN(BODY),
};

/* With snapshots there are barriers, too, after some were called off. */
static int must_come(const struct sim_options *o, int w, int at)
{
    if (o->demand)
        return (int)(must_alone[w] >> at & 1);
    if (!o->alg && w == JOB_CALLED_OFF)
        return 0;
    return (int)((must[w] & ~(o->alg ? OF_BARRIERS : OF_SNAPSHOTS)) >> at & 1);
}

const struct sim_places job_places = {what, where, must_come};
