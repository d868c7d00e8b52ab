/* SPDX-License-Identifier: BSD-3-Clause
 *
 * comm_table.h - the table of communicators, as far as only those that make and end them need it.
 */
#ifndef FT_MPI_COMM_TABLE_H
#define FT_MPI_COMM_TABLE_H

#include "mpi/mpi_internal.h"

enum { FT_CTX_WORLD = 0, FT_CTX_SELF = 1, FT_CTX_FIRST = 2 };

/* MPI_COMM_WORLD and MPI_COMM_SELF; 0 when there is no memory. */
int ft_comm_table_init(void);
/* A new communicator with one reference, its handle's; world is copied. NULL when there is no memory. */
struct ft_comm *ft_comm_register(MPI_Comm handle, uint32_t id, int size, const int *world);
/* The handle is gone; what still refers to the communicator keeps it. */
void ft_comm_forget_handle(struct ft_comm *c);
/* After a rollback: those made inside body. */
void ft_comm_forget_body(void);
/* After the end: the host's handles are the host's again. */
void ft_comm_forget_all(void);

#endif
