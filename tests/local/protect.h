/* SPDX-License-Identifier: BSD-3-Clause
 *
 * protect.h - local.h for programs that call FTRMA_Run, unless --plain is given.
 */
#ifndef PROTECT_H
#define PROTECT_H

#include "ftrma.h"

#include "local.h"

static inline void protect(void *p, size_t bytes)
{
    if (!opt.plain)
        CHECK(FTRMA_Protect(p, bytes) == MPI_SUCCESS);
}

/* Body writes it before it reads it. */
static inline void unprotect(const void *p, size_t bytes)
{
    if (!opt.plain)
        CHECK(FTRMA_Unprotect(p, bytes) == MPI_SUCCESS);
}

static inline void run(FTRMA_Body *body, void *arg)
{
    if (opt.plain)
        body(arg);
    else
        CHECK(FTRMA_Run(body, arg) == MPI_SUCCESS);
}

static inline void safepoint(void)
{
    if (!opt.plain)
        CHECK(FTRMA_Safepoint() == MPI_SUCCESS);
}

/* A window of this many words, all 0, on comm; nobody accesses it before all have it. */
static inline uint64_t *window(size_t words, MPI_Comm comm, MPI_Win *win)
{
    uint64_t *mem;
    if (opt.create) {
        mem = room(words * 8);
        MPI_Win_create(mem, (MPI_Aint)(words * 8), 8, MPI_INFO_NULL, comm, win);
    } else {
        MPI_Win_allocate((MPI_Aint)(words * 8), 8, MPI_INFO_NULL, comm, &mem, win);
        memset(mem, 0, words * 8);
    }
    MPI_Barrier(comm);
    return mem;
}

static inline void window_free(uint64_t *mem, MPI_Win *win)
{
    MPI_Win_free(win);
    if (opt.create)
        free(mem);
}

#endif
