/* SPDX-License-Identifier: BSD-3-Clause
 *
 * plan.h - from a decision about who failed to who replaces whom and what is to be done (D4, A1).
 * It is a pure function: all living processes compute the same from the same decision.
 */
#ifndef FT_RECOVER_PLAN_H
#define FT_RECOVER_PLAN_H

#include "base/reason.h"
#include "proto/agree.h"
#include "topology/groups.h"
#include "topology/placement.h"

/* The failure domains of slots. The same in all processes. */
struct ft_where {
    const struct ft_domains *domains;
    const int *node_of;  /* [nslots] */
    const int *group_of; /* [nranks + nchecksums] */
    int parity;
    int aware;    /* the level up to which Eq. 6 was asked for; 0: none */
    int holds;    /* the level up to which it holds now; ft_plan_make keeps it */
    int *scratch; /* of ft_place_spares_scratch for these positions and all spares, since the agent
                     allocates nothing */
};

/* How a rank was lost before (D7). */
struct ft_fate {
    uint64_t position, calls; /* of its testament, when it was lost last */
    uint64_t most_calls;      /* the most calls of any lost carrier since the last rollback */
    uint64_t deaths;          /* deaths in a row at that place */
};

/* Of a position, if the program handles losses itself (G5). */
struct ft_heir {
    uint64_t lacks;   /* the committed version whose image or codeword is lost for good */
    uint64_t version; /* if is_new: the version of its image; 0: it has none */
    uint64_t is_new;  /* a rank that was replaced since all were at a safepoint */
};

/* ON_NODE: the job is on several nodes, and the home log of a rank is on one of them. */
enum ft_local { FT_LOCAL_NO, FT_LOCAL_ANYWHERE, FT_LOCAL_ON_NODE };

/* Who carries what. Positions: rank r is position r, checksum process c is position nranks + c. */
struct ft_mapping {
    int nranks, nchecksums, nspares; /* as started */
    int local;   /* enum ft_local: whether a rank with complete logs may go back alone. The caller
                    sets it after   init, the same in all processes */
    int told;    /* the program handles losses itself; set likewise */
    int why_not; /* enum ft_fallback: why it is not local */
    struct ft_where *where; /* NULL: not known; the caller sets it after init */
    uint32_t generation;
    int *slot_of;          /* [nranks + nchecksums]: the carrier's slot */
    uint32_t *incarnation; /* [nranks + nchecksums] */
    int *pos_of;           /* [nslots]: position carried, -1 spare, -2 dead */
    struct ft_fate *fate;  /* [nranks]; NULL: nobody counts deaths */
    struct ft_heir *heir;  /* told: [nranks + nchecksums] */
    int *home; /* [nranks]: a slot on whose node all of the rank's home log is. That is the carrier,
                  unless it is still fetching the log (R12) */
};
/* Sets generation 0: slot_of[p] carries position p; NULL: slot p does. FT_ERR_NOMEM; FT_ERR_ARG: no
 * ranks, or more slots than a job may have. */
enum ft_status ft_mapping_init(struct ft_mapping *m, int nranks, int nchecksums, int nspares,
                               const int *slot_of);
void ft_mapping_finish(struct ft_mapping *m); /* frees it, also if init has failed */

enum ft_plan_kind {
    FT_PLAN_NOTHING,  /* Nobody was replaced, and nothing was under way. The root may still give
                         REJOIN as the first  order, to finish one that this failure has interrupted
                       */
    FT_PLAN_REJOIN,   /* Local recovery: replacements run alone, from images (if any) and logs. Or
                         only checksum   processes were lost, and their codewords are rebuilt */
    FT_PLAN_ROLLBACK, /* all go back to `version` */
    FT_PLAN_LOST,     /* the job cannot go on; `message` says why */
};
struct ft_plan {
    enum ft_plan_kind kind;
    uint64_t version; /* the committed version; 0: none */
    int told;         /* ROLLBACK: survivors keep their memory, and m->heir says who is new */
    int nnew, nbare;  /* how many ranks are new; how many of these have no image */
    int why;          /* ROLLBACK: enum ft_fallback */
    int unaware; /* how many replacements share a domain with too many of their group, so that Eq. 6
                    does not hold as asked for */
    int nreplaced;         /* how many positions have a new carrier */
    int replaced[64];      /* the first 64 of them */
    enum ft_reason reason; /* LOST: the reason */
    char message[1000];    /* LOST: who was lost, where, the reason, and what to do */
};

/* Applies decision d to m (generation d->generation) and to x, and fills *out. If the plan is LOST,
 * x is unchanged, and of m only m->fate changes. g is not looked at without checksum processes.
 * recovery_possible 0: the job has no message logs, and a lost rank is LOST. Rules:
 *
 * - Dead positions go to living spares, in order of position, the spare in the lowest slot first.
 *   With m->where, that choice is taken by which Eq. 6 holds up to the highest level. With
 *   FT_LOCAL_ON_NODE a rank that is lost alone first takes a spare on the node of its home log.
 * - A group loses a member when its slot is dead now or is in d->data.incomplete. With a committed
 *   version, the loss of more than its parity of a group, codewords included, is LOST, also after
 *   FTRMA_Run. Not enough spares is LOST.
 * - With a lost rank these are LOST: FT_AGREE_PHASE_RMA (setup, or what follows FTRMA_Run, used
 *   one-sided communication, and every plan repeats it), if that was not logged, or if another rank
 *   is lost or replays as well, since each one's log of what it did to the others is made again
 *   meanwhile; FT_AGREE_UNPROTECTED (there is no image of FTRMA_Run's exit), FT_AGREE_NO_REPLAY,
 *   FT_AGREE_FILES, an FT_AGREE_UNKEPT; a third death in a row at one place (D7); and
 *   d->data.shared_until, if there is no way back to a committed version.
 * - If there is a way back, and a rank is lost or incomplete [the loss of a spare has interrupted
 *   its recovery]: REJOIN if m->local, at most one rank was lost, it is not exposed
 *   (ft_exposure_of), and none had a shared window; else ROLLBACK. FT_AGREE_ROLLBACK is always
 *   ROLLBACK [some are parked or restored already, and would wait for ever].
 * - FT_AGREE_NODE with a rank that is lost or not live (incomplete, FT_AGREE_REPLAYING): ROLLBACK
 *   if there is a way back, else LOST. A checksum process lost or incomplete, and no rank: REJOIN.
 * - With m->told and a way back, more than the parity of a group may be lost (heirs say so), a
 *   place in body is no place to die at again (D7), and survivors keep their memory unless
 *   FT_AGREE_RESTARTING.
 * - FT_AGREE_DONE: nothing is replaced, NOTHING. */
void ft_plan_make(struct ft_mapping *m, struct ft_exposure *x, const struct ft_groups *g,
                  const struct ft_decision *d, int recovery_possible, struct ft_plan *out);
void ft_plan_all_went_back(struct ft_mapping *m, struct ft_exposure *x); /* RESTORE */
int ft_plan_dump(const struct ft_plan *p, char *out, int size);

#endif
