/* SPDX-License-Identifier: BSD-3-Clause
 *
 * intercomm.c - intercommunicators (MPI-3.1, 6.6). Both groups agree over `all`, their union. Only
 * MPI_Intercomm_create has no union yet, and uses the two leaders.
 */
#include <string.h>

#include "mpi/comm_table.h"
#include "mpi/request.h"

FT_MPI(int, Comm_test_inter, (MPI_Comm comm, int *flag))
{
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Comm_test_inter, (comm, flag));
    *flag = c->inter;
    return MPI_SUCCESS;
}

FT_MPI(int, Comm_remote_size, (MPI_Comm comm, int *size))
{
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Comm_remote_size, (comm, size));
    FT_CHECK(c->inter, comm, MPI_ERR_COMM, "MPI_Comm_remote_size");
    *size = c->ctx.size;
    return MPI_SUCCESS;
}

FT_MPI(int, Comm_remote_group, (MPI_Comm comm, MPI_Group *group))
{
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Comm_remote_group, (comm, group));
    FT_CHECK(c->inter, comm, MPI_ERR_COMM, "MPI_Comm_remote_group");
    return ft_make_group(&c->ctx, group);
}

/* What a leader tells about its group. */
struct introduction {
    uint32_t next_ctx;
    int size;
};

/* The leaders introduce their groups to each other. Returns the other group's members in scratch
 * memory, and the introduction in *theirs. Nothing else uses tags >= 0 in the context of the peers'
 * collectives, so no wildcard of the program takes these messages. */
static const int *meet(const struct ft_ctx *own, const struct ft_comm *peers, int remote_leader,
                       int tag, const struct introduction *mine, struct introduction *theirs)
{
    uint32_t ctx = peers->ctx.id | FT_CTX_COLL;
    int other = peers->ctx.world[remote_leader];

    ft_msg_send(ctx, other, tag, mine, sizeof *mine);
    ft_msg_send(ctx, other, tag, own->world, (size_t)own->size * sizeof *own->world);
    ft_msg_recv(ctx, other, tag, theirs, sizeof *theirs, NULL);
    int *world = ft_scratch(FT_SCRATCH_COMM, (size_t)theirs->size * sizeof *world);
    ft_msg_recv(ctx, other, tag, world, (size_t)theirs->size * sizeof *world, NULL);
    return world;
}

/* Tells all of the own group about the other one; the leader need not be rank 0. */
static const int *learn(const struct ft_ctx *own, int leader, const int *known,
                        struct introduction *theirs)
{
    ft_bcast(own, theirs, sizeof *theirs, leader);
    size_t bytes = (size_t)theirs->size * sizeof(int);
    int *world = known ? (int *)known : ft_scratch(FT_SCRATCH_COMM, bytes);
    ft_bcast(own, world, bytes, leader);
    return world;
}

static int disjoint(const struct ft_members *m)
{
    for (int i = 0; i < m->nlocal; i++)
        for (int j = 0; j < m->nremote; j++)
            if (m->local[i] == m->remote[j])
                return 0;
    return 1;
}

FT_MPI(int, Intercomm_create,
       (MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader, int tag,
        MPI_Comm *newintercomm))
{
    struct introduction mine, theirs;
    const int *world = NULL;

    ft_door();
    struct ft_comm *c = ft_comm_of(local_comm);
    FT_INTRA_OR_HOST(c, local_comm, Intercomm_create,
                     (local_comm, local_leader, peer_comm, remote_leader, tag, newintercomm));
    FT_CHECK((unsigned)local_leader < (unsigned)c->ctx.size, local_comm, MPI_ERR_RANK,
             "MPI_Intercomm_create");
    FT_CHECK(tag >= 0 && tag <= ft_tag_ub, local_comm, MPI_ERR_TAG, "MPI_Intercomm_create");
    struct ft_comm *peers = c->ctx.rank == local_leader ? ft_comm_of(peer_comm) : NULL;
    if (c->ctx.rank == local_leader) {
        FT_CHECK(peers, local_comm, MPI_ERR_COMM, "MPI_Intercomm_create");
        FT_CHECK((unsigned)remote_leader < (unsigned)peers->ctx.size, local_comm, MPI_ERR_RANK,
                 "MPI_Intercomm_create");
    }
    mine = (struct introduction){ft_comm_agree_context(&c->ctx),
                                 c->ctx.size}; /* an id that is new in this group */
    if (peers) {
        world = meet(&c->ctx, peers, remote_leader, tag, &mine, &theirs);
        theirs.next_ctx =
            theirs.next_ctx > mine.next_ctx ? theirs.next_ctx : mine.next_ctx; /* ... and in both */
    }
    world = learn(&c->ctx, local_leader, world, &theirs);
    ft_next_ctx = theirs.next_ctx + 1;
    struct ft_members m = {c->ctx.size, c->ctx.world, theirs.size, world};
    FT_CHECK(disjoint(&m), local_comm, MPI_ERR_COMM, "MPI_Intercomm_create");
    return ft_comm_create(c, theirs.next_ctx, &m, NULL, newintercomm, "MPI_Intercomm_create");
}

/* If both groups say the same, the one whose rank 0 has the smaller world rank comes first: the
 * order of `all`. */
FT_MPI(int, Intercomm_merge, (MPI_Comm intercomm, int high, MPI_Comm *newintracomm))
{
    ft_door();
    struct ft_comm *c = ft_comm_of(intercomm);
    FT_COMM_OR_HOST(c, intercomm, Intercomm_merge, (intercomm, high, newintracomm));
    FT_CHECK(c->inter, intercomm, MPI_ERR_COMM, "MPI_Intercomm_merge");
    int n = c->all.size, mine = high != 0,
        first = c->local.world == c->all.world ? c->local.size : c->ctx.size;
    int *said = ft_scratch(FT_SCRATCH_COMM, 2 * (size_t)n * sizeof *said), *world = said + n;

    ft_allgather(&c->all, &mine, said, sizeof mine);
    uint32_t id = ft_comm_agree_context(&c->all);
    int swap = said[0] && !said[first], second = n - first;
    memcpy(world + (swap ? second : 0), c->all.world, (size_t)first * sizeof *world);
    memcpy(world + (swap ? 0 : first), c->all.world + first, (size_t)second * sizeof *world);
    return ft_comm_create(c, id, &(struct ft_members){n, world, 0, NULL}, NULL, newintracomm,
                          "MPI_Intercomm_merge");
}
