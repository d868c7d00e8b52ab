/* SPDX-License-Identifier: BSD-3-Clause
 *
 * p2p.h - arguments of point-to-point calls: checks them, and converts them for the engine.
 */
#ifndef FT_MPI_P2P_H
#define FT_MPI_P2P_H

#include "mpi/mpi_internal.h"

extern FT_STATE(int, ft_tag_ub);
#define ft_tag_ub FT_MY(ft_tag_ub)
static inline int ft_check_send(const struct ft_comm *c, int count, const struct ft_type *t,
                                int peer, int tag)
{
    if (FT_UNLIKELY(count < 0))
        return MPI_ERR_COUNT;
    if (FT_UNLIKELY(!t))
        return MPI_ERR_TYPE;
    if (FT_UNLIKELY((unsigned)peer >= (unsigned)c->ctx.size && peer != MPI_PROC_NULL))
        return MPI_ERR_RANK;
    return FT_LIKELY(tag >= 0 && tag <= ft_tag_ub) ? MPI_SUCCESS : MPI_ERR_TAG;
}
static inline int ft_check_source(const struct ft_comm *c, int peer, int tag)
{
    if (FT_UNLIKELY((unsigned)peer >= (unsigned)c->ctx.size && peer != MPI_PROC_NULL &&
                    peer != MPI_ANY_SOURCE))
        return MPI_ERR_RANK;
    return FT_LIKELY((tag >= 0 && tag <= ft_tag_ub) || tag == MPI_ANY_TAG) ? MPI_SUCCESS
                                                                           : MPI_ERR_TAG;
}
static inline int ft_check_recv(const struct ft_comm *c, int count, const struct ft_type *t,
                                int peer, int tag)
{
    if (FT_UNLIKELY(count < 0))
        return MPI_ERR_COUNT;
    return FT_UNLIKELY(!t) ? MPI_ERR_TYPE : ft_check_source(c, peer, tag);
}
static inline int ft_world_source(const struct ft_comm *c, int peer)
{
    return peer == MPI_ANY_SOURCE ? FT_ANY_SOURCE : c->ctx.world[peer];
}
static inline int ft_engine_tag(int tag) { return tag == MPI_ANY_TAG ? FT_ANY_TAG : tag; }
/* The rank in c from which a message came, given the source that was asked for. */
static inline int ft_came_from(struct ft_comm *c, int asked, int world)
{
    return FT_LIKELY(asked >= 0) ? asked : ft_comm_rank_of(c, world);
}

#endif
