/* SPDX-License-Identifier: BSD-3-Clause
 *
 * free_later.c - MPI_Type_free and MPI_Op_free while requests still unpack or combine with what is
 * freed (MPI-3.1, 4.1.9, 5.9.5). Such a request is pinned. What is freed while any request is
 * pinned waits in a list. All of it goes with the last pin; and when the list is full, what no
 * pinned request needs. [A program has persistent requests all the time, and makes and frees a type
 * in each step: the list would grow for ever.]
 */
#include <string.h>

#include "base/offheap.h"
#include "mpi/request.h"

struct ft_later {
    MPI_Op op; /* MPI_OP_NULL: a type */
    MPI_Datatype type;
    uint64_t at; /* so many were freed before */
};

FT_STATIC(int, pins);
FT_STATIC(uint64_t, freed);            /* so many were put into the list, over all time */
FT_STATIC(struct ft_later *, to_free); /* [places], of which `waiting` are in use */
FT_STATIC(size_t, waiting);
FT_STATIC(size_t, places);
#define pins FT_MY(pins)
#define freed FT_MY(freed)
#define to_free FT_MY(to_free)
#define waiting FT_MY(waiting)
#define places FT_MY(places)

static void free_now(struct ft_later *l)
{
    if (l->op != MPI_OP_NULL) {
        HOST(Op_free)(&l->op);
    } else {
        ft_type_forget(l->type);
        HOST(Type_free)(&l->type);
    }
}

void ft_request_pin(struct ft_request *q)
{
    q->pinned = 1;
    q->pinned_at = freed;
    pins++;
}

void ft_request_unpin(struct ft_request *q)
{
    FT_ASSERT(q->pinned && pins > 0);
    q->pinned = 0;
    if (--pins > 0)
        return;
    while (waiting > 0)
        free_now(&to_free[--waiting]);
}

/* A request that is younger cannot know it. One of a collective may use anything that it has met;
 * others have one type. */
static int is_needed(const struct ft_request *q, const struct ft_later *l)
{
    int many = q->sched && !q->part;
    return q->pinned_at <= l->at && (many || (l->op == MPI_OP_NULL && q->type == l->type));
}

static void free_unneeded(void)
{
    size_t kept = 0;
    for (size_t i = 0; i < waiting; i++) {
        const struct ft_request *q = NULL;
        while ((q = ft_request_next_pinned(q)) && !is_needed(q, &to_free[i]))
            ;
        if (q)
            to_free[kept++] = to_free[i];
        else
            free_now(&to_free[i]);
    }
    waiting = kept;
}

int ft_any_pinned(void) { return pins > 0; }

/* Whether a request is pinned may depend on timing, if the program has freed it while it was active.
 * So the list is not from the program's heap. 0: no memory. */
static int make_room(void)
{
    size_t n = 2 * places + 16;
    struct ft_later *more = ft_offheap_try(n * sizeof *more);
    if (!more)
        return 0;
    if (waiting)
        memcpy(more, to_free, waiting * sizeof *more);
    ft_offheap_free(to_free);
    to_free = more;
    places = n;
    return 1;
}

int ft_free_later(MPI_Op op, MPI_Datatype type)
{
    if (pins == 0)
        return -1;
    ft_door_unattended(); /* MPI_Type_free and MPI_Op_free have no door */
    int full = waiting == places;
    if (full)
        free_unneeded();
    /* a look at all requests is not to come too often */
    if (full && 2 * waiting >= places && !make_room() && waiting == places)
        return MPI_ERR_NO_MEM;
    to_free[waiting++] = (struct ft_later){.op = op, .type = type, .at = freed++};
    return MPI_SUCCESS;
}
