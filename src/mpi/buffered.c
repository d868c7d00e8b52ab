/* SPDX-License-Identifier: BSD-3-Clause
 *
 * buffered.c - buffered mode (MPI-3.1, 3.4, 3.6). A message goes to the log at once, and so it has
 * left the buffer. Only at the log limit it waits, in memory of the library. So the attached buffer
 * itself is never written, and whether a message fits depends on its size alone, not on timing: a
 * replay gets the same answer.
 */
#include <string.h>

#include "base/offheap.h"
#include "mpi/request.h"

struct attached_buffer {
    void *addr; /* valid if attached */
    int bytes, attached;
};
FT_STATIC(struct attached_buffer, now);
/* The buffer that body found, if body has changed it (touched). */
FT_STATIC(struct attached_buffer, at_entry);
FT_STATIC(int, touched);
#define now FT_MY(now)
#define at_entry FT_MY(at_entry)
#define touched FT_MY(touched)

static void set_buffer(struct attached_buffer b)
{
    if (ft_runtime_in_body() && !touched) {
        at_entry = now;
        touched = 1;
    }
    now = b;
}

void ft_buffer_reset(int over)
{
    if (touched && !over)
        now = at_entry;
    touched = 0;
}

/* The copy from which the message is sent may be freed only when all of it is in the log. */
static int keep_until_sent(struct ft_request *q)
{
    if (!q->packed) {
        void *copy = ft_offheap_try(q->r.len);
        if (!copy) {
            ft_msg_wait(&q->r);
            return 0;
        }
        memcpy(copy, q->r.buf, q->r.len);
        q->packed = q->r.buf = copy;
    }
    ft_request_orphan(q);
    return 1;
}

int ft_send_away(struct ft_comm *c, const void *buf, int count, const struct ft_type *t, int dest,
                 int tag)
{
    struct ft_request *q = ft_request_make(c, 0, (void *)(uintptr_t)buf, count, t, dest, tag);
    if (!q)
        return MPI_ERR_NO_MEM;
    q->mode = FT_SEND_BUFFERED;
    if (ft_request_start(q, t) != FT_OK) {
        ft_request_put(q);
        return MPI_ERR_NO_MEM;
    }
    if (!ft_msg_done(&q->r) && keep_until_sent(q))
        return MPI_SUCCESS;
    ft_request_settle(q);
    ft_request_put(q);
    return MPI_SUCCESS;
}

int ft_bsend(struct ft_comm *c, const void *buf, int count, const struct ft_type *t, int dest,
             int tag)
{
    if (!now.attached || (size_t)count * t->size + MPI_BSEND_OVERHEAD > (size_t)now.bytes)
        return MPI_ERR_BUFFER;
    return ft_send_away(c, buf, count, t, dest, tag);
}

static int bsend(struct ft_comm *c, const void *buf, int count, MPI_Datatype type, int dest,
                 int tag, const char *call)
{
    struct ft_type store;
    const struct ft_type *t = ft_type_of(type, &store);
    int code = ft_check_send(c, count, t, dest, tag);

    if (!code && dest != MPI_PROC_NULL)
        code = ft_bsend(c, buf, count, t, dest, tag);
    return code ? ft_error(c->handle, code, call) : MPI_SUCCESS;
}

FT_MPI(int, Bsend,
       (const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm))
{
    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Bsend, (buf, count, type, dest, tag, comm));
    return bsend(c, buf, count, type, dest, tag, "MPI_Bsend");
}

FT_MPI(int, Ibsend,
       (const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
        MPI_Request *request))
{
    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Ibsend, (buf, count, type, dest, tag, comm, request));
    int code = bsend(c, buf, count, type, dest, tag, "MPI_Ibsend");
    if (code == MPI_SUCCESS)
        *request = FT_REQUEST_DONE;
    return code;
}

FT_MPI(int, Buffer_attach, (void *buffer, int size))
{
    if (!ft_mpi_up)
        return HOST(Buffer_attach)(buffer, size);
    FT_CHECK(size >= 0 && (buffer || !size), MPI_COMM_WORLD, MPI_ERR_ARG, "MPI_Buffer_attach");
    FT_CHECK(!now.attached, MPI_COMM_WORLD, MPI_ERR_BUFFER, "MPI_Buffer_attach");
    set_buffer((struct attached_buffer){buffer, size, 1});
    return MPI_SUCCESS;
}

FT_MPI(int, Buffer_detach, (void *buffer, int *size))
{
    if (!ft_mpi_up)
        return HOST(Buffer_detach)(buffer, size);
    ft_door();
    FT_CHECK(buffer && size, MPI_COMM_WORLD, MPI_ERR_ARG, "MPI_Buffer_detach");
    FT_CHECK(now.attached, MPI_COMM_WORLD, MPI_ERR_BUFFER, "MPI_Buffer_detach");
    ft_request_await_sends(1);
    memcpy(buffer, &now.addr, sizeof now.addr);
    *size = now.bytes;
    set_buffer((struct attached_buffer){NULL, 0, 0});
    return MPI_SUCCESS;
}
