/* SPDX-License-Identifier: BSD-3-Clause
 *
 * icoll_stage.h - packs data for a collective and unpacks its results, at once or as steps of a
 * schedule (icoll.h). stage.h does the same without schedules.
 */
#ifndef FT_MPI_ICOLL_STAGE_H
#define FT_MPI_ICOLL_STAGE_H

#include "coll/sched.h"
#include "mpi/mpi_internal.h"

/* Memory that holds data meanwhile. */
static inline void *ft_stage_memory(struct ft_sched *s, enum ft_scratch_use use, size_t bytes)
{
    return s ? ft_sched_memory(s, bytes) : ft_scratch(use, bytes);
}
void ft_stage_pack_step(struct ft_sched *s, const struct ft_type *t, const void *buf, size_t count,
                        void *out);
void ft_stage_unpack_step(struct ft_sched *s, const struct ft_type *t, const void *in, size_t bytes,
                          void *buf);
static inline void ft_stage_pack(struct ft_sched *s, const struct ft_type *t, const void *buf,
                                 size_t count, void *out)
{
    if (s)
        ft_stage_pack_step(s, t, buf, count, out);
    else
        ft_pack(t, buf, count, out);
}
/* For what has arrived: call it after ft_stage_arrived. */
static inline void ft_stage_unpack(struct ft_sched *s, const struct ft_type *t, const void *in,
                                   size_t bytes, void *buf)
{
    if (s)
        ft_stage_unpack_step(s, t, in, bytes, buf);
    else
        ft_unpack(t, in, bytes, buf);
}
static inline void ft_stage_arrived(struct ft_sched *s)
{
    if (s)
        ft_sched_round(s);
}
/* As ft_stage_out and ft_stage_in of stage.h. */
static inline const void *ft_stage_coll_out(struct ft_sched *s, const struct ft_type *t,
                                            const void *buf, size_t count, enum ft_scratch_use use)
{
    if (FT_LIKELY(t->contiguous))
        return buf;
    void *bytes = ft_stage_memory(s, use, count * t->size);
    ft_stage_pack(s, t, buf, count, bytes);
    return bytes;
}
static inline void *ft_stage_coll_in(struct ft_sched *s, const struct ft_type *t, void *buf,
                                     size_t count, enum ft_scratch_use use)
{
    return FT_LIKELY(t->contiguous) ? buf : ft_stage_memory(s, use, count * t->size);
}
static inline void ft_stage_coll_done(struct ft_sched *s, const struct ft_type *t, const void *data,
                                      size_t bytes, void *buf)
{
    if (FT_LIKELY(t->contiguous))
        return;
    ft_stage_arrived(s);
    ft_stage_unpack(s, t, data, bytes, buf);
}

#endif
