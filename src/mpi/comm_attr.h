/* SPDX-License-Identifier: BSD-3-Clause
 *
 * comm_attr.h - what comm_attr.c knows of keyvals and attributes, for its Fortran side. Main only.
 */
#ifndef FT_MPI_COMM_ATTR_H
#define FT_MPI_COMM_ATTR_H

#include "mpi/mpi_internal.h"

struct ft_keyval {
    int id;
    /* Copies the attribute from MPI_COMM_WORLD, if it is set there and fn agrees. Returns an MPI
     * code. */
    int (*copy)(const struct ft_keyval *keyval, MPI_Comm to);
    void (*fn)(void); /* the program's copy function, in the form that `copy` calls */
    void *extra;
};
int ft_attr_note_keyval(struct ft_keyval keyval); /* registers a new keyval; returns an MPI code */
/* the host has been told to set it; returns an MPI code */
int ft_attr_note_set(MPI_Comm comm, int keyval);
MPI_Comm ft_attr_home(MPI_Comm comm, int keyval); /* the communicator on which the host keeps it */
/* Whether this is the attribute that says whether the clock is the same in all processes. It is
 * about the library's clock (ft_runtime_clock_is_global), whatever the host's is. */
static inline int ft_attr_is_global_clock(int keyval)
{
    return ft_mpi_up && keyval == MPI_WTIME_IS_GLOBAL;
}

#endif
