/* SPDX-License-Identifier: BSD-3-Clause
 *
 * plan.h - from "these failed" to who replaces whom and what is to be done (D4, A1). Pure and
 * deterministic: each living process computes the same from the same decision.
 */
#ifndef FT_RECOVER_PLAN_H
#define FT_RECOVER_PLAN_H

#include "base/reason.h"
#include "proto/agree.h"
#include "topology/groups.h"
#include "topology/placement.h"

/* Where slots are: which failure domains they share. The same in all processes. */
struct ft_where {
    const struct ft_domains *domains;
    const int *node_of;  /* [nslots] */
    const int *group_of; /* [nranks + nchecksums] */
    int parity;
    int aware;    /* level at which Eq. 6 was asked for; 0: none */
    int holds;    /* ... and up to which it holds now; ft_plan_make keeps it */
    int *scratch; /* ft_place_spares_scratch for these positions and all spares: the agent allocates
                     nothing */
};

/* How a rank was lost before. */
struct ft_fate {
    uint64_t position, calls; /* where its carrier was that was lost last: as in its testament */
    uint64_t most_calls;      /* the most of any carrier that was lost since all went back last */
    uint64_t deaths;          /* in a row at that place (D7) */
};

/* Of a position, where the program handles losses itself (G5). */
struct ft_heir {
    uint64_t lacks;   /* the committed version of which its image or codeword is lost for good */
    uint64_t version; /* is_new: its image; 0: it has none */
    uint64_t is_new;  /* a rank that was replaced since all have come to a safepoint last */
};

/* ON_NODE: the job is on several nodes, and the home log of a rank is on one of them. */
enum ft_local { FT_LOCAL_NO, FT_LOCAL_ANYWHERE, FT_LOCAL_ON_NODE };

/* Who carries what. Positions: rank r is position r, checksum process c is position nranks + c. */
struct ft_mapping {
    int nranks, nchecksums, nspares; /* as started */
    int local; /* enum ft_local: whether a rank whose logs are whole may go back alone. Set by the
                  caller after init, the same in all processes */
    int told;  /* the program handles losses itself. Set and the same likewise */
    int why_not;            /* not local: enum ft_fallback */
    struct ft_where *where; /* NULL: nothing is known. Set by the caller after init */
    uint32_t generation;
    int *slot_of;          /* [nranks + nchecksums]: the carrier's slot */
    uint32_t *incarnation; /* [nranks + nchecksums] */
    int *pos_of;           /* [nslots]: position carried, -1 spare, -2 dead */
    struct ft_fate *fate;  /* [nranks]; NULL: nobody counts deaths */
    struct ft_heir *heir;  /* told: [nranks + nchecksums] */
    int *home; /* [nranks]: a slot on whose node all of the rank's home log is: its carrier's, but
                  while that one fetches it (R12) */
};
/* Generation 0: position p is carried by slot_of[p]; NULL: by slot p. FT_ERR_NOMEM; FT_ERR_ARG: no
 * ranks, or more slots than a job may have. */
enum ft_status ft_mapping_init(struct ft_mapping *m, int nranks, int nchecksums, int nspares,
                               const int *slot_of);
void ft_mapping_finish(struct ft_mapping *m); /* frees; takes one that init refused, too */

enum ft_plan_kind {
    FT_PLAN_NOTHING,  /* nobody was replaced, and nothing was under way. The root may give REJOIN as
                         the first order all the  same: it finishes one that this failure
                         interrupted,  and costs a round */
    FT_PLAN_REJOIN,   /* replacements run alone, from their images (if there are any) and logs: a
                         local recovery; or only checksum   processes were lost: their codewords are
                         rebuilt */
    FT_PLAN_ROLLBACK, /* everybody back to version */
    FT_PLAN_LOST,     /* message says why */
};
struct ft_plan {
    enum ft_plan_kind kind;
    uint64_t version; /* the committed one, 0: none */
    int told;         /* ROLLBACK: survivors keep their memory: m->heir says who is new */
    int nnew, nbare;  /* ... how many ranks are, and how many of these have no image */
    int why;          /* ROLLBACK: enum ft_fallback */
    int unaware;   /* Eq. 6 does not hold any more where it was asked for: so many replacements are
                      where too many of their   group are */
    int nreplaced; /* positions that changed their carrier */
    int replaced[64];      /* the first 64 of them */
    enum ft_reason reason; /* LOST: why that is the end */
    char message[1000];    /* LOST: who was lost, where, the reason, and what to do */
};

/* Applies decision d to mapping m (generation d->generation) and to x, and says what to do. All of
 * it follows from d, so all processes say the same. Neither m, but for m->fate, nor x is changed
 * when the plan is LOST. Rules: dead positions are given to living spares, in order of position,
 * lowest spare slot first, unless m->where has a better choice: the one by which Eq. 6 holds up to
 * the highest level still; incarnation + 1. With FT_LOCAL_ON_NODE a rank that is lost alone takes
 * a spare on the node of its home log, if there is one, before all that. A group loses a member
 * when its slot is dead now or is in d->data.incomplete; with a committed version, more than its
 * parity lost of a group (its codewords counted) is LOST, whether FTRMA_Run is over or not. Not
 * enough spares is LOST. With a lost rank LOST are: FT_AGREE_PHASE_RMA (setup is replayed in every
 * plan; it, or what follows FTRMA_Run, had used one-sided communication) when that was not logged,
 * or another rank is lost or on its way back as well (each one's log of what it did to the others
 * is made again while it replays), FT_AGREE_UNPROTECTED (no image of FTRMA_Run's exit),
 * FT_AGREE_NO_REPLAY, FT_AGREE_FILES or an FT_AGREE_UNKEPT; a third death in a row at one place
 * (D7); and d->data.shared_until where there is no way back to a committed version. When there is
 * a committed version, FTRMA_Run is not over, and a rank was lost now or is incomplete [its
 * recovery was interrupted by the loss of a spare]: REJOIN if m->local, one rank at most was lost,
 * it is not exposed (ft_exposure_of), and none had a shared window; else ROLLBACK. Always ROLLBACK
 * with FT_AGREE_ROLLBACK [some are parked or restored already: they would wait for ever, or have
 * gone back alone]. FT_AGREE_NODE, with a rank lost now or one that is not live (incomplete,
 * FT_AGREE_REPLAYING): ROLLBACK, where there is a way back, else LOST. A checksum process lost or
 * incomplete and no rank: REJOIN. m->told: where there is a way back, more than the parity of a
 * group may be lost (their heirs say so), a place in body is no place to die at again (D7), and
 * survivors keep their memory, but for FT_AGREE_RESTARTING. FT_AGREE_DONE: nothing is replaced,
 * NOTHING. g is not looked at without checksum processes. recovery_possible 0: the job runs
 * without message logs, no rank can be replaced: a lost rank is LOST. The same in all processes. */
void ft_plan_make(struct ft_mapping *m, struct ft_exposure *x, const struct ft_groups *g,
                  const struct ft_decision *d, int recovery_possible, struct ft_plan *out);
void ft_plan_all_went_back(struct ft_mapping *m, struct ft_exposure *x); /* RESTORE */
int ft_plan_dump(const struct ft_plan *p, char *out, int size);

#endif
