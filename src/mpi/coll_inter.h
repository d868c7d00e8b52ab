/* SPDX-License-Identifier: BSD-3-Clause
 *
 * coll_inter.h - collectives over intercommunicators (MPI-3.1, 5.2.2): collectives of the engine
 * over members of both groups. The functions take any communicator, so that callers need not
 * distinguish.
 *
 * Main only.
 */
#ifndef FT_MPI_COLL_INTER_H
#define FT_MPI_COLL_INTER_H

#include "mpi/icoll.h"

/* The participants of a collective with a root. For an intracommunicator: all. For an
 * intercommunicator: the group that is not the root's, followed by the root, which has no part of
 * its own. */
struct ft_rooted {
    struct ft_ctx x; /* valid until the next call of ft_coll_rooted */
    int root;        /* rank in x */
    int idle; /* this process has nothing to do: it is in the root's group, and not the root */
};
/* MPI_ERR_ROOT when root names nobody. */
int ft_coll_rooted(const struct ft_comm *c, int root, struct ft_rooted *out);

/* Whether arguments that are significant at the root only are significant here. */
static inline int ft_coll_at_root(const struct ft_comm *c, int root)
{
    return FT_UNLIKELY(c->inter) ? root == MPI_ROOT : root == c->ctx.rank;
}

/* The engine's alltoallv between all members and those whom ranks name: the group, or the remote
 * group. Arrays as in the engine, [c->ctx.size]. */
void ft_coll_alltoallv(const struct ft_comm *c, struct ft_sched *s, const void *out,
                       const size_t *soffs, const size_t *slens, void *in, const size_t *roffs,
                       const size_t *rlens);

/* Reduces the other group's operands at rank 0 of each group of an intercommunicator; `sum` is used
 * only there, and `own` there is memory of the same size. Ends with a round. */
void ft_coll_reduce_across(const struct ft_comm *c, struct ft_sched *s, const void *in, void *own,
                           void *sum, size_t count, size_t esize, const struct ft_reducer *op);
/* The same for one root, without a round at the end. out: at the root; own: at rank 0 of the other
 * group. */
void ft_coll_reduce_to_root(const struct ft_comm *c, struct ft_sched *s, const struct ft_rooted *r,
                            const void *in, void *own, void *out, size_t count, size_t esize,
                            const struct ft_reducer *op);

#endif
