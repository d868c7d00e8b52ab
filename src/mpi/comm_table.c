/* SPDX-License-Identifier: BSD-3-Clause
 *
 * comm_table.c - finds the communicator of the program's handle: a cache of one, then open
 * addressing keyed by the pointer.
 */
#include <stdlib.h>
#include <string.h>

#include "base/offheap.h"
#include "coll/sched.h"
#include "mpi/comm_table.h"
#include "mpi/topo.h"

FT_STATIC(struct ft_comm, nobody) = {.handle = (MPI_Comm)(intptr_t)-1};
#define nobody FT_MY(nobody)
FT_STATE(struct ft_comm *, ft_comm_last) = FT_AT(nobody);
FT_STATE(struct ft_comm *, ft_comm_world);
FT_STATE(struct ft_comm *, ft_comm_self);
FT_STATE(MPI_Group, ft_world_group);
FT_STATE(MPI_Comm, ft_comm_blank);

struct comm_table {
    struct ft_comm **slot;
    size_t mask, count;
};
FT_STATIC(struct comm_table, table);
FT_STATIC(struct ft_comm *, comms); /* all, in a list */
#define table FT_MY(table)
#define comms FT_MY(comms)

static size_t hash(MPI_Comm handle)
{
    return (size_t)((((uintptr_t)handle >> 4) * UINT64_C(0x9E3779B97F4A7C15)) >> 40);
}

struct ft_comm *ft_comm_lookup(MPI_Comm handle)
{
    if (table.count == 0)
        return NULL;
    for (size_t i = hash(handle) & table.mask; table.slot[i]; i = (i + 1) & table.mask)
        if (table.slot[i]->handle == handle)
            return ft_comm_last = table.slot[i];
    return NULL;
}

static void place(struct ft_comm *c)
{
    size_t i = hash(c->handle) & table.mask;
    while (table.slot[i])
        i = (i + 1) & table.mask;
    table.slot[i] = c;
    table.count++;
}

/* Entries that follow, up to a gap, may belong into the place that becomes free: they are placed
 * again. */
static void displace(const struct ft_comm *c)
{
    size_t i = hash(c->handle) & table.mask;

    while (table.slot[i] != c)
        i = (i + 1) & table.mask;
    table.slot[i] = NULL;
    table.count--;
    while (table.slot[i = (i + 1) & table.mask]) {
        struct ft_comm *next = table.slot[i];
        table.slot[i] = NULL;
        table.count--;
        place(next);
    }
    ft_comm_last = &nobody;
}

/* Builds a table of `slots` places with all communicators whose handle is valid. */
static int rebuild(size_t slots)
{
    struct ft_comm **fresh = calloc(slots, sizeof *fresh);

    FT_ASSERT((slots & (slots - 1)) == 0);
    if (!fresh)
        return 0;
    free(table.slot);
    table.slot = fresh;
    table.mask = slots - 1;
    table.count = 0;
    for (struct ft_comm *c = comms; c; c = c->next)
        if (c->handle != MPI_COMM_NULL)
            place(c);
    ft_comm_last = &nobody;
    return 1;
}

/* Puts the union of both groups into one array, of which each group is a part. */
static void set_views(struct ft_comm *c, uint32_t id, const struct ft_members *m, int *world)
{
    int remote_first = m->nremote > 0 && m->remote[0] < m->local[0];
    int *local = world + (remote_first ? m->nremote : 0),
        *remote = world + (remote_first ? 0 : m->nlocal);

    memcpy(local, m->local, (size_t)m->nlocal * sizeof *local);
    c->local = (struct ft_ctx){.id = id, .rank = -1, .size = m->nlocal, .world = local};
    for (int i = 0; i < m->nlocal; i++)
        if (local[i] == ft_my_rank())
            c->local.rank = i;
    FT_ASSERT(c->local.rank >= 0);
    c->ctx = c->all = c->local;
    if (m->nremote == 0)
        return;
    memcpy(remote, m->remote, (size_t)m->nremote * sizeof *remote);
    c->inter = 1;
    c->ctx.size = m->nremote;
    c->ctx.world = remote;
    c->all.size += m->nremote;
    c->all.world = world;
    c->all.rank += (int)(local - world);
}

struct ft_comm *ft_comm_register(MPI_Comm handle, uint32_t id, const struct ft_members *m)
{
    struct ft_comm *c = ft_offheap_try(sizeof *c);
    int *world = ft_offheap_try((size_t)(m->nlocal + m->nremote) * sizeof *world);

    FT_ASSERT((id < FT_CTX_PART || id == FT_CTX_NONE) && m->nlocal > 0);
    if (!c || !world ||
        (2 * (table.count + 1) > table.mask && !rebuild(table.slot ? 2 * (table.mask + 1) : 64))) {
        ft_offheap_free(c);
        ft_offheap_free(world);
        return NULL;
    }
    *c = (struct ft_comm){.handle = handle, .refs = 1};
    set_views(c, id, m, world);
    c->in_body = ft_runtime_in_body();
    c->next = comms;
    comms = c;
    place(c);
    ft_comm_last = c;
    return c;
}

void ft_comm_forget_handle(struct ft_comm *c)
{
    displace(c);
    c->handle = MPI_COMM_NULL;
    ft_comm_end_silence(c);
    ft_comm_release(c);
}

/* The last to release it may be a request: when its send is over may depend on timing. So its
 * memory is not from the program's heap. */
void ft_comm_release(struct ft_comm *c)
{
    struct ft_comm **p = &comms;

    FT_ASSERT(c->refs > 0);
    if (--c->refs > 0)
        return;
    FT_ASSERT(c->handle == MPI_COMM_NULL);
    while (*p != c)
        p = &(*p)->next;
    *p = c->next;
    ft_door_unattended(); /* MPI_Comm_free has no door */
    ft_sched_forget(c->ctx.id);
    ft_offheap_free(c->inverse);
    ft_offheap_free((void *)(uintptr_t)c->all.world);
    ft_topo_drop(c->topo);
    ft_offheap_free(c);
}

void ft_comm_forget_body(void)
{
    struct ft_comm *c, *next;

    for (c = comms; c; c = next) {
        next = c->next;
        if (c->in_body && c->handle != MPI_COMM_NULL)
            ft_comm_forget_handle(c);
        else
            ft_comm_end_silence(c); /* [the rollback came while a callback of a dup waited] */
    }
}

void ft_comm_forget_all(void)
{
    for (struct ft_comm *c = comms; c; c = c->next)
        c->handle = MPI_COMM_NULL;
    table.count = 0;
    ft_comm_last = &nobody;
}

int ft_comm_rank_of(struct ft_comm *c, int world)
{
    if (world < c->ctx.size && c->ctx.world[world] == world)
        return world;
    if (!c->inverse) {
        int *inverse = ft_offheap_try((size_t)ft_nranks() * sizeof *inverse);
        if (!inverse)
            ft_error_fatal(MPI_ERR_NO_MEM, "a communicator's table of ranks");
        for (int i = 0; i < ft_nranks(); i++)
            inverse[i] = -1;
        for (int i = 0; i < c->ctx.size; i++)
            inverse[c->ctx.world[i]] = i;
        c->inverse = inverse;
    }
    return c->inverse[world];
}

struct ft_comm *ft_comm_of_context(uint32_t id)
{
    struct ft_comm *c = comms;
    while (c && (c->ctx.id != id || c->handle == MPI_COMM_NULL))
        c = c->next;
    return c;
}

int ft_make_group(const struct ft_ctx *x, MPI_Group *out)
{
    return HOST(Group_incl)(ft_world_group, x->size, x->world, out);
}

int ft_comm_table_init(void)
{
    int me = ft_my_rank(), n = ft_nranks();
    int *everyone = malloc((size_t)n * sizeof *everyone);

    if (!everyone)
        return 0;
    for (int i = 0; i < n; i++)
        everyone[i] = i;
    if (HOST(Comm_group)(MPI_COMM_WORLD, &ft_world_group) == MPI_SUCCESS &&
        HOST(Comm_dup)(MPI_COMM_SELF, &ft_comm_blank) == MPI_SUCCESS) {
        HOST(Comm_set_errhandler)(ft_comm_blank, MPI_ERRORS_RETURN);
        ft_comm_self =
            ft_comm_register(MPI_COMM_SELF, FT_CTX_SELF, &(struct ft_members){1, &me, 0, NULL});
        ft_comm_world = ft_comm_register(MPI_COMM_WORLD, FT_CTX_WORLD,
                                         &(struct ft_members){n, everyone, 0, NULL});
    }
    free(everyone);
    if (ft_next_ctx < FT_CTX_FIRST)
        ft_next_ctx = FT_CTX_FIRST;
    return ft_comm_self && ft_comm_world;
}
