/* SPDX-License-Identifier: BSD-3-Clause
 *
 * fortran.h - for the few Fortran calls that Open MPI's own Fortran layer does not simply hand to
 * the C interface.
 */
#ifndef FT_MPI_FORTRAN_H
#define FT_MPI_FORTRAN_H

#include "mpi/mpi_internal.h"

/* name_ is what compilers call, pname_ the profiling form, ompi_name_f what the mpi_f08 module
 * calls. */
#define FT_FORTRAN(name, params) FT_FORTRAN_OF(mpi, name, params)
/* The same with another beginning of the name, mpix. */
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
