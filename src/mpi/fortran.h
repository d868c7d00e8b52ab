/* SPDX-License-Identifier: BSD-3-Clause
 *
 * fortran.h - for those Fortran calls that Open MPI's Fortran layer does not simply pass to the C
 * interface.
 */
#ifndef FT_MPI_FORTRAN_H
#define FT_MPI_FORTRAN_H

#include "mpi/mpi_internal.h"

/* Compilers call name_, pname_ is the profiling form, and the mpi_f08 module calls ompi_name_f. */
#define FT_FORTRAN(name, params) FT_FORTRAN_OF(mpi, name, params)
/* The same with the prefix mpix. */
#define FT_FORTRAN_OF(mpi, name, params)                                   \
    FT_EXPORT void mpi##_##name##_ params;                                 \
    extern __typeof__(mpi##_##name##_) p##mpi##_##name##_                  \
        __attribute__((alias(#mpi "_" #name "_"), visibility("default"))); \
    extern __typeof__(mpi##_##name##_) o##mpi##_##name##_f                 \
        __attribute__((alias(#mpi "_" #name "_"), visibility("default"))); \
    void mpi##_##name##_ params
#define HOST_FORTRAN(name) HOST_FORTRAN_OF(mpi, name)
#define HOST_FORTRAN_OF(mpi, name) \
    (*(__typeof__(&mpi##_##name##_))ft_host_symbol("o" #mpi "_" #name "_f"))

#endif
