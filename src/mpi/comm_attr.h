/* SPDX-License-Identifier: BSD-3-Clause
 *
 * comm_attr.h - what comm_attr.c knows of keyvals and attributes, for its Fortran side. Main only,
 * like all calls of MPI.
 */
#ifndef FT_MPI_COMM_ATTR_H
#define FT_MPI_COMM_ATTR_H

#include "mpi/mpi_internal.h"

struct ft_keyval {
    int id;
    /* Copies the attribute from MPI_COMM_WORLD, if it is set there and fn says so. A code of MPI.
     */
    int (*copy)(const struct ft_keyval *keyval, MPI_Comm to);
    void (*fn)(void); /* the program's copy function, in the form that copy knows */
    void *extra;
};
int ft_attr_note_keyval(struct ft_keyval keyval); /* a new one. A code of MPI */
int ft_attr_note_set(MPI_Comm comm, int keyval);  /* the host was told to set it. A code of MPI */
MPI_Comm ft_attr_home(MPI_Comm comm, int keyval); /* on which communicator the host keeps it */
/* The attribute says whether the clock is the same in all processes. The library's is
 * (ft_runtime_clock), whatever the host's may be. */
static inline int ft_attr_is_global_clock(int keyval)
{
    return ft_mpi_up && keyval == MPI_WTIME_IS_GLOBAL;
}

#endif
