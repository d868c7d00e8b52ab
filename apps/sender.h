/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sender.h - how a kernel's messages leave it: by MPI, or by somebody who logs them first.
 */
#ifndef APPS_SENDER_H
#define APPS_SENDER_H

#include <mpi.h>
#include <stddef.h>

/* To be a member of what the function needs to know. req: if not NULL, as MPI_Isend does it, and
 * MPI_REQUEST_NULL if there is nothing to wait for; else as MPI_Send. In MPI_COMM_WORLD. */
struct sender {
    void (*send)(struct sender *s, const double *data, int count, int dest, int tag,
                 MPI_Request *req);
};

/* s: NULL for MPI itself. */
static inline void send_doubles(struct sender *s, const double *data, int count, int dest, int tag,
                                MPI_Request *req)
{
    if (s)
        s->send(s, data, count, dest, tag, req);
    else if (req)
        MPI_Isend(data, count, MPI_DOUBLE, dest, tag, MPI_COMM_WORLD, req);
    else
        MPI_Send(data, count, MPI_DOUBLE, dest, tag, MPI_COMM_WORLD);
}

#endif
