/* SPDX-License-Identifier: BSD-3-Clause
 *
 * request_pool.c - the memory of requests: one reserved range of addresses, opened in chunks; freed
 * requests are reused. An MPI_Request that points into the range is ours. Its integer in Fortran is
 * FINT_BASE + index. The host's Fortran layer also reads that integer from the request object
 * itself, at a place that is found out at start.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <string.h>
#include <sys/mman.h>

#include "base/offheap.h"
#include "base/private.h"
#include "coll/sched.h"
#include "mpi/request.h"

#define POOL_MAX ((size_t)1 << 20)
#define POOL_CHUNK ((size_t)1024)
#define FINT_BASE 0x40000000

FT_STATE(struct ft_request *, ft_request_base);
FT_STATE(struct ft_request *, ft_request_end);
FT_STATIC(struct ft_request *, orphans);
FT_STATIC(struct ft_request *, unused);
FT_STATIC(size_t, opened);    /* requests of the range that have memory */
FT_STATIC(int, fortran_word); /* index into host_shape; -1: not in it */
#define orphans FT_MY(orphans)
#define unused FT_MY(unused)
#define opened FT_MY(opened)
#define fortran_word FT_MY(fortran_word)

/* Each word of a dummy request holds its own place; the host shows which word it takes for the
 * Fortran index. */
static int find_fortran_word(void)
{
    int32_t sham[FT_REQUEST_HOST_BYTES / 4];
    for (size_t i = 0; i < FT_COUNTOF(sham); i++)
        sham[i] = (int32_t)i;
    MPI_Fint said = HOST(Request_c2f)((MPI_Request)(void *)sham);
    return said >= 0 && said < (MPI_Fint)FT_COUNTOF(sham) ? (int)said : -1;
}

static int open_chunk(void)
{
    if (opened == POOL_MAX ||
        mprotect(ft_request_base + opened, POOL_CHUNK * sizeof *ft_request_base,
                 PROT_READ | PROT_WRITE) != 0)
        return 0;
    for (size_t i = opened + POOL_CHUNK; i-- > opened;) {
        struct ft_request *q = &ft_request_base[i];
        if (fortran_word >= 0)
            q->host_shape[fortran_word] = (int32_t)(FINT_BASE + i);
        q->next = unused;
        unused = q;
    }
    opened += POOL_CHUNK;
    return 1;
}

int ft_request_pool_init(void)
{
    _Static_assert(sizeof(struct ft_request) % FT_CACHE_LINE == 0 &&
                       POOL_CHUNK * sizeof(struct ft_request) % 65536 == 0,
                   "pages");
    void *range = mmap(NULL, POOL_MAX * sizeof(struct ft_request), PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED)
        return 0;
    ft_private_claim(range, POOL_MAX * sizeof(struct ft_request));
    ft_request_base = range;
    ft_request_end = ft_request_base + POOL_MAX;
    fortran_word = find_fortran_word();
    if (!open_chunk())
        return 0;
    struct ft_request *done = ft_request_get(), *null_recv = ft_request_get();
    FT_ASSERT((MPI_Request)(void *)done == FT_REQUEST_DONE &&
              (MPI_Request)(void *)null_recv == FT_REQUEST_NULL_RECV);
    return 1;
}

struct ft_request *ft_request_get(void)
{
    struct ft_request *q;

    if (FT_UNLIKELY(orphans != NULL))
        ft_request_reap();
    if (FT_UNLIKELY(!unused) && !open_chunk())
        return NULL;
    q = unused;
    unused = q->next;
    FT_ASSERT(!q->in_use);
    q->in_use = 1;
    q->persistent = q->active = q->orphan = q->pinned = q->mode = 0;
    q->comm = NULL;
    q->taken = NULL;
    q->packed = NULL;
    q->sched = NULL;
    q->part = NULL;
    return q;
}

void ft_request_put(struct ft_request *q)
{
    FT_ASSERT(q->in_use && !q->active && !q->packed);
    q->in_use = 0;
    ft_partitioned_free(q);
    ft_sched_free(q->sched);
    q->sched = NULL;
    if (q->pinned)
        ft_request_unpin(q);
    if (q->comm)
        ft_comm_release(q->comm);
    q->next = unused;
    unused = q;
}

struct ft_request *ft_request_next_pinned(const struct ft_request *q)
{
    for (size_t i = q ? (size_t)(q - ft_request_base) + 1 : 0; i < opened; i++)
        if (ft_request_base[i].in_use && ft_request_base[i].pinned)
            return &ft_request_base[i];
    return NULL;
}

void ft_request_orphan(struct ft_request *q)
{
    q->orphan = 1;
    q->next = orphans;
    orphans = q;
}

void ft_request_reap(void)
{
    struct ft_request **p = &orphans, *q;

    ft_door_unattended(); /* MPI_Recv_init and the like have no door */
    while ((q = *p) != NULL) {
        if (ft_msg_done(&q->r)) {
            *p = q->next;
            ft_request_settle(q);
            ft_request_put(q);
        } else {
            p = &q->next;
        }
    }
}

void ft_request_reap_freed(void)
{
    if (FT_LIKELY(!orphans))
        return;
    ft_msg_progress(); /* [The program only receives, which needs no look at what else has come.] */
    ft_request_reap();
}

void ft_request_await_sends(int only_buffered)
{
    for (struct ft_request *q = orphans; q; q = q->next)
        if (!q->is_recv && (only_buffered ? q->mode == FT_SEND_BUFFERED : q->mode != FT_SEND_SYNC))
            ft_msg_wait(&q->r);
    ft_request_reap();
}

void ft_request_await_freed(const struct ft_comm *c)
{
    for (struct ft_request *q = orphans; q; q = q->next)
        if (q->comm == c)
            ft_msg_wait(&q->r);
    ft_request_reap();
}

void ft_request_drop_all(void)
{
    orphans = NULL;
    ft_sched_drop();
    for (size_t i = 2; i < opened; i++) {
        struct ft_request *q = &ft_request_base[i];
        if (!q->in_use)
            continue;
        ft_offheap_free(q->packed);
        q->packed = NULL;
        q->taken = NULL;
        q->active = 0;
        memset(&q->r, 0, sizeof q->r);
        if (!q->persistent || q->in_body || q->orphan)
            ft_request_put(q);
    }
    ft_msg_active = 0;
}

FT_MPI(MPI_Fint, Request_c2f, (MPI_Request request))
{
    struct ft_request *q = ft_request_of(request);
    return q ? (MPI_Fint)(FINT_BASE + (q - ft_request_base)) : HOST(Request_c2f)(request);
}

static struct ft_request *by_index(MPI_Fint i)
{
    return i >= FINT_BASE && (size_t)(i - FINT_BASE) < opened ? &ft_request_base[i - FINT_BASE]
                                                              : NULL;
}

FT_MPI(MPI_Request, Request_f2c, (MPI_Fint request))
{
    struct ft_request *q = by_index(request);
    return q ? (MPI_Request)(void *)q : HOST(Request_f2c)(request);
}

/* Handles of messages are from the same pool. */
FT_MPI(MPI_Fint, Message_c2f, (MPI_Message message))
{
    struct ft_request *q = ft_message_of(message);
    return q ? (MPI_Fint)(FINT_BASE + (q - ft_request_base)) : HOST(Message_c2f)(message);
}

FT_MPI(MPI_Message, Message_f2c, (MPI_Fint message))
{
    struct ft_request *q = by_index(message);
    return q ? (MPI_Message)(void *)q : HOST(Message_f2c)(message);
}
