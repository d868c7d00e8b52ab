/* SPDX-License-Identifier: BSD-3-Clause
 *
 * error.c - errors reach the program through the handler of the object that they concern.
 * MPI_ERRORS_ARE_FATAL ends the job by the runtime's own abort, because the host's would be taken
 * for a failure.
 */
#include <stdio.h>

#include "alog/homelog.h"
#include "coll/coll.h"
#include "mpi/mpi_internal.h"

_Noreturn void ft_error_fatal(int code, const char *call)
{
    char text[MPI_MAX_ERROR_STRING] = "unknown error", message[MPI_MAX_ERROR_STRING + 128];
    int len, class = MPI_ERR_OTHER;

    HOST(Error_string)(code, text, &len);
    HOST(Error_class)(code, &class);
    snprintf(message, sizeof message, "%s: %s (MPI_ERRORS_ARE_FATAL)", call, text);
    if (ft_coll_unexpected &&
        (class == MPI_ERR_TRUNCATE ||
         ft_replay != FT_LIVE)) /* the lost process had not ended the job here */
        ft_coll_unexpected(message);
    ft_runtime_abort(class > 0 && class < FT_EXIT_LOST ? class : 1, message);
}

static const MPI_Comm raised_on[] = {MPI_COMM_WORLD, MPI_COMM_SELF};
FT_STATIC(__typeof__(MPI_Errhandler[2]), set_aside);
#define set_aside FT_MY(set_aside)

void ft_quiet_begin(void)
{
    for (size_t i = 0; i < FT_COUNTOF(raised_on); i++) {
        HOST(Comm_get_errhandler)(raised_on[i], &set_aside[i]);
        HOST(Comm_set_errhandler)(raised_on[i], MPI_ERRORS_RETURN);
    }
}

void ft_quiet_end(void)
{
    for (size_t i = 0; i < FT_COUNTOF(raised_on); i++) {
        HOST(Comm_set_errhandler)(raised_on[i], set_aside[i]);
        HOST(Errhandler_free)(&set_aside[i]);
    }
}

int ft_error(MPI_Comm comm, int code, const char *call)
{
    MPI_Errhandler handler = MPI_ERRORS_ARE_FATAL;

    FT_ASSERT(code != MPI_SUCCESS);
    if (!ft_comm_of(comm))
        comm = MPI_COMM_WORLD;
    /* [A callback of the dup of comm gets an error on comm itself.] */
    struct ft_comm *c = ft_comm_of(comm);
    int silent = c && ft_comm_end_silence(c);
    if (HOST(Comm_get_errhandler)(comm, &handler) != MPI_SUCCESS || handler == MPI_ERRORS_ARE_FATAL)
        ft_error_fatal(code, call);
    HOST(Errhandler_free)(&handler);
    HOST(Comm_call_errhandler)(comm, code);
    if (silent)
        ft_comm_silence(c);
    return code;
}

_Noreturn void ft_refuse(const char *call)
{
    char message[256];

    snprintf(message, sizeof message,
             "%s is not supported yet. ftrma ends the job, since a recovery could give a wrong "
             "result after this call",
             call);
    ft_runtime_abort(1, message);
}

int ft_mpi_error(enum ft_status st)
{
    switch (st) {
    case FT_OK: return MPI_SUCCESS;
    case FT_ERR_NOMEM: return MPI_ERR_NO_MEM;
    case FT_ERR_ARG: return MPI_ERR_ARG;
    case FT_ERR_RANGE: return MPI_ERR_RMA_RANGE;
    case FT_ERR_TRUNC: return MPI_ERR_TRUNCATE;
    case FT_ERR_SYS:
    case FT_ERR_DEAD:
    case FT_ERR_AGAIN: return MPI_ERR_OTHER;
    }
    return MPI_ERR_OTHER;
}

FT_MPI(int, Comm_call_errhandler, (MPI_Comm comm, int errorcode))
{
    if (!ft_comm_of(comm) || errorcode == MPI_SUCCESS)
        return HOST(Comm_call_errhandler)(comm, errorcode);
    ft_error(comm, errorcode, "MPI_Comm_call_errhandler");
    return MPI_SUCCESS;
}
