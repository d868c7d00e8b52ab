/* SPDX-License-Identifier: BSD-3-Clause
 *
 * alloc_mem.c - MPI_Alloc_mem and MPI_Free_mem (MPI-3.1, 8.2): pages at addresses that a
 * replacement gets again (transport/seen.h). Local calls, from any thread.
 */
#include "mpi/mpi_internal.h"
#include "rma/rma.h"

FT_MPI(int, Alloc_mem, (MPI_Aint size, MPI_Info info, void *baseptr))
{
    if (!ft_mpi_up)
        return HOST(Alloc_mem)(size, info, baseptr);
    FT_CHECK(size >= 0 && baseptr, MPI_COMM_WORLD, MPI_ERR_ARG, "MPI_Alloc_mem");
    void *p = size ? ft_rma_memory((size_t)size, ft_runtime_in_body()) : NULL;
    FT_CHECK(p || !size, MPI_COMM_WORLD, MPI_ERR_NO_MEM, "MPI_Alloc_mem");
    *(void **)baseptr = p;
    return MPI_SUCCESS;
}

FT_MPI(int, Free_mem, (void *base))
{
    if (!base || ft_rma_memory_free(base))
        return MPI_SUCCESS;
    if (ft_mpi_up)
        FT_CHECK(!ft_rma_gave(base), MPI_COMM_WORLD, MPI_ERR_BASE, "MPI_Free_mem");
    return HOST(Free_mem)(base); /* allocated before MPI_Init */
}
