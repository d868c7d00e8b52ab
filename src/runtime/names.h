/* SPDX-License-Identifier: BSD-3-Clause
 *
 * names.h - the environment variables by which programs and libraries learn who they are
 * (OMPI_COMM_WORLD_RANK and similar). mpirun sets them to the slot and the number of slots.
 * Programs, and the processes that they start, must find the rank and the number of ranks there;
 * only the host must find its own values, inside its MPI_Init.
 *
 *   loaded    names that hold the host's values: sizes become the number of ranks; ranks that of
 *             this process, if that is known already. Checksum processes and spares are numbered
 *             after the ranks
 *   host      MPI_Init: the host's values are put back
 *   program   the host's MPI_Init is over: the values from before it are put back
 *   given     this process carries a rank: names that hold what was put there say so. Others are
 *             the program's own, and stay
 *
 * Values are exchanged in place, in `environ`. Nothing is allocated, except for one variable that
 * passes the host's values to processes that this one starts or becomes. [A shell starts the
 * program: the library was loaded into the shell.] Main only. Called before there are other
 * threads, except for `given`, which changes the environment as setenv would.
 */
#ifndef FT_RUNTIME_NAMES_H
#define FT_RUNTIME_NAMES_H

#include "base/board.h"

/* The slot for which mpirun has started this process; -1: it was not started by mpirun. */
int ft_names_slot(void);
/* b: the job's board, in ftrun's jobs. */
void ft_names_loaded(const struct ft_board *b, int slot);
void ft_names_host(void);
void ft_names_program(void);
/* Reports it if the program has asked for its rank before it was known, and got another answer. */
void ft_names_given(int rank, int nranks);

#endif
