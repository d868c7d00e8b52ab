/* SPDX-License-Identifier: BSD-3-Clause
 *
 * matched.c - matched probes and receives (MPI-3.1, 3.8.2, 3.8.3). The message is found, and its
 * outcome noted, as by MPI_Probe and MPI_Iprobe (probe.c); then it is taken out of the queue. A
 * taken message has a handle of the pool of requests, and counts as an active request: no image is
 * taken while the program holds one.
 */
#include "mpi/outcome.h"
#include "mpi/request.h"

/* Takes the message that a probe has just found. */
static int take(struct ft_comm *c, int source, int tag, const struct ft_msg_status *s,
                MPI_Message *message, MPI_Status *status, const char *call)
{
    struct ft_request *q = ft_request_get();

    if (!q)
        return ft_error(c->handle, MPI_ERR_NO_MEM, call);
    q->comm = c;
    c->refs++;
    q->peer = ft_came_from(c, source, s->source);
    q->tag = s->tag;
    ft_msg_active++;
    q->taken = ft_msg_take(c->ctx.id, s->source, ft_engine_tag(tag));
    ft_status_set(status, q->peer, s->tag, s->bytes, 0);
    *message = (MPI_Message)(void *)q;
    return MPI_SUCCESS;
}

static int nobody(MPI_Message *message, MPI_Status *status)
{
    ft_status_set(status, MPI_PROC_NULL, MPI_ANY_TAG, 0, 0);
    *message = MPI_MESSAGE_NO_PROC;
    return MPI_SUCCESS;
}

FT_MPI(int, Mprobe, (int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status))
{
    struct ft_msg_status s;
    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Mprobe, (source, tag, comm, message, status));
    int code = ft_check_source(c, source, tag);

    FT_CHECK(!code, comm, code, "MPI_Mprobe");
    if (source == MPI_PROC_NULL)
        return nobody(message, status);
    ft_msg_probe(c->ctx.id, ft_world_source(c, source), ft_engine_tag(tag), &s);
    return take(c, source, tag, &s, message, status, "MPI_Mprobe");
}

FT_MPI(int, Improbe,
       (int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status))
{
    struct ft_msg_status s;
    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Improbe, (source, tag, comm, flag, message, status));
    int code = ft_check_source(c, source, tag);

    FT_CHECK(!code, comm, code, "MPI_Improbe");
    *flag = 1;
    if (source == MPI_PROC_NULL)
        return nobody(message, status);
    *flag = ft_iprobe(c, source, tag, &s);
    ft_outcome_polled(*flag);
    if (*flag)
        return take(c, source, tag, &s, message, status, "MPI_Improbe");
    *message = MPI_MESSAGE_NULL;
    return MPI_SUCCESS;
}

/* The receive of a taken message is a request that takes over its handle. NULL: see *code. */
static struct ft_request *receive(MPI_Message *message, void *buf, int count,
                                  const struct ft_type *t, int *code)
{
    struct ft_request *m = ft_message_of(*message);

    *code = !m || !m->taken ? MPI_ERR_REQUEST
            : count < 0     ? MPI_ERR_COUNT
            : !t            ? MPI_ERR_TYPE
                            : MPI_SUCCESS;
    if (*code)
        return NULL;
    struct ft_request *q = ft_request_make(m->comm, 1, buf, count, t, m->peer, m->tag);
    if (!q || ft_request_start_taken(q, t, m->taken) != FT_OK) {
        if (q)
            ft_request_put(q);
        *code = MPI_ERR_NO_MEM;
        return NULL;
    }
    ft_msg_active--; /* the one of the message */
    m->taken = NULL;
    ft_request_put(m);
    *message = MPI_MESSAGE_NULL;
    return q;
}

static MPI_Comm comm_of(MPI_Message message)
{
    struct ft_request *m = ft_message_of(message);
    return m && m->comm ? m->comm->handle : MPI_COMM_WORLD;
}

FT_MPI(int, Mrecv,
       (void *buf, int count, MPI_Datatype type, MPI_Message *message, MPI_Status *status))
{
    struct ft_type store;
    int code;

    if (!ft_mpi_up)
        return HOST(Mrecv)(buf, count, type, message, status);
    ft_door();
    if (*message == MPI_MESSAGE_NO_PROC) {
        nobody(message, status);
        *message = MPI_MESSAGE_NULL;
        return MPI_SUCCESS;
    }
    MPI_Comm comm = comm_of(*message);
    struct ft_request *q = receive(message, buf, count, ft_type_of(type, &store), &code);
    if (!q)
        return ft_error(comm, code, "MPI_Mrecv");
    MPI_Request h = (MPI_Request)(void *)q;
    ft_request_await(h);
    code = ft_request_complete(&h, status, NULL);
    return code ? ft_error(comm, code, "MPI_Mrecv") : MPI_SUCCESS;
}

FT_MPI(int, Imrecv,
       (void *buf, int count, MPI_Datatype type, MPI_Message *message, MPI_Request *request))
{
    struct ft_type store;
    int code;

    if (!ft_mpi_up)
        return HOST(Imrecv)(buf, count, type, message, request);
    ft_door();
    if (*message == MPI_MESSAGE_NO_PROC) {
        *message = MPI_MESSAGE_NULL;
        *request = FT_REQUEST_NULL_RECV;
        return MPI_SUCCESS;
    }
    MPI_Comm comm = comm_of(*message);
    struct ft_request *q = receive(message, buf, count, ft_type_of(type, &store), &code);
    if (!q)
        return ft_error(comm, code, "MPI_Imrecv");
    *request = (MPI_Request)(void *)q;
    return MPI_SUCCESS;
}
