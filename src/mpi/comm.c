/* SPDX-License-Identifier: BSD-3-Clause
 *
 * comm.c - making, querying and freeing communicators (MPI-3.1, 6.4).
 *
 * A new context id is the maximum of ft_next_ctx over the members that make the communicator, and
 * all of them continue from there. So it depends only on what they did before, and a replacement
 * that runs setup again gets the same id. Disjoint children of a split share theirs.
 */
#include <stdlib.h>
#include <string.h>

#include "mpi/comm_table.h"
#include "mpi/icoll.h"
#include "mpi/topo.h"

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
    *size = c->local.size;
    return MPI_SUCCESS;
}

FT_MPI(int, Comm_group, (MPI_Comm comm, MPI_Group *group))
{
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Comm_group, (comm, group));
    return ft_make_group(&c->local, group);
}

static int compare_ints(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* MPI_CONGRUENT, MPI_SIMILAR or MPI_UNEQUAL */
static int compare_groups(const struct ft_ctx *a, const struct ft_ctx *b)
{
    size_t n = (size_t)a->size, bytes = n * sizeof(int);

    if (a->size != b->size)
        return MPI_UNEQUAL;
    if (memcmp(a->world, b->world, bytes) == 0)
        return MPI_CONGRUENT;
    int *sorted = ft_scratch(FT_SCRATCH_COMM, 2 * bytes);
    memcpy(sorted, a->world, bytes);
    memcpy(sorted + n, b->world, bytes);
    qsort(sorted, n, sizeof(int), compare_ints);
    qsort(sorted + n, n, sizeof(int), compare_ints);
    return memcmp(sorted, sorted + n, bytes) == 0 ? MPI_SIMILAR : MPI_UNEQUAL;
}

FT_MPI(int, Comm_compare, (MPI_Comm comm1, MPI_Comm comm2, int *result))
{
    struct ft_comm *a = ft_comm_of(comm1), *b = ft_comm_of(comm2);
    FT_COMM_OR_HOST(a, comm1, Comm_compare, (comm1, comm2, result));
    FT_COMM_OR_HOST(b, comm2, Comm_compare, (comm1, comm2, result));

    if (a == b) {
        *result = MPI_IDENT;
    } else if (a->inter != b->inter) {
        *result = MPI_UNEQUAL;
    } else {
        int local = compare_groups(&a->local, &b->local), remote = compare_groups(&a->ctx, &b->ctx);
        *result = local == MPI_UNEQUAL || remote == MPI_UNEQUAL ? MPI_UNEQUAL
                  : local == remote                             ? local
                                                                : MPI_SIMILAR;
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

#define ID_GIVEN 0x20000000u /* ids from here on are given by MPI_Comm_idup */

/* All who have agreed count on from here. */
static uint32_t use_context(uint32_t id)
{
    if (FT_UNLIKELY(id >= ID_GIVEN))
        ft_error_fatal(MPI_ERR_OTHER,
                       "the making of a communicator or window (no context ids left)");
    ft_next_ctx = id + 1;
    return id;
}

uint32_t ft_comm_agree_context(const struct ft_ctx *x)
{
    static const struct ft_reducer max = {.apply = apply_max, .commutative = 1};
    uint32_t mine = ft_next_ctx, id = 0;

    ft_allreduce(x, &mine, &id, 1, sizeof id, &max);
    return use_context(id);
}

void ft_comm_silence(struct ft_comm *c)
{
    if (c->silent || HOST(Comm_get_errhandler)(c->handle, &c->handler) != MPI_SUCCESS)
        return;
    c->silent = 1;
    HOST(Comm_set_errhandler)(c->handle, MPI_ERRORS_RETURN);
}

int ft_comm_end_silence(struct ft_comm *c)
{
    if (!c->silent)
        return 0;
    c->silent = 0;
    if (c->handle != MPI_COMM_NULL)
        HOST(Comm_set_errhandler)(c->handle, c->handler);
    HOST(Errhandler_free)(&c->handler);
    return 1;
}

static void inherit_errhandler(MPI_Comm from, MPI_Comm to)
{
    MPI_Errhandler handler;
    if (HOST(Comm_get_errhandler)(from, &handler) == MPI_SUCCESS) {
        HOST(Comm_set_errhandler)(to, handler);
        HOST(Errhandler_free)(&handler);
    }
}

/* The last step of every creation: all is agreed, and nothing waits any more. handle is the host's
 * part, already made. The reference to topo passes to the new communicator, or is dropped. */
static int finish_creation(const struct ft_comm *parent, MPI_Comm handle, uint32_t id,
                           const struct ft_members *m, struct ft_topo *topo, MPI_Comm *newcomm,
                           const char *call)
{
    ft_failpoint(SETUP_COMM);
    inherit_errhandler(parent->handle, handle);
    struct ft_comm *c = ft_comm_register(handle, id, m);
    if (!c) {
        HOST(Comm_free)(&handle);
        ft_topo_drop(topo);
        return ft_error(parent->handle, MPI_ERR_NO_MEM, call);
    }
    c->topo = topo;
    ft_runtime_object_created();
    *newcomm = handle;
    return MPI_SUCCESS;
}

int ft_comm_create(const struct ft_comm *parent, uint32_t id, const struct ft_members *m,
                   struct ft_topo *topo, MPI_Comm *newcomm, const char *call)
{
    MPI_Comm handle;
    int code = HOST(Comm_dup)(ft_comm_blank, &handle);

    if (code == MPI_SUCCESS)
        return finish_creation(parent, handle, id, m, topo, newcomm, call);
    ft_topo_drop(topo);
    return ft_error(parent->handle, code, call);
}

static int duplicate(struct ft_comm *c, uint32_t id, MPI_Info info, int with_info,
                     MPI_Comm *newcomm, const char *call)
{
    MPI_Comm handle, from = c == ft_comm_world ? ft_comm_blank : c->handle;
    ft_comm_silence(c);
    int code =
        with_info ? HOST(Comm_dup_with_info)(from, info, &handle) : HOST(Comm_dup)(from, &handle);

    ft_comm_end_silence(c);
    if (code == MPI_SUCCESS && c == ft_comm_world &&
        (code = ft_attr_copy_world(handle)) != MPI_SUCCESS)
        HOST(Comm_free)(&handle);
    if (code != MPI_SUCCESS)
        return ft_error(c->handle, code, call);
    struct ft_members same = {c->local.size, c->local.world, c->inter ? c->ctx.size : 0,
                              c->ctx.world};
    return finish_creation(c, handle, id, &same, ft_topo_keep(c->topo), newcomm, call);
}

FT_MPI(int, Comm_dup, (MPI_Comm comm, MPI_Comm *newcomm))
{
    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Comm_dup, (comm, newcomm));
    return duplicate(c, ft_comm_agree_context(&c->all), MPI_INFO_NULL, 0, newcomm, "MPI_Comm_dup");
}

FT_MPI(int, Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm))
{
    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Comm_dup_with_info, (comm, info, newcomm));
    return duplicate(c, ft_comm_agree_context(&c->all), info, 1, newcomm, "MPI_Comm_dup_with_info");
}

/* An id that is agreed while other things go on cannot be a maximum: two agreements that overlap,
 * begun in different orders, could get the same id. So the first member assigns one of its own
 * numbers. */

static uint32_t give_context(void)
{
    uint64_t id = (uint64_t)ft_next_ctx++ * (uint64_t)ft_nranks() + (uint64_t)ft_my_rank();
    if (id >= ID_GIVEN)
        ft_error_fatal(MPI_ERR_OTHER, "MPI_Comm_idup has no context ids left");
    return (uint32_t)id | ID_GIVEN;
}

/* The id arrives when the request is over, and is then stored in the communicator. */
static void await_context(struct ft_sched *s, const struct ft_ctx *all, struct ft_comm *fresh)
{
    uint32_t *id = &fresh->ctx.id;

    for (int i = 1; all->rank == 0 && i < all->size; i++)
        ft_sched_send(s, all->world[i], id, sizeof *id);
    if (all->rank > 0)
        ft_sched_recv(s, all->world[0], id, sizeof *id);
    ft_sched_round(s);
    ft_sched_copy(s, &fresh->local.id, id, sizeof *id);
    ft_sched_copy(s, &fresh->all.id, id, sizeof *id);
}

static int idup(struct ft_comm *c, MPI_Info info, int with_info, MPI_Comm *newcomm,
                MPI_Request *request, const char *call)
{
    struct ft_request *q = ft_icoll_begin(c, "comm_idup", call);
    if (!q)
        return MPI_ERR_NO_MEM;
    uint32_t id = c->all.rank == 0 ? give_context() : FT_CTX_NONE;
    int code = duplicate(c, id, info, with_info, newcomm, call);
    if (code == MPI_SUCCESS)
        await_context(q->sched, &c->all, ft_comm_of(*newcomm));
    return ft_icoll_commit(q, code, 0, request);
}

FT_MPI(int, Comm_idup, (MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request))
{
    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Comm_idup, (comm, newcomm, request));
    return idup(c, MPI_INFO_NULL, 0, newcomm, request, "MPI_Comm_idup");
}

#ifdef FT_HOST_HAS_MPI4
FT_MPI(int, Comm_idup_with_info,
       (MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm, MPI_Request *request))
{
    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Comm_idup_with_info, (comm, info, newcomm, request));
    return idup(c, info, 1, newcomm, request, "MPI_Comm_idup_with_info");
}
#endif

struct split_entry {
    int color, key, rank; /* rank in the parent's `all` */
    uint32_t next_ctx;
};

static int compare_entries(const void *a, const void *b)
{
    const struct split_entry *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Finds the members of one group of c that have `color`, as world ranks in the order of their keys;
 * returns how many. The part of `entries` for this group is overwritten. */
static int pick(const struct ft_comm *c, struct split_entry *entries, const struct ft_ctx *group,
                int color, int *world)
{
    struct split_entry *e = entries + (group->world - c->all.world);
    int n = 0;

    for (int i = 0; i < group->size; i++)
        if (e[i].color == color)
            e[n++] = e[i];
    qsort(e, (size_t)n, sizeof *e, compare_entries);
    for (int i = 0; i < n; i++)
        world[i] = c->all.world[e[i].rank];
    return n;
}

/* Splits both groups of an intercommunicator. A colour without members in the other group gives
 * MPI_COMM_NULL. */
static int split(struct ft_comm *c, int color, int key, MPI_Comm *newcomm, const char *call)
{
    size_t n = (size_t)c->all.size;
    struct split_entry mine = {color, key, c->all.rank, ft_next_ctx};
    struct split_entry *entries = ft_scratch(FT_SCRATCH_COMM, n * (sizeof *entries + sizeof(int)));
    int *world = (int *)(entries + n);
    struct ft_members m = {0};
    uint32_t id = 0;

    ft_allgather(&c->all, &mine, entries, sizeof mine);
    for (size_t i = 0; i < n; i++)
        id = entries[i].next_ctx > id ? entries[i].next_ctx : id;
    use_context(id);
    *newcomm = MPI_COMM_NULL;
    if (color == MPI_UNDEFINED)
        return MPI_SUCCESS;
    m.local = world;
    m.nlocal = pick(c, entries, &c->local, color, world);
    if (c->inter) {
        m.remote = world + m.nlocal;
        m.nremote = pick(c, entries, &c->ctx, color, world + m.nlocal);
        if (m.nremote == 0)
            return MPI_SUCCESS;
    }
    return ft_comm_create(c, id, &m, NULL, newcomm, call);
}

FT_MPI(int, Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *newcomm))
{
    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Comm_split, (comm, color, key, newcomm));
    FT_CHECK(color >= 0 || color == MPI_UNDEFINED, comm, MPI_ERR_ARG, "MPI_Comm_split");
    return split(c, color, key, newcomm, "MPI_Comm_split");
}

void ft_comm_keep_on_node(const struct ft_comm *c, const char *call)
{
    for (int i = 0; i < c->ctx.size; i++)
        if (!ft_runtime_near(c->ctx.world[i]))
            ft_give_up(ACROSS_NODES, ft_my_rank(), call);
}

/* Whatever kind of sharing is asked for, the ranks that were on one node at first share it. */
FT_MPI(int, Comm_split_type,
       (MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm))
{
    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_INTRA_OR_HOST(c, comm, Comm_split_type, (comm, split_type, key, info, newcomm));
    FT_CHECK(split_type >= 0 || split_type == MPI_UNDEFINED, comm, MPI_ERR_ARG,
             "MPI_Comm_split_type");
    return split(c, split_type == MPI_UNDEFINED ? MPI_UNDEFINED : ft_runtime_node(), key, newcomm,
                 "MPI_Comm_split_type");
}

static int is_member(const struct ft_ctx *x, int world)
{
    for (int i = 0; i < x->size; i++)
        if (x->world[i] == world)
            return 1;
    return 0;
}

/* Returns the world ranks of a group in scratch memory; NULL when one of them is no member of c's
 * own group. */
static const int *members_of(struct ft_comm *c, MPI_Group group, int *size)
{
    if (HOST(Group_size)(group, size) != MPI_SUCCESS)
        return NULL;
    int *world = ft_scratch(FT_SCRATCH_COMM, ((size_t)*size + 1) * sizeof *world);
    ft_group_ranks(group, *size, world);
    for (int i = 0; i < *size; i++)
        if (world[i] < 0 || world[i] >= ft_nranks() ||
            (c->inter ? !is_member(&c->local, world[i]) : ft_comm_rank_of(c, world[i]) < 0))
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

    int me = index_of_me(world, size);
    if (c->inter) /* nobody knows the other group's ft_next_ctx */
        return split(c, me < 0 ? MPI_UNDEFINED : 0, me, newcomm, "MPI_Comm_create");
    uint32_t id = ft_comm_agree_context(&c->ctx);
    *newcomm = MPI_COMM_NULL;
    if (me < 0)
        return MPI_SUCCESS;
    return ft_comm_create(c, id, &(struct ft_members){size, world, 0, NULL}, NULL, newcomm,
                          "MPI_Comm_create");
}

/* The maximum of ft_next_ctx over a group, by messages up and down a binomial tree of its members.
 * Nothing else uses tags >= 0 in the collectives' context. */
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
    return use_context(id);
}

FT_MPI(int, Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm))
{
    int size;
    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_INTRA_OR_HOST(c, comm, Comm_create_group, (comm, group, tag, newcomm));
    FT_CHECK(group != MPI_GROUP_NULL, comm, MPI_ERR_GROUP, "MPI_Comm_create_group");
    FT_CHECK(tag >= 0, comm, MPI_ERR_TAG, "MPI_Comm_create_group");
    const int *world = members_of(c, group, &size);
    FT_CHECK(world, comm, MPI_ERR_GROUP, "MPI_Comm_create_group");

    *newcomm = MPI_COMM_NULL;
    int me = index_of_me(world, size);
    if (me < 0)
        return MPI_SUCCESS;
    uint32_t id = agree_context_group(c->ctx.id, world, size, me, tag);
    return ft_comm_create(c, id, &(struct ft_members){size, world, 0, NULL}, NULL, newcomm,
                          "MPI_Comm_create_group");
}

static int end(struct ft_comm *c, MPI_Comm *comm, int waits, const char *call)
{
    FT_CHECK(c != ft_comm_world && c != ft_comm_self, *comm, MPI_ERR_COMM, call);
    if (waits)
        ft_request_await_freed(c);
    ft_comm_silence(c);
    int in_body = c->in_body, code = HOST(Comm_free)(comm);

    if (code != MPI_SUCCESS) { /* a delete callback refused */
        ft_comm_end_silence(c);
        return ft_error(c->handle, code, call);
    }
    ft_comm_forget_handle(c);
    ft_runtime_object_freed(in_body);
    return MPI_SUCCESS;
}

FT_MPI(int, Comm_free, (MPI_Comm * comm))
{
    struct ft_comm *c = ft_comm_of(*comm);
    FT_COMM_OR_HOST(c, *comm, Comm_free, (comm));
    return end(c, comm, 0, "MPI_Comm_free");
}

/* There is no connection to end, but buffers are the program's afterwards, also those of requests
 * that it has freed. */
FT_MPI(int, Comm_disconnect, (MPI_Comm * comm))
{
    ft_door();
    struct ft_comm *c = ft_comm_of(*comm);
    FT_COMM_OR_HOST(c, *comm, Comm_disconnect, (comm));
    return end(c, comm, 1, "MPI_Comm_disconnect");
}
