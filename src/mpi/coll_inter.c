/* SPDX-License-Identifier: BSD-3-Clause
 *
 * coll_inter.c - composes the collectives of intercommunicators from the engine's. All groups of an
 * intercommunicator have one context id: messages between two processes are matched in the order of
 * their collectives, over whichever group each collective is.
 */
#include "mpi/coll_inter.h"
#include "coll/isched.h"

#include <string.h>

int ft_coll_rooted(const struct ft_comm *c, int root, struct ft_rooted *out)
{
    if (!c->inter) {
        *out = (struct ft_rooted){.x = c->ctx, .root = root};
        return (unsigned)root < (unsigned)c->ctx.size ? MPI_SUCCESS : MPI_ERR_ROOT;
    }
    *out = (struct ft_rooted){.idle = root == MPI_PROC_NULL};
    if (out->idle)
        return MPI_SUCCESS;
    if (root != MPI_ROOT && (unsigned)root >= (unsigned)c->ctx.size)
        return MPI_ERR_ROOT;
    const struct ft_ctx *others = root == MPI_ROOT ? &c->ctx : &c->local;
    int n = others->size, *world = ft_scratch(FT_SCRATCH_VIEW, ((size_t)n + 1) * sizeof *world);
    memcpy(world, others->world, (size_t)n * sizeof *world);
    world[n] = root == MPI_ROOT ? ft_my_rank() : c->ctx.world[root];
    out->root = n;
    out->x = (struct ft_ctx){.id = c->ctx.id,
                             .rank = root == MPI_ROOT ? n : c->local.rank,
                             .size = n + 1,
                             .world = world};
    return MPI_SUCCESS;
}

/* Extends an array for the remote group to one for both groups. */
static const size_t *widen(const struct ft_comm *c, size_t *all, const size_t *remote)
{
    memset(all, 0, (size_t)c->all.size * sizeof *all);
    memcpy(all + (c->ctx.world - c->all.world), remote, (size_t)c->ctx.size * sizeof *all);
    return all;
}

void ft_coll_alltoallv(const struct ft_comm *c, struct ft_sched *s, const void *out,
                       const size_t *soffs, const size_t *slens, void *in, const size_t *roffs,
                       const size_t *rlens)
{
    if (!c->inter) {
        FT_ENGINE(s, alltoallv, &c->ctx, out, soffs, slens, in, roffs, rlens);
        return;
    }
    size_t n = (size_t)c->all.size, *v = ft_scratch(FT_SCRATCH_VIEW, 4 * n * sizeof *v);
    FT_ENGINE(s, alltoallv, &c->all, out, widen(c, v, soffs), widen(c, v + n, slens), in,
              widen(c, v + 2 * n, roffs), widen(c, v + 3 * n, rlens));
}

static void reduce(const struct ft_comm *c, struct ft_sched *s, const void *in, void *out,
                   size_t count, size_t esize, const struct ft_reducer *op)
{
    if (s)
        ft_sched_reduce_to(s, &c->local, in, out, count, esize, op, 0);
    else
        ft_reduce(&c->local, in, out, count, esize, op, 0);
    ft_stage_arrived(s);
}

void ft_coll_reduce_across(const struct ft_comm *c, struct ft_sched *s, const void *in, void *own,
                           void *sum, size_t count, size_t esize, const struct ft_reducer *op)
{
    reduce(c, s, in, own, count, esize, op);
    if (c->local.rank == 0) {
        int first = c->local.world[0] == c->all.world[0],
            pair[2] = {c->local.world[0], c->ctx.world[0]};
        struct ft_ctx x = {.id = c->ctx.id, .rank = !first, .size = 2, .world = pair};
        size_t none[2] = {0, 0}, lens[2] = {0, 0};
        if (!first) {
            pair[1] = pair[0];
            pair[0] = c->ctx.world[0];
        }
        lens[first] = count * esize; /* the other member's index is 1 if mine is 0 */
        FT_ENGINE(s, alltoallv, &x, own, none, lens, sum, none, lens);
    }
    ft_stage_arrived(s);
}

void ft_coll_reduce_to_root(const struct ft_comm *c, struct ft_sched *s, const struct ft_rooted *r,
                            const void *in, void *own, void *out, size_t count, size_t esize,
                            const struct ft_reducer *op)
{
    int at_root = r->x.rank == r->root, pair[2] = {r->x.world[0], r->x.world[r->root]};
    struct ft_ctx x = {.id = c->ctx.id, .rank = at_root, .size = 2, .world = pair};

    if (!at_root)
        reduce(c, s, in, own, count, esize, op);
    if (at_root || c->local.rank == 0)
        FT_ENGINE(s, bcast, &x, at_root ? out : own, count * esize, 0);
}
