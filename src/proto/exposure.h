/* SPDX-License-Identifier: BSD-3-Clause
 *
 * exposure.h - whose loss takes everybody back (E1), and what a vote says about that. Plain bytes,
 * no I/O. Every process that has adopted the same decisions comes to the same answers, because the
 * answers depend on decisions alone.
 *
 * A decision carries three things for this.
 * - The newest committed version: exposure ends with each commit.
 * - Exposers: processes that have dropped records which they kept for other ranks, or that replay
 *   (their logs are being read), or that have given up their latest image.
 * - Testimonies: what the slots that are new in the failed set, and that carried a rank, had in
 *   their testaments (base/testament.h).
 */
#ifndef FT_PROTO_EXPOSURE_H
#define FT_PROTO_EXPOSURE_H

#include "proto/testimony.h"

/* --- the machine --- */

/* Rank f was lost and went back alone. That exposes every other rank q for a while.
 * - f may be live again before it has read all that it had read. [q has taken an image since, and
 *   does not say again what f had read before that image. q is lost.] So a q that has taken an
 *   image alone is exposed until it takes another one, which it does not do while anybody replays.
 * - If f goes back to an image that it had taken alone, what it had logged for the others before
 *   that image is gone: each q is exposed until it takes an image. */
struct ft_loss {
    uint32_t generation; /* of the decision; 0: none */
    int32_t rank;
};
struct ft_exposure {
    uint64_t committed; /* the losses below were after this commit; a later commit ends them */
    /* [0]: losses of ranks that went back to a coordinated image. [1]: of ranks that went back to
     * an image they had taken alone. The newest two of different ranks, the newest one first. */
    struct ft_loss loss[2][2];
};
void ft_exposure_clear(struct ft_exposure *x); /* all have gone back; all zeros means empty, too */
/* A decision was adopted by which `rank` goes back alone while others go on (REJOIN in the run). t:
 * the testimony of its lost carrier. */
void ft_exposure_lost(struct ft_exposure *x, uint32_t generation, uint64_t committed, int rank,
                      const struct ft_testimony *t);

/* Why the loss of a rank takes everybody back. */
enum ft_exposed {
    FT_EXPOSED_NOT = 0,
    FT_EXPOSED_UNKNOWN,  /* there is no testimony */
    FT_EXPOSED_OWN_LOG,  /* its own log of actions is not complete */
    FT_EXPOSED_BY_OTHER, /* an exposer */
    FT_EXPOSED_BY_LOSS,  /* its latest image is older than the loss of another rank */
    FT_EXPOSED_GIVEN_UP, /* its latest image is in no codeword: it had given it up */
};
/* For a rank with this latest image: FT_EXPOSED_NOT or FT_EXPOSED_BY_LOSS. */
enum ft_exposed ft_exposure_by_loss(const struct ft_exposure *x, uint64_t committed, int rank,
                                    uint64_t latest);
/* For a rank that is lost in this decision, before ft_exposure_lost. in_run: there is a committed
 * version, and FTRMA_Run is not over. */
enum ft_exposed ft_exposure_of(const struct ft_exposure *x, uint64_t committed, int in_run,
                               int rank, int slot, const struct ft_exposers *by,
                               const struct ft_testimonies *told);

/* What a living rank knows of itself. */
struct ft_exposure_own {
    int rank;
    uint64_t latest;      /* version of its latest image */
    uint64_t others_from; /* from this committed version on it keeps all for others */
    int log_lost;         /* its own log is incomplete, until it takes an image alone */
    int not_logged;       /* it did something that is not logged, and may do so again */
    int given_up;         /* it gave up its latest image, in an earlier generation */
};
/* What would end the exposure that this rank suffers or causes. */
enum ft_cover { FT_COVER_NOTHING = 0, FT_COVER_ALONE, FT_COVER_ALL };
enum ft_cover ft_exposure_cover(const struct ft_exposure *x, uint64_t committed,
                                const struct ft_exposure_own *own);

#endif
