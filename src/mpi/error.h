/* SPDX-License-Identifier: BSD-3-Clause
 *
 * error.h - how an error reaches the program, or ends the job.
 */
#ifndef FT_MPI_ERROR_H
#define FT_MPI_ERROR_H

#include "mpi/host.h"

/* Raises `code` on comm's error handler for the call "MPI_X" and returns it; MPI_ERRORS_ARE_FATAL
 * ends the job, naming call and class. MPI_COMM_NULL stands for MPI_COMM_WORLD. */
int ft_error(MPI_Comm comm, int code, const char *call);
/* Ends a call under MPI_ERRORS_ARE_FATAL, whatever the object is (windows use it too). */
_Noreturn void ft_error_fatal(int code, const char *call);
/* Called by calls of class `refuse` in calls.def. */
_Noreturn void ft_refuse(const char *call);
int ft_mpi_error(enum ft_status st);
static inline int ft_mpi_code(enum ft_status st)
{
    return FT_LIKELY(st == FT_OK) ? MPI_SUCCESS : ft_mpi_error(st);
}
/* Between these two the host only returns errors: to ask it whether it knows something. Not
 * nested. */
void ft_quiet_begin(void);
void ft_quiet_end(void);

#endif
