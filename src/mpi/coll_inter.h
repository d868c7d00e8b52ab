/* SPDX-License-Identifier: BSD-3-Clause
 *
 * coll_inter.h - collectives over intercommunicators (MPI-3.1, 5.2.2) are collectives of the engine
 * over some of both groups. With any communicator, so that callers need not ask.
 *
 * Thread rules: main thread only.
 */
#ifndef FT_MPI_COLL_INTER_H
#define FT_MPI_COLL_INTER_H

#include "mpi/icoll.h"

/* Who takes part in a collective with a root: all; of an intercommunicator the group that is not
 * the root's, and after it the root, who has no part of its own. */
struct ft_rooted {
    struct ft_ctx x; /* valid until the next one is asked for */
    int root;        /* in x */
    int idle;        /* I have nothing to do: in the root's group, and not the root */
};
/* MPI_ERR_ROOT when nobody is meant. */
int ft_coll_rooted(const struct ft_comm *c, int root, struct ft_rooted *out);

/* Whether the arguments that count at the root only count here. */
static inline int ft_coll_at_root(const struct ft_comm *c, int root)
{
    return FT_UNLIKELY(c->inter) ? root == MPI_ROOT : root == c->ctx.rank;
}

/* alltoallv of the engine between everybody and whom ranks name: the group, or the remote one.
 * Arrays as there, [c->ctx.size]. */
void ft_coll_alltoallv(const struct ft_comm *c, struct ft_sched *s, const void *out,
                       const size_t *soffs, const size_t *slens, void *in, const size_t *roffs,
                       const size_t *rlens);

/* What the others' operands come to, at rank 0 of each group of an intercommunicator; `sum` is not
 * used elsewhere. `own` there is memory for as much again. A round of its own. */
void ft_coll_reduce_across(const struct ft_comm *c, struct ft_sched *s, const void *in, void *own,
                           void *sum, size_t count, size_t esize, const struct ft_reducer *op);
/* The same for one root (and no round after it). out: at the root; own: at rank 0 of the others.
 */
void ft_coll_reduce_to_root(const struct ft_comm *c, struct ft_sched *s, const struct ft_rooted *r,
                            const void *in, void *own, void *out, size_t count, size_t esize,
                            const struct ft_reducer *op);

#endif
