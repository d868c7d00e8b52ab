/* SPDX-License-Identifier: BSD-3-Clause
 *
 * request.c - completing one request (MPI-3.1, 3.7.3): Wait, Test, Request_free,
 * Request_get_status, Cancel.
 *
 * Requests of the host's own (files, generalized requests) may be in the same calls. The host's
 * Test completes them, while our channels are progressed.
 */
#include "alog/homelog_replay.h"
#include "base/offheap.h"
#include "coll/sched.h"
#include "mpi/outcome.h"
#include "mpi/request.h"

enum ft_request_state ft_request_state(MPI_Request h)
{
    const struct ft_request *q = ft_request_of(h);

    if (!q)
        return h == MPI_REQUEST_NULL ? FT_REQUEST_IDLE : FT_REQUEST_FOREIGN;
    if (q->active)
        return ft_msg_done(&q->r) ? FT_REQUEST_OVER : FT_REQUEST_PENDING;
    return q->persistent ? FT_REQUEST_IDLE
                         : FT_REQUEST_OVER; /* the shared ones are over from the start */
}

/* Brings what q (done) has received to where the program wants it. Does so once: from then on the
 * program may use that memory for something else. */
static void deliver(struct ft_request *q)
{
    struct ft_type store;

    if (!q->packed)
        return;
    if (q->is_recv && !q->r.status.cancelled)
        ft_unpack(ft_type_of(q->type, &store), q->packed, q->r.status.bytes, q->buf);
    ft_offheap_free(q->packed);
    q->packed = NULL;
}

int ft_request_settle(struct ft_request *q)
{
    FT_ASSERT(q->active && ft_msg_done(&q->r) && ft_msg_active > 0);
    q->active = 0;
    ft_msg_active--;
    deliver(q);
    if (FT_UNLIKELY(q->sched != NULL) && ft_sched_mismatched(q->sched))
        return MPI_ERR_TRUNCATE;
    return q->is_recv && q->r.status.error == FT_ERR_TRUNC ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
}

static void set_empty(MPI_Status *status)
{
    ft_status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, 0);
}

static void status_of(struct ft_request *q, MPI_Status *status)
{
    const struct ft_msg_status *s = &q->r.status;

    if (status == MPI_STATUS_IGNORE)
        return;
    if (!q->is_recv || s->cancelled)
        ft_status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, s->cancelled && q->is_recv);
    else if (q->peer == MPI_PROC_NULL)
        ft_status_set(status, MPI_PROC_NULL, MPI_ANY_TAG, 0, 0);
    else
        ft_status_set(status, ft_came_from(q->comm, q->peer, s->source), s->tag, s->bytes, 0);
}

/* The status of a request that is not active: an inactive persistent one, or one of the shared
 * ones. */
static void idle_status(MPI_Request h, MPI_Status *status)
{
    set_empty(status);
    if (h == FT_REQUEST_NULL_RECV && status != MPI_STATUS_IGNORE)
        status->MPI_SOURCE = MPI_PROC_NULL;
}

int ft_request_complete(MPI_Request *h, MPI_Status *status, MPI_Comm *where)
{
    struct ft_request *q = ft_request_of(*h);

    if (!q || !q->active) {
        idle_status(*h, status);
        if (q && !q->persistent)
            *h = MPI_REQUEST_NULL;
        return MPI_SUCCESS;
    }
    status_of(q, status);
    if (where)
        *where = q->comm->handle;
    int code = ft_request_settle(q);
    if (!q->persistent) {
        ft_request_put(q);
        *h = MPI_REQUEST_NULL;
    }
    return code;
}

static int complete_or_raise(MPI_Request *h, MPI_Status *status, const char *call)
{
    MPI_Comm where = MPI_COMM_WORLD;
    int code = ft_request_complete(h, status, &where);
    return FT_LIKELY(code == MPI_SUCCESS) ? code : ft_error(where, code, call);
}

int ft_request_wait_foreign(MPI_Request *h, MPI_Status *status)
{
    struct ft_waiter w = FT_WAITER_UNRUNG;
    MPI_Request was = *h;
    int flag = 0, code;

    while ((code = HOST(Test)(h, &flag, status)) == MPI_SUCCESS && !flag) {
        atomic_fetch_add(&ft_wait_progress, 1); /* a file may take its time, and is not a peer */
        ft_msg_progress();
        ft_wait(&w);
    }
    ft_wait_end(&w);
    ft_request_host_left(was, *h);
    return code;
}

void ft_request_await(MPI_Request h)
{
    struct ft_request *q = ft_request_of(h);

    if (q && q->active && !ft_msg_done(&q->r))
        ft_msg_wait(&q->r);
}

FT_MPI(int, Wait, (MPI_Request * request, MPI_Status *status))
{
    struct ft_request *q = ft_request_of(*request);

    if (FT_UNLIKELY(!q && !ft_mpi_up))
        return HOST(Wait)(request, status);
    ft_door();
    if (FT_UNLIKELY(!q && *request != MPI_REQUEST_NULL))
        return ft_request_wait_foreign(request, status);
    ft_request_await(*request);
    return complete_or_raise(request, status, "MPI_Wait");
}

/* Whether q is over, or was when the lost process made this call. */
static int test_one(struct ft_request *q)
{
    int pending = q->active && !ft_msg_done(&q->r);

    switch (ft_outcome_flag()) {
    case FT_OUTCOME_KNOWN: ft_request_await((MPI_Request)(void *)q); return 1;
    case FT_OUTCOME_NONE: return 0;
    case FT_OUTCOME_OPEN: break;
    }
    if (pending) {
        ft_msg_progress();
        if (!ft_msg_done(&q->r))
            return 0;
    }
    ft_outcome_note_flag();
    return 1;
}

/* A request of the host's. Its result is noted, since others may learn of it. */
static int test_foreign(MPI_Request *request, int *flag, MPI_Status *status)
{
    ft_door();
    switch (ft_outcome_flag()) {
    case FT_OUTCOME_KNOWN: *flag = 1; return ft_request_wait_foreign(request, status);
    case FT_OUTCOME_NONE: *flag = 0; return MPI_SUCCESS;
    case FT_OUTCOME_OPEN: break;
    }
    ft_msg_progress();
    MPI_Request was = *request;
    int code = HOST(Test)(request, flag, status);
    ft_request_host_left(was, *request);
    if (code == MPI_SUCCESS && *flag)
        ft_outcome_note_flag();
    return code;
}

FT_MPI(int, Test, (MPI_Request * request, int *flag, MPI_Status *status))
{
    enum ft_request_state state = ft_request_state(*request);

    if (state == FT_REQUEST_FOREIGN)
        return ft_mpi_up ? test_foreign(request, flag, status) : HOST(Test)(request, flag, status);
    ft_door();
    *flag = state == FT_REQUEST_IDLE || test_one(ft_request_of(*request));
    ft_outcome_polled(*flag);
    return *flag ? complete_or_raise(request, status, "MPI_Test") : MPI_SUCCESS;
}

FT_MPI(int, Request_free, (MPI_Request * request))
{
    struct ft_request *q = ft_request_of(*request);

    if (FT_UNLIKELY(!q && !ft_mpi_up))
        return HOST(Request_free)(request);
    ft_door();
    if (!q) {
        MPI_Request was = *request;
        int code = HOST(Request_free)(request);
        ft_request_host_left(was, *request);
        return code;
    }
    if (q->active && !ft_msg_done(&q->r)) {
        ft_request_orphan(q);
    } else if (q->active || q->persistent) { /* the others are the shared ones */
        if (q->active)
            ft_request_settle(q);
        ft_request_put(q);
    }
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

/* As test_foreign, but does not free the request. */
static int look_at_foreign(MPI_Request request, int *flag, MPI_Status *status)
{
    struct ft_waiter w = FT_WAITER_UNRUNG;
    int code;

    ft_door();
    enum ft_outcome was = ft_outcome_flag();
    ft_msg_progress();
    *flag = 0;
    if (was == FT_OUTCOME_NONE)
        return MPI_SUCCESS;
    while ((code = HOST(Request_get_status)(request, flag, status)) == MPI_SUCCESS && !*flag &&
           was == FT_OUTCOME_KNOWN) {
        ft_msg_progress();
        ft_wait(&w);
    }
    ft_wait_end(&w);
    if (was == FT_OUTCOME_OPEN && code == MPI_SUCCESS && *flag)
        ft_outcome_note_flag();
    return code;
}

FT_MPI(int, Request_get_status, (MPI_Request request, int *flag, MPI_Status *status))
{
    struct ft_request *q = ft_request_of(request);

    if (!q)
        return ft_mpi_up && request != MPI_REQUEST_NULL
                   ? look_at_foreign(request, flag, status)
                   : HOST(Request_get_status)(request, flag, status);
    ft_door();
    *flag = ft_request_state(request) == FT_REQUEST_IDLE || test_one(q);
    ft_outcome_polled(*flag);
    if (*flag && q->active) {
        status_of(q, status);
        deliver(q); /* the program may use it now, and need not complete the request */
    } else if (*flag) {
        idle_status(request, status);
    }
    return MPI_SUCCESS;
}

/* A success names the receive, because a replacement must not give it a message that came later
 * (ft_msg_irecv). */
static void cancel(struct ft_request *q)
{
    struct ft_waiter w = FT_WAITER_UNRUNG;
    int end;

    while (ft_replay == FT_REPLAY && !ft_msg_done(&q->r) && !q->r.entry) {
        if (!ft_homelog_outcome(&end) && !end)
            return; /* too late: the message is there, or will come */
        if (!end) {
            ft_msg_cancel(&q->r);
            return;
        }
        /* Too late as well, unless the lost process did not come to this call: then there is
         * nothing left to repeat. */
        ft_msg_progress();
        if (!ft_msg_done(&q->r))
            ft_wait(&w);
    }
    ft_wait_end(&w);
    if (ft_msg_done(&q->r) || q->r.entry)
        return;
    ft_msg_note_cancel(&q->r);
    ft_msg_cancel(&q->r);
}

FT_MPI(int, Cancel, (MPI_Request * request))
{
    struct ft_request *q = ft_request_of(*request);

    if (!q)
        return HOST(Cancel)(request);
    ft_door();
    if (q->active && q->is_recv && !q->sched)
        cancel(q);
    return MPI_SUCCESS;
}
