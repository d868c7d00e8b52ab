/* SPDX-License-Identifier: BSD-3-Clause
 *
 * comm.h - communicators.
 *
 * The handle that the program holds is a communicator of the host's of this process alone: a dup of
 * MPI_COMM_SELF. (MPI_COMM_WORLD and MPI_COMM_SELF stand for themselves.) So the host keeps
 * attributes, name, info and error handler, and the library keeps the members.
 */
#ifndef FT_MPI_COMM_H
#define FT_MPI_COMM_H

#include "coll/coll.h"
#include "mpi/error.h"

struct ft_comm {
    MPI_Comm handle;
    /* Valid as long as refs > 0. Three views of it, all the same but for an intercommunicator, all
     * with one context id (who is in one group is not in the other, so the source of a message says
     * which view it belongs to):
     *   ctx     whom point-to-point calls name: an intercommunicator's remote group. ctx.rank is
     *           mine in my own group always
     *   local   my own group
     *   all     both groups; first the one whose rank 0 has the smaller world rank */
    struct ft_ctx ctx, local, all;
    int inter;            /* an intercommunicator */
    int refs;             /* the handle, each open request, each window */
    int in_body;          /* was made inside FTRMA_Run's body */
    struct ft_topo *topo; /* topo.h; NULL: none */
    int *inverse; /* [ft_nranks()] rank in ctx by world rank, -1 = no member; made when a wildcard
                     first needs it, NULL before */
    struct ft_comm *next; /* in the list of all */
};
extern FT_STATE(struct ft_comm *, ft_comm_world);
extern FT_STATE(struct ft_comm *, ft_comm_self);
#define ft_comm_world FT_MY(ft_comm_world)
#define ft_comm_self FT_MY(ft_comm_self)
/* A cache of one: never NULL once up, a dummy before. */
extern FT_STATE(struct ft_comm *, ft_comm_last);
#define ft_comm_last FT_MY(ft_comm_last)
struct ft_comm *ft_comm_lookup(MPI_Comm handle);
/* NULL when the handle is not one of ours */
static inline struct ft_comm *ft_comm_of(MPI_Comm handle)
{
    return FT_LIKELY(ft_comm_last->handle == handle) ? ft_comm_last : ft_comm_lookup(handle);
}
/* A context id that no member of x has used, the same in all of them. Collective over x; for a
 * communicator's, `all`. */
uint32_t ft_comm_agree_context(const struct ft_ctx *x);
void ft_comm_release(struct ft_comm *c); /* drops one of refs */
/* rank of a world rank in c->ctx, -1 when it is no member */
int ft_comm_rank_of(struct ft_comm *c, int world);
struct ft_comm *ft_comm_of_context(uint32_t id); /* NULL: it was freed, or there is none */
/* A new host group of these members. Groups speak of world ranks: host slot r stands for rank r. */
int ft_make_group(const struct ft_ctx *x, MPI_Group *out);
/* Members of a group as world ranks into out[size of group]. */
void ft_group_ranks(MPI_Group group, int n, int *out);
/* Of the host's world with all its processes. */
extern FT_STATE(MPI_Group, ft_world_group);
#define ft_world_group FT_MY(ft_world_group)
/* The host communicator without attributes from which handles are dup'ed. */
extern FT_STATE(MPI_Comm, ft_comm_blank);
#define ft_comm_blank FT_MY(ft_comm_blank)

/* ---- comm_attr.c ---- */
/* MPI_COMM_WORLD's attributes into a new handle, by their copy callbacks. */
int ft_attr_copy_world(MPI_Comm to);
/* MPI_Finalize deletes those of MPI_COMM_SELF first of all. */
void ft_attr_delete_self(void);

/* ---- arguments ---- */
/* A handle that is not ours goes to the host; MPI_COMM_NULL is an error of MPI_COMM_WORLD's. */
#define FT_COMM_OR_HOST(c, comm, X, args)                                \
    do {                                                                 \
        if (FT_UNLIKELY(!(c))) {                                         \
            if (ft_mpi_up && (comm) == MPI_COMM_NULL)                    \
                return ft_error(MPI_COMM_NULL, MPI_ERR_COMM, "MPI_" #X); \
            return HOST(X) args;                                         \
        }                                                                \
    } while (0)
/* For calls that intercommunicators do not have. */
#define FT_INTRA_OR_HOST(c, comm, X, args)                    \
    do {                                                      \
        FT_COMM_OR_HOST(c, comm, X, args);                    \
        FT_CHECK(!(c)->inter, comm, MPI_ERR_COMM, "MPI_" #X); \
    } while (0)
#define FT_CHECK(cond, comm, code, call)       \
    do {                                       \
        if (FT_UNLIKELY(!(cond)))              \
            return ft_error(comm, code, call); \
    } while (0)

#endif
