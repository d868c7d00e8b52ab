/* SPDX-License-Identifier: BSD-3-Clause
 *
 * scratch.h - temporary memory: one buffer for each purpose, which is reused.
 */
#ifndef FT_MPI_SCRATCH_H
#define FT_MPI_SCRATCH_H

#include "mpi/host.h"

enum ft_scratch_use {
    FT_SCRATCH_SEND,
    FT_SCRATCH_RECV,
    FT_SCRATCH_REDUCE_IN,
    FT_SCRATCH_REDUCE_OUT,
    FT_SCRATCH_PIECE,
    /* for a moment; usable also where a nonblocking collective goes on in the middle of another
     * call */
    FT_SCRATCH_ELEMENT,
    FT_SCRATCH_WAIT,
    FT_SCRATCH_SOFFS,
    FT_SCRATCH_SLENS,
    FT_SCRATCH_ROFFS,
    FT_SCRATCH_RLENS,
    FT_SCRATCH_COMM,
    FT_SCRATCH_VIEW, /* of an intercommunicator's collective */
    FT_SCRATCH_WIN,
    FT_SCRATCH_USES
};
/* The result is valid until the next call for the same purpose. Never NULL: lack of memory ends the
 * job. */
void *ft_scratch(enum ft_scratch_use use, size_t bytes);

#endif
