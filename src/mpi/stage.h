/* SPDX-License-Identifier: BSD-3-Clause
 *
 * stage.h - the engine moves contiguous bytes. A buffer of a contiguous type is passed to it
 * directly, any other one through scratch memory.
 */
#ifndef FT_MPI_STAGE_H
#define FT_MPI_STAGE_H

#include "mpi/mpi_internal.h"

static inline const void *ft_stage_out(const struct ft_type *t, const void *buf, size_t count,
                                       enum ft_scratch_use use)
{
    if (FT_LIKELY(t->contiguous))
        return buf;
    void *bytes = ft_scratch(use, count * t->size);
    ft_pack(t, buf, count, bytes);
    return bytes;
}

static inline void *ft_stage_in(const struct ft_type *t, void *buf, size_t count,
                                enum ft_scratch_use use)
{
    return FT_LIKELY(t->contiguous) ? buf : ft_scratch(use, count * t->size);
}

static inline void ft_stage_in_done(const struct ft_type *t, const void *data, size_t bytes,
                                    void *buf)
{
    if (FT_UNLIKELY(!t->contiguous))
        ft_unpack(t, data, bytes, buf);
}

#endif
