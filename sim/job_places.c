/* SPDX-License-Identifier: BSD-3-Clause
 *
 * job_places.c - where in a job things happened: under which order, and in which state of the
 * carrier.
 */
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
                                   NULL};

/* Orders, by flags where these matter; then states. */
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
                                    NULL};
_Static_assert(FT_COUNTOF(where) == STATES + FT_CARRIER_STATES + 1, "a name for each");

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

void job_happens(struct sim *s, int p, enum job_what w)
{
    const struct ft_process *me = job_process(s, p);
    if (s->o.timed)
        return;
    sim_happens(s, (int)w, order_of(me));
    sim_happens(s, (int)w, STATES + (int)me->carrier.state);
}

int job_when(const struct sim *s, int p, enum job_what w)
{
    const struct job_world *world = job_world(s);
    const struct ft_process *me = job_process(s, p);
    int at = world->at[w];
    if (!s->o.everywhere)
        return SIM_SELDOM;
    if (w == JOB_DIED) /* each of them somewhere else */
        at = (at + 7 * ft_bitset_count(&world->crashed)) % (STATES + FT_CARRIER_STATES);
    return at == order_of(me) || at == STATES + (int)me->carrier.state ? SIM_MAY : -1;
}

/* Where a replay may be. */
static const int replay[] = {
    IDLE, PROPOSE, RECOVER, REJOIN, BALLOT, STATES + FT_CS_BODY, STATES + FT_CS_PARKING};

/* Jobs in which these things can happen, and that live on. */
void job_draw_places(struct sim *s)
{
    struct job_world *w = job_world(s);
    struct ft_prng *r = &s->rng;
    int n = s->o.n;
    for (int i = 0; i < JOB_WHATS; i++)
        w->at[i] = (uint8_t)ft_prng_below(r, STATES + FT_CARRIER_STATES);
    w->nchecksums = n > 4 ? 1 + (int)ft_prng_below(r, 2) : 1;
    w->nranks = w->nchecksums + (int)ft_prng_below(r, (uint64_t)(n - 2 * w->nchecksums));
    w->parity = w->nchecksums == 2 ? 1 + (int)ft_prng_below(r, 2) : 1;
    int spares = n - w->nranks - w->nchecksums;
    s->crashes = (int)ft_prng_below(r, (uint64_t)(s->crashes < spares ? s->crashes : spares) + 1);
    int small = s->o.ops > 1; /* all orders are to be tried */
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
    if (ft_prng_below(r, 2)) /* a rank dies in body, and another one repeats what it did */
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

#define AT(x) (1ull << (x))
#define IN(x) (1ull << (STATES + FT_CS_##x))
#define EVERYWHERE (AT(STATES + FT_CARRIER_STATES) - 1)
#define OF_SNAPSHOTS (AT(TARGET_S) | AT(CUT_S) | AT(LEAVE_S) | AT(COMMIT_S) | AT(CANCEL_S))
#define OF_BARRIERS (AT(TARGET) | AT(CUT) | AT(LEAVE) | AT(COMMIT) | AT(CANCEL))

/* Where they must come, with barriers or with snapshots. */
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

/* With snapshots there are barriers, too, after some were called off. */
static int must_come(const struct sim_options *o, int w, int at)
{
    if (!o->alg && w == JOB_CALLED_OFF)
        return 0;
    return (int)((must[w] & ~(o->alg ? OF_BARRIERS : OF_SNAPSHOTS)) >> at & 1);
}

const struct sim_places job_places = {what, where, must_come};
