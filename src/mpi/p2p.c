/* SPDX-License-Identifier: BSD-3-Clause
 *
 * p2p.c - blocking point-to-point calls (MPI-3.1, 3.2, 3.4, 3.10). A standard send returns as soon
 * as the message is in the log, so a ready send is the same; a synchronous send returns when it is
 * matched. MPI_PROC_NULL gives an empty message from and to nobody.
 */
#include <string.h>

#include "mpi/request.h"
#include "mpi/stage.h"

FT_STATE(int, ft_tag_ub) = 32767;

static inline int send(struct ft_comm *c, const void *buf, int count, MPI_Datatype type, int dest,
                       int tag,
                       void (*by)(uint32_t ctx, int dst, int tag, const void *buf, size_t len),
                       const char *call)
{
    struct ft_type store;
    const struct ft_type *t = ft_type_of(type, &store);
    int code = ft_check_send(c, count, t, dest, tag);

    if (FT_UNLIKELY(code))
        return ft_error(c->handle, code, call);
    if (FT_UNLIKELY(dest == MPI_PROC_NULL))
        return MPI_SUCCESS;
    by(c->ctx.id, c->ctx.world[dest], tag, ft_stage_out(t, buf, (size_t)count, FT_SCRATCH_SEND),
       (size_t)count * t->size);
    return MPI_SUCCESS;
}

#define SEND(X, engine)                                                                       \
    FT_MPI(int, X,                                                                            \
           (const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)) \
    {                                                                                         \
        ft_door();                                                                            \
        struct ft_comm *c = ft_comm_of(comm);                                                 \
        FT_COMM_OR_HOST(c, comm, X, (buf, count, type, dest, tag, comm));                     \
        return send(c, buf, count, type, dest, tag, engine, "MPI_" #X);                       \
    }
SEND(Send, ft_msg_send)
SEND(Rsend, ft_msg_send)
SEND(Ssend, ft_msg_ssend)

/* The end of every blocking receive; s describes what came into `data`. */
static inline int received(struct ft_comm *c, const struct ft_type *t, void *data, void *buf,
                           int source, const struct ft_msg_status *s, MPI_Status *status,
                           const char *call)
{
    ft_stage_in_done(t, data, s->bytes, buf);
    ft_status_set(status, ft_came_from(c, source, s->source), s->tag, s->bytes, 0);
    return FT_LIKELY(s->error == FT_OK) ? MPI_SUCCESS : ft_error(c->handle, MPI_ERR_TRUNCATE, call);
}

FT_MPI(int, Recv,
       (void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
        MPI_Status *status))
{
    struct ft_type store;
    struct ft_msg_status s;
    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Recv, (buf, count, type, source, tag, comm, status));
    const struct ft_type *t = ft_type_of(type, &store);
    int code = ft_check_recv(c, count, t, source, tag);

    FT_CHECK(!code, comm, code, "MPI_Recv");
    if (FT_UNLIKELY(source == MPI_PROC_NULL)) {
        ft_status_set(status, MPI_PROC_NULL, MPI_ANY_TAG, 0, 0);
        return MPI_SUCCESS;
    }
    void *data = ft_stage_in(t, buf, (size_t)count, FT_SCRATCH_RECV);
    ft_msg_recv(c->ctx.id, ft_world_source(c, source), ft_engine_tag(tag), data,
                (size_t)count * t->size, &s);
    return received(c, t, data, buf, source, &s, status, "MPI_Recv");
}

/* Both halves of an exchange, with checked arguments. Either peer may be MPI_PROC_NULL. out is
 * contiguous. */
static int exchange(struct ft_comm *c, const void *out, size_t bytes, int dest, int sendtag,
                    void *buf, int count, const struct ft_type *t, int source, int recvtag,
                    MPI_Status *status, const char *call)
{
    struct ft_req r = {0};
    void *data = NULL;

    if (source != MPI_PROC_NULL) {
        data = ft_stage_in(t, buf, (size_t)count, FT_SCRATCH_RECV);
        ft_msg_irecv(&r, c->ctx.id, ft_world_source(c, source), ft_engine_tag(recvtag), data,
                     (size_t)count * t->size);
    }
    if (dest != MPI_PROC_NULL)
        ft_msg_send(c->ctx.id, c->ctx.world[dest], sendtag, out, bytes);
    if (source == MPI_PROC_NULL) {
        ft_status_set(status, MPI_PROC_NULL, MPI_ANY_TAG, 0, 0);
        return MPI_SUCCESS;
    }
    ft_msg_wait(&r);
    return received(c, t, data, buf, source, &r.status, status, call);
}

FT_MPI(int, Sendrecv,
       (const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
        void *recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
        MPI_Status *status))
{
    struct ft_type sstore, rstore;
    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Sendrecv,
                    (sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype,
                     source, recvtag, comm, status));
    const struct ft_type *st = ft_type_of(sendtype, &sstore), *rt = ft_type_of(recvtype, &rstore);
    int code = ft_check_send(c, sendcount, st, dest, sendtag);

    if (!code)
        code = ft_check_recv(c, recvcount, rt, source, recvtag);
    FT_CHECK(!code, comm, code, "MPI_Sendrecv");
    const void *out = ft_stage_out(st, sendbuf, (size_t)sendcount, FT_SCRATCH_SEND);
    return exchange(c, out, (size_t)sendcount * st->size, dest, sendtag, recvbuf, recvcount, rt,
                    source, recvtag, status, "MPI_Sendrecv");
}

FT_MPI(int, Sendrecv_replace,
       (void *buf, int count, MPI_Datatype type, int dest, int sendtag, int source, int recvtag,
        MPI_Comm comm, MPI_Status *status))
{
    struct ft_type store;
    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Sendrecv_replace,
                    (buf, count, type, dest, sendtag, source, recvtag, comm, status));
    const struct ft_type *t = ft_type_of(type, &store);
    int code = ft_check_send(c, count, t, dest, sendtag);

    if (!code)
        code = ft_check_recv(c, count, t, source, recvtag);
    FT_CHECK(!code, comm, code, "MPI_Sendrecv_replace");
    size_t bytes = (size_t)count * t->size;
    void *out = ft_scratch(FT_SCRATCH_SEND, bytes);
    ft_pack(t, buf, (size_t)count, out);
    return exchange(c, out, bytes, dest, sendtag, buf, count, t, source, recvtag, status,
                    "MPI_Sendrecv_replace");
}
