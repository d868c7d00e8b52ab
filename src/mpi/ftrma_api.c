/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ftrma_api.c - the library's own calls (include/ftrma.h).
 */
#define FTRMA_BUILDING
#include "ftrma.h"

#include "mpi/request.h"
#include "mpi/win.h"

FT_EXPORT int FTRMA_Protect(void *addr, size_t bytes)
{
    if (!ft_mpi_up)
        return MPI_ERR_OTHER;
    enum ft_status st = ft_runtime_protect(addr, bytes);
    if (st == FT_OK && !ft_runtime_in_body())
        ft_runtime_prepare();
    return ft_mpi_code(st);
}

FT_EXPORT int FTRMA_Unprotect(const void *addr, size_t bytes)
{
    return ft_mpi_up ? ft_mpi_code(ft_runtime_unprotect(addr, bytes)) : MPI_ERR_OTHER;
}

static int run(FTRMA_Body *body, void *arg, int stays)
{
    if (!ft_mpi_up || !ft_main_thread)
        return MPI_ERR_OTHER;
    ft_enter(); /* calls inside body pass doors of their own */
    ft_pass_door();
    ft_win_before_body();
    enum ft_status st = ft_runtime_run(body, arg, stays);
    ft_leave();
    return st == FT_ERR_ARG ? MPI_ERR_OTHER : ft_mpi_code(st); /* called a second time */
}

FT_EXPORT int FTRMA_Run(FTRMA_Body *body, void *arg) { return run(body, arg, 0); }

FT_EXPORT int FTRMA_Run_local(FTRMA_Body *body, void *arg) { return run(body, arg, 1); }

FT_EXPORT int FTRMA_Replaced(int *ranks, int *versions, int max)
{
    return ft_mpi_up ? ft_runtime_replaced(ranks, versions, max) : 0;
}

FT_EXPORT int FTRMA_Handle_losses(void)
{
    return ft_runtime_handles_losses() == FT_OK ? MPI_SUCCESS : MPI_ERR_OTHER;
}

FT_EXPORT int FTRMA_Safepoint(void)
{
    if (FT_UNLIKELY(ft_runtime_threads && !ft_main_thread))
        return MPI_ERR_OTHER;
    if (FT_LIKELY(ft_mpi_up)) {
        ft_door_unattended();
        ft_request_reap_freed(); /* those that are over do not prevent a checkpoint */
        ft_runtime_safepoint();
    }
    return MPI_SUCCESS;
}
