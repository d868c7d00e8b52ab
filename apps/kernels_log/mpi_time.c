/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mpi_time.c - the time in MPI that the messages of npb_cg and lulesh take, by MPI's profiling
 * interface, so that the kernels need not know of it. A program that is linked with this file calls
 * these functions, and they call the library's.
 */
#include "rescue.h"

#include <time.h>

static double spent; /* the profiling interface hands nothing on */

double rescue_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double rescue_mpi_seconds(void) { return spent; }

static int since(double began, int error)
{
    spent += rescue_now() - began;
    return error;
}

int MPI_Send(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    double began = rescue_now();
    return since(began, PMPI_Send(buf, count, type, dest, tag, comm));
}

int MPI_Isend(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
              MPI_Request *req)
{
    double began = rescue_now();
    return since(began, PMPI_Isend(buf, count, type, dest, tag, comm, req));
}

int MPI_Irecv(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Request *req)
{
    double began = rescue_now();
    return since(began, PMPI_Irecv(buf, count, type, source, tag, comm, req));
}

int MPI_Wait(MPI_Request *req, MPI_Status *status)
{
    double began = rescue_now();
    return since(began, PMPI_Wait(req, status));
}

int MPI_Waitall(int count, MPI_Request reqs[], MPI_Status statuses[])
{
    double began = rescue_now();
    return since(began, PMPI_Waitall(count, reqs, statuses));
}
