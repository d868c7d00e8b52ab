/* SPDX-License-Identifier: BSD-3-Clause
 *
 * comm.c - making, asking and freeing communicators (MPI-3.1, 6.4).
 *
 * A new context id is the maximum of ft_next_ctx over those who make the communicator, who all go on from there: a function of
 * what they did before, so that a replacement that runs setup again gets the same one. Disjoint children of a split share theirs.
 */
#include <stdlib.h>
#include <string.h>

#include "mpi/comm_table.h"

FT_MPI(int, Comm_rank, (MPI_Comm comm, int *rank))
{
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Comm_rank, (comm, rank));
    *rank = c->ctx.rank;
    return MPI_SUCCESS;
}

FT_MPI(int, Comm_size, (MPI_Comm comm, int *size))
{
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Comm_size, (comm, size));
    *size = c->ctx.size;
    return MPI_SUCCESS;
}

FT_MPI(int, Comm_group, (MPI_Comm comm, MPI_Group *group))
{
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Comm_group, (comm, group));
    return ft_comm_make_group(c, group);
}

static int compare_ints(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

FT_MPI(int, Comm_compare, (MPI_Comm comm1, MPI_Comm comm2, int *result))
{
    struct ft_comm *a = ft_comm_of(comm1), *b = ft_comm_of(comm2);
    FT_COMM_OR_HOST(a, comm1, Comm_compare, (comm1, comm2, result));
    FT_COMM_OR_HOST(b, comm2, Comm_compare, (comm1, comm2, result));

    size_t n = (size_t)a->ctx.size, bytes = n * sizeof(int);
    if (a == b) {
        *result = MPI_IDENT;
    } else if (a->ctx.size != b->ctx.size) {
        *result = MPI_UNEQUAL;
    } else if (memcmp(a->ctx.world, b->ctx.world, bytes) == 0) {
        *result = MPI_CONGRUENT;
    } else {
        int *sorted = ft_scratch(FT_SCRATCH_COMM, 2 * bytes);
        memcpy(sorted, a->ctx.world, bytes);
        memcpy(sorted + n, b->ctx.world, bytes);
        qsort(sorted, n, sizeof(int), compare_ints);
        qsort(sorted + n, n, sizeof(int), compare_ints);
        *result = memcmp(sorted, sorted + n, bytes) == 0 ? MPI_SIMILAR : MPI_UNEQUAL;
    }
    return MPI_SUCCESS;
}

static void apply_max(void *arg, const void *in, void *inout, size_t count)
{
    (void)arg;
    for (size_t i = 0; i < count; i++)
        if (((const uint32_t *)in)[i] > ((uint32_t *)inout)[i])
            ((uint32_t *)inout)[i] = ((const uint32_t *)in)[i];
}

uint32_t ft_comm_agree_context(const struct ft_ctx *x)
{
    static const struct ft_reducer max = {apply_max, NULL, 1};
    uint32_t mine = ft_next_ctx, id = 0;

    ft_allreduce(x, &mine, &id, 1, sizeof id, &max);
    ft_next_ctx = id + 1;
    return id;
}

static void inherit_errhandler(MPI_Comm from, MPI_Comm to)
{
    MPI_Errhandler handler;
    if (HOST(Comm_get_errhandler)(from, &handler) == MPI_SUCCESS) {
        HOST(Comm_set_errhandler)(to, handler);
        HOST(Errhandler_free)(&handler);
    }
}

/* The last step of every creation: everything is agreed, nothing waits any more. handle is the host's part, already made. */
static int finish_creation(const struct ft_comm *parent, MPI_Comm handle, uint32_t id, int size, const int *world,
                           MPI_Comm *newcomm, const char *call)
{
    ft_failpoint(SETUP_COMM);
    inherit_errhandler(parent->handle, handle);
    if (!ft_comm_register(handle, id, size, world)) {
        HOST(Comm_free)(&handle);
        return ft_error(parent->handle, MPI_ERR_NO_MEM, call);
    }
    ft_runtime_object_created();
    *newcomm = handle;
    return MPI_SUCCESS;
}

/* A new communicator without attributes; color MPI_UNDEFINED and the like never come here. */
static int create(const struct ft_comm *parent, uint32_t id, int size, const int *world, MPI_Comm *newcomm, const char *call)
{
    MPI_Comm handle;
    int code = HOST(Comm_dup)(ft_comm_blank, &handle);
    if (code != MPI_SUCCESS)
        return ft_error(parent->handle, code, call);
    return finish_creation(parent, handle, id, size, world, newcomm, call);
}

static int duplicate(struct ft_comm *c, MPI_Info info, int with_info, MPI_Comm *newcomm, const char *call)
{
    uint32_t id = ft_comm_agree_context(&c->ctx);
    MPI_Comm handle, from = c == ft_comm_world ? ft_comm_blank : c->handle;
    int code = with_info ? HOST(Comm_dup_with_info)(from, info, &handle) : HOST(Comm_dup)(from, &handle);

    if (code == MPI_SUCCESS && c == ft_comm_world)
        code = ft_attr_copy_world(handle);
    if (code != MPI_SUCCESS)
        return ft_error(c->handle, code, call);
    return finish_creation(c, handle, id, c->ctx.size, c->ctx.world, newcomm, call);
}

FT_MPI(int, Comm_dup, (MPI_Comm comm, MPI_Comm *newcomm))
{
    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Comm_dup, (comm, newcomm));
    return duplicate(c, MPI_INFO_NULL, 0, newcomm, "MPI_Comm_dup");
}

FT_MPI(int, Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm))
{
    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Comm_dup_with_info, (comm, info, newcomm));
    return duplicate(c, info, 1, newcomm, "MPI_Comm_dup_with_info");
}

struct split_entry {
    int color, key, rank;
    uint32_t next_ctx;
};

static int compare_entries(const void *a, const void *b)
{
    const struct split_entry *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static int split(struct ft_comm *c, int color, int key, MPI_Comm *newcomm, const char *call)
{
    size_t n = (size_t)c->ctx.size;
    struct split_entry mine = {color, key, c->ctx.rank, ft_next_ctx};
    struct split_entry *entries = ft_scratch(FT_SCRATCH_COMM, n * (sizeof *entries + sizeof(int)));
    uint32_t id = 0;
    int members = 0;

    ft_allgather(&c->ctx, &mine, entries, sizeof mine);
    for (size_t i = 0; i < n; i++) {
        id = entries[i].next_ctx > id ? entries[i].next_ctx : id;
        if (entries[i].color == color)
            entries[members++] = entries[i];
    }
    ft_next_ctx = id + 1;
    *newcomm = MPI_COMM_NULL;
    if (color == MPI_UNDEFINED)
        return MPI_SUCCESS;
    FT_ASSERT(members > 0);
    qsort(entries, (size_t)members, sizeof *entries, compare_entries);
    int *world = (int *)(entries + n);
    for (int i = 0; i < members; i++)
        world[i] = c->ctx.world[entries[i].rank];
    return create(c, id, members, world, newcomm, call);
}

FT_MPI(int, Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *newcomm))
{
    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Comm_split, (comm, color, key, newcomm));
    FT_CHECK(color >= 0 || color == MPI_UNDEFINED, comm, MPI_ERR_ARG, "MPI_Comm_split");
    return split(c, color, key, newcomm, "MPI_Comm_split");
}

/* All ranks live on one node: whatever kind of sharing is asked for, they all share it. */
FT_MPI(int, Comm_split_type, (MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm))
{
    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Comm_split_type, (comm, split_type, key, info, newcomm));
    FT_CHECK(split_type >= 0 || split_type == MPI_UNDEFINED, comm, MPI_ERR_ARG, "MPI_Comm_split_type");
    return split(c, split_type == MPI_UNDEFINED ? MPI_UNDEFINED : 0, key, newcomm, "MPI_Comm_split_type");
}

/* The world ranks of a group in scratch memory; NULL when one of them is no member of c. */
static const int *members_of(struct ft_comm *c, MPI_Group group, int *size)
{
    if (HOST(Group_size)(group, size) != MPI_SUCCESS)
        return NULL;
    int *world = ft_scratch(FT_SCRATCH_COMM, ((size_t)*size + 1) * sizeof *world);
    ft_group_ranks(group, *size, world);
    for (int i = 0; i < *size; i++)
        if (world[i] < 0 || world[i] >= ft_nranks() || ft_comm_rank_of(c, world[i]) < 0)
            return NULL;
    return world;
}

static int index_of_me(const int *world, int size)
{
    for (int i = 0; i < size; i++)
        if (world[i] == ft_my_rank())
            return i;
    return -1;
}

FT_MPI(int, Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm))
{
    int size;
    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Comm_create, (comm, group, newcomm));
    FT_CHECK(group != MPI_GROUP_NULL, comm, MPI_ERR_GROUP, "MPI_Comm_create");
    const int *world = members_of(c, group, &size);
    FT_CHECK(world, comm, MPI_ERR_GROUP, "MPI_Comm_create");

    uint32_t id = ft_comm_agree_context(&c->ctx);
    *newcomm = MPI_COMM_NULL;
    if (index_of_me(world, size) < 0)
        return MPI_SUCCESS;
    return create(c, id, size, world, newcomm, "MPI_Comm_create");
}

/* The maximum of ft_next_ctx over a group by messages up and down a binomial tree over its members. Tags >= 0 in the collectives'
 * context are used by nobody else. */
static uint32_t agree_context_group(uint32_t parent_id, const int *world, int size, int me, int tag)
{
    uint32_t ctx = parent_id | FT_CTX_COLL, id = ft_next_ctx, theirs;
    int bit = 1;

    for (; bit < size && !(me & bit); bit <<= 1) {
        if (me + bit < size) {
            ft_msg_recv(ctx, world[me + bit], tag, &theirs, sizeof theirs, NULL);
            id = theirs > id ? theirs : id;
        }
    }
    if (me != 0) {
        ft_msg_send(ctx, world[me - bit], tag, &id, sizeof id);
        ft_msg_recv(ctx, world[me - bit], tag, &id, sizeof id, NULL);
    }
    for (bit >>= 1; bit > 0; bit >>= 1)
        if (me + bit < size)
            ft_msg_send(ctx, world[me + bit], tag, &id, sizeof id);
    ft_next_ctx = id + 1;
    return id;
}

FT_MPI(int, Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm))
{
    int size;
    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Comm_create_group, (comm, group, tag, newcomm));
    FT_CHECK(group != MPI_GROUP_NULL, comm, MPI_ERR_GROUP, "MPI_Comm_create_group");
    FT_CHECK(tag >= 0, comm, MPI_ERR_TAG, "MPI_Comm_create_group");
    const int *world = members_of(c, group, &size);
    FT_CHECK(world, comm, MPI_ERR_GROUP, "MPI_Comm_create_group");

    *newcomm = MPI_COMM_NULL;
    int me = index_of_me(world, size);
    if (me < 0)
        return MPI_SUCCESS;
    uint32_t id = agree_context_group(c->ctx.id, world, size, me, tag);
    return create(c, id, size, world, newcomm, "MPI_Comm_create_group");
}

FT_MPI(int, Comm_free, (MPI_Comm * comm))
{
    struct ft_comm *c = ft_comm_of(*comm);
    FT_COMM_OR_HOST(c, *comm, Comm_free, (comm));
    FT_CHECK(c != ft_comm_world && c != ft_comm_self, *comm, MPI_ERR_COMM, "MPI_Comm_free");
    int in_body = c->in_body, code = HOST(Comm_free)(comm);

    if (code != MPI_SUCCESS) /* a delete callback said no */
        return ft_error(c->handle, code, "MPI_Comm_free");
    ft_comm_forget_handle(c);
    ft_runtime_object_freed(in_body);
    return MPI_SUCCESS;
}
