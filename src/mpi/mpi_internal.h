/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mpi_internal.h - what most files of this room include.
 *
 * Main only, for the entire room. A call that waits may be left by longjmp (transport/wait.h). So
 * what it needs is kept in ft_scratch or in the pool of requests, never in memory that only its
 * stack refers to.
 */
#ifndef FT_MPI_MPI_INTERNAL_H
#define FT_MPI_MPI_INTERNAL_H

#include "mpi/comm.h"
#include "mpi/datatype.h"
#include "mpi/error.h"
#include "mpi/host.h"
#include "mpi/request_pool.h"
#include "mpi/scratch.h"

/* ---- file.c ---- */
void ft_file_reset(void);
int ft_file_is_shared(MPI_File fh); /* other ranks have it open, too */
void ft_file_end_splits(void);      /* before all go back */

#endif
