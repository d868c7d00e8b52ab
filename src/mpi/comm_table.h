/* SPDX-License-Identifier: BSD-3-Clause
 *
 * comm_table.h - the table of communicators: functions for those who make and free them.
 */
#ifndef FT_MPI_COMM_TABLE_H
#define FT_MPI_COMM_TABLE_H

#include "mpi/mpi_internal.h"

/* NONE: not known yet. */
enum { FT_CTX_WORLD = 0, FT_CTX_SELF = 1, FT_CTX_FIRST = 2, FT_CTX_NONE = 0x7fffffff };

/* Makes MPI_COMM_WORLD and MPI_COMM_SELF. Returns 0 when there is no memory. */
int ft_comm_table_init(void);
/* The members of a communicator, as world ranks. An intercommunicator has a remote group too
 * (nremote > 0). This process is in local. */
struct ft_members {
    int nlocal;
    const int *local;
    int nremote;
    const int *remote;
};
/* Makes a communicator with one reference, its handle's; copies m. NULL when there is no memory. */
struct ft_comm *ft_comm_register(MPI_Comm handle, uint32_t id, const struct ft_members *m);
/* The handle was freed; other references keep the communicator. */
void ft_comm_forget_handle(struct ft_comm *c);
/* After a rollback: forgets communicators made inside body. */
void ft_comm_forget_body(void);
/* After the end: the host's handles belong to the host again. */
void ft_comm_forget_all(void);

/* ---- comm.c ---- */
/* The last step of every creation but a duplication: all is agreed, and nothing waits any more. The
 * new communicator has no attributes, parent's error handler, and the topology (the reference
 * passes to it, or is dropped on an error). */
int ft_comm_create(const struct ft_comm *parent, uint32_t id, const struct ft_members *m,
                   struct ft_topo *topo, MPI_Comm *newcomm, const char *call);

#endif
