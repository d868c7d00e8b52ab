/* SPDX-License-Identifier: BSD-3-Clause
 *
 * fortran.h - for the few Fortran calls that Open MPI's own Fortran layer does not simply hand to the C interface.
 */
#ifndef FT_MPI_FORTRAN_H
#define FT_MPI_FORTRAN_H

#include "mpi/mpi_internal.h"

/* name_ is what compilers call, pname_ the profiling form, ompi_name_f what the mpi_f08 module calls. */
#define FT_FORTRAN(name, params)                                                                                                 \
    FT_EXPORT void mpi_##name##_ params;                                                                                         \
    extern __typeof__(mpi_##name##_) pmpi_##name##_ __attribute__((alias("mpi_" #name "_"), visibility("default")));             \
    extern __typeof__(mpi_##name##_) ompi_##name##_f __attribute__((alias("mpi_" #name "_"), visibility("default")));            \
    void mpi_##name##_ params
#define HOST_FORTRAN(name) (*(__typeof__(&mpi_##name##_))ft_host_symbol("ompi_" #name "_f"))

#endif
