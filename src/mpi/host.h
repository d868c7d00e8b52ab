/* SPDX-License-Identifier: BSD-3-Clause
 *
 * host.h - the host's functions, and the functions that replace them. Only this room sees mpi.h.
 *
 * A call that the library takes over is written FT_MPI(int, Send, (...)) { ... }. This defines
 * MPI_Send and, as an alias, PMPI_Send, because the host's Fortran layer calls the latter. The
 * host's own function is HOST(Send)(...). A handle that the library does not know is passed to the
 * host unchanged: one of the host's inner handles, or any handle before MPI_Init.
 */
#ifndef FT_MPI_HOST_H
#define FT_MPI_HOST_H

/* The library takes over the deprecated calls, too. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#include <mpi.h>

#include "base/base.h"
#include "base/engine.h"
#include "base/failpoint.h"
#include "runtime/runtime.h"

void *ft_host_symbol(const char *name);
#define FT_HOST_CALL(name)                                  \
    (*({                                                    \
        static __typeof__(&name) fn_;                       \
        if (FT_UNLIKELY(!fn_))                              \
            fn_ = (__typeof__(&name))ft_host_symbol(#name); \
        fn_;                                                \
    }))
#define FT_TAKE_OVER(ret, name, alias_name, params)                                          \
    FT_EXPORT ret name params;                                                               \
    extern __typeof__(name) alias_name __attribute__((alias(#name), visibility("default"))); \
    ret name params
#define HOST(X) FT_HOST_CALL(PMPI_##X)
#define FT_MPI(ret, X, params) FT_TAKE_OVER(ret, MPI_##X, PMPI_##X, params)

/* ---- init.c ---- */
/* 1 between the runtime's start and its finalize */
extern FT_STATE(int, ft_mpi_up);
#define ft_mpi_up FT_MY(ft_mpi_up)
/* 1 in the thread that called MPI_Init */
extern _Thread_local int ft_main_thread;
/* All went back to a checkpoint: drops open requests, and forgets communicators made inside body. A
 * callback of the runtime. */
void ft_mpi_reset(int over);

#endif
