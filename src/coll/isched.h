/* SPDX-License-Identifier: BSD-3-Clause
 *
 * isched.h - adds the collectives of coll.h to a schedule (sched.h) as steps.
 */
#ifndef FT_COLL_ISCHED_H
#define FT_COLL_ISCHED_H

#include "coll/sched.h"

/* Arguments are those of coll.h, and must stay valid as long as s. Reductions give the same bits as
 * the blocking ones. Arrays of lengths are read at once. Where the blocking form copies a member's
 * own part, so does the schedule. */
void ft_sched_barrier(struct ft_sched *s, const struct ft_ctx *c);
void ft_sched_bcast(struct ft_sched *s, const struct ft_ctx *c, void *buf, size_t bytes, int root);
void ft_sched_reduce_to(struct ft_sched *s, const struct ft_ctx *c, const void *sendbuf,
                        void *recvbuf, size_t count, size_t esize, const struct ft_reducer *op,
                        int root);
void ft_sched_allreduce(struct ft_sched *s, const struct ft_ctx *c, const void *sendbuf,
                        void *recvbuf, size_t count, size_t esize, const struct ft_reducer *op);
void ft_sched_scan(struct ft_sched *s, const struct ft_ctx *c, const void *sendbuf, void *recvbuf,
                   size_t count, size_t esize, const struct ft_reducer *op);
void ft_sched_exscan(struct ft_sched *s, const struct ft_ctx *c, const void *sendbuf, void *recvbuf,
                     size_t count, size_t esize, const struct ft_reducer *op);
void ft_sched_reduce_scatter(struct ft_sched *s, const struct ft_ctx *c, const void *sendbuf,
                             void *recvbuf, const size_t *counts, size_t esize,
                             const struct ft_reducer *op);
void ft_sched_gatherv(struct ft_sched *s, const struct ft_ctx *c, const void *sendbuf,
                      size_t sendlen, void *recvbuf, const size_t *offs, const size_t *lens,
                      int root);
void ft_sched_scatterv(struct ft_sched *s, const struct ft_ctx *c, const void *sendbuf,
                       const size_t *offs, const size_t *lens, void *recvbuf, size_t recvlen,
                       int root);
void ft_sched_allgatherv(struct ft_sched *s, const struct ft_ctx *c, const void *sendbuf,
                         size_t sendlen, void *recvbuf, const size_t *offs, const size_t *lens);
void ft_sched_alltoallv(struct ft_sched *s, const struct ft_ctx *c, const void *sendbuf,
                        const size_t *soffs, const size_t *slens, void *recvbuf,
                        const size_t *roffs, const size_t *rlens);

#endif
