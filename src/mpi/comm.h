/* SPDX-License-Identifier: BSD-3-Clause
 *
 * comm.h - communicators.
 *
 * The program's handle is a communicator of the host that contains only this process: a dup of
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
    int inter;   /* an intercommunicator */
    int refs;    /* held by the handle, each open request, each window */
    int in_body; /* was made inside FTRMA_Run's body */
    /* ft_comm_silence: the program's handler is set aside, and the host returns errors */
    int silent;
    MPI_Errhandler handler;
    struct ft_topo *topo; /* topo.h; NULL: none */
    /* [ft_nranks()] rank in ctx by world rank, -1: no member; NULL until a wildcard first needs
     * it */
    int *inverse;
    struct ft_comm *next; /* list of all communicators */
};
extern FT_STATE(struct ft_comm *, ft_comm_world);
extern FT_STATE(struct ft_comm *, ft_comm_self);
#define ft_comm_world FT_MY(ft_comm_world)
#define ft_comm_self FT_MY(ft_comm_self)
/* A cache of one. Never NULL after the start; at first a dummy. */
extern FT_STATE(struct ft_comm *, ft_comm_last);
#define ft_comm_last FT_MY(ft_comm_last)
struct ft_comm *ft_comm_lookup(MPI_Comm handle);
/* NULL: the handle is not one of ours. */
static inline struct ft_comm *ft_comm_of(MPI_Comm handle)
{
    return FT_LIKELY(ft_comm_last->handle == handle) ? ft_comm_last : ft_comm_lookup(handle);
}
/* Returns a context id that no member of x has used, the same in all of them. Collective over x;
 * for a communicator's id use `all`. */
uint32_t ft_comm_agree_context(const struct ft_ctx *x);
void ft_comm_release(struct ft_comm *c); /* drops one reference */
/* The rank in c->ctx of a world rank; -1: it is no member. */
int ft_comm_rank_of(struct ft_comm *c, int world);
/* Ends the job unless all of its ranks are on this node: the call cannot do without. */
void ft_comm_keep_on_node(const struct ft_comm *c, const char *call);
struct ft_comm *ft_comm_of_context(uint32_t id); /* NULL: freed, or never made */
/* Makes a host group of these members. Groups use world ranks: the host's process r stands for rank
 * r. */
int ft_make_group(const struct ft_ctx *x, MPI_Group *out);
/* Writes the members of a group as world ranks to out[size of group]. */
void ft_group_ranks(MPI_Group group, int n, int *out);
/* The group of the host's world with all its processes. */
extern FT_STATE(MPI_Group, ft_world_group);
#define ft_world_group FT_MY(ft_world_group)
/* The host's communicator without attributes, of which handles are dups. */
extern FT_STATE(MPI_Comm, ft_comm_blank);
#define ft_comm_blank FT_MY(ft_comm_blank)

/* Until ft_comm_end_silence the host only returns errors on c; the library raises them. The
 * program's callbacks run meanwhile. */
void ft_comm_silence(struct ft_comm *c);
/* Returns whether c was silent. */
int ft_comm_end_silence(struct ft_comm *c);

/* ---- comm_attr.c ---- */
/* Copies MPI_COMM_WORLD's attributes to a new handle, by their copy callbacks. */
int ft_attr_copy_world(MPI_Comm to);
/* Deletes the attributes of MPI_COMM_SELF; the first thing that MPI_Finalize does. */
void ft_attr_delete_self(void);

/* ---- arguments ---- */
/* A handle that is not ours is passed to the host; MPI_COMM_NULL is an error on MPI_COMM_WORLD. */
#define FT_COMM_OR_HOST(c, comm, X, args)                                \
    do {                                                                 \
        if (FT_UNLIKELY(!(c))) {                                         \
            if (ft_mpi_up && (comm) == MPI_COMM_NULL)                    \
                return ft_error(MPI_COMM_NULL, MPI_ERR_COMM, "MPI_" #X); \
            return HOST(X) args;                                         \
        }                                                                \
    } while (0)
/* For calls that do not exist for intercommunicators. */
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
