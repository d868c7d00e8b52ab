/* SPDX-License-Identifier: BSD-3-Clause
 *
 * scratch.c - buffers that are reused: a call that is left by longjmp loses none, and the fast
 * paths allocate nothing.
 */
#include <stdlib.h>

#include "base/private.h"
#include "mpi/mpi_internal.h"

struct kept_buffer {
    void *p;
    size_t bytes;
};
FT_STATIC(__typeof__(struct kept_buffer[FT_SCRATCH_USES]), buffers);
#define buffers FT_MY(buffers)

void *ft_scratch(enum ft_scratch_use use, size_t bytes)
{
    FT_ASSERT((unsigned)use < FT_SCRATCH_USES);
    if (FT_UNLIKELY(buffers[use].bytes < bytes || !buffers[use].p)) {
        size_t want =
            ft_align_up(ft_max_u64(bytes, buffers[use].bytes + buffers[use].bytes / 2), 4096) +
            4096;
        ft_private_disclaim(buffers[use].p);
        free(buffers[use].p);
        buffers[use].bytes = 0;
        buffers[use].p = aligned_alloc(FT_CACHE_LINE, want);
        if (!buffers[use].p)
            ft_error_fatal(MPI_ERR_NO_MEM, "a temporary buffer");
        buffers[use].bytes = want;
        if (want >= FT_PRIVATE_LEAST)
            ft_private_claim(buffers[use].p, want);
    }
    return buffers[use].p;
}
