/* SPDX-License-Identifier: BSD-3-Clause
 *
 * version.h - versions of images and codewords. Coordinated checkpoints have versions 1, 2 ... An
 * image that a rank takes alone after checkpoint v has a number n, and the generation g in which it
 * was asked for: its version is g << 52 | n << 32 | v. A later image of a rank has a larger
 * version.
 */
#ifndef FT_BASE_VERSION_H
#define FT_BASE_VERSION_H

#include "base/base.h"

#define FT_VERSION_BASE(v) ((v)&0xffffffffull)
#define FT_VERSION_ALONE(v) ((v) >> 32) /* 0: coordinated */
#define FT_VERSION_NUMBER(v) ((v) >> 32 & 0xfffff)
#define FT_VERSION_GENERATION(v) ((uint32_t)((v) >> 52))
#define FT_VERSION_MAKE(base, generation, n) \
    ((base) | (uint64_t)(1 + ((n)-1) % 0xfffff) << 32 | (uint64_t)(generation) << 52)

/* The later one of two versions of a rank's image, or of its codeword. */
static inline uint64_t ft_version_later(uint64_t a, uint64_t b)
{
    if (FT_VERSION_BASE(a) != FT_VERSION_BASE(b))
        return FT_VERSION_BASE(a) > FT_VERSION_BASE(b) ? a : b;
    return ft_max_u64(a, b);
}

/* Eras of messages. */
#define FT_ERA_SETUP 0u
/* FT_ERA_FIRST begins after the first checkpoint. A rollback in generation g begins era
 * FT_ERA_FIRST + g. */
#define FT_ERA_FIRST 1u
#define FT_ERA_POST 0xffffu /* after FTRMA_Run; there are fewer slots, and so generations */

/* The n-th message record, or chunk, of a channel in an era (alog/chan_record.h). */
#define FT_SEQ_BITS 48 /* of n: more than a year of short messages */
#define FT_SEQ(era, n) (((uint64_t)(era) << FT_SEQ_BITS) | (n))
#define FT_SEQ_ERA(seq) ((uint32_t)((seq) >> FT_SEQ_BITS))
#define FT_SEQ_NUMBER(seq) ((seq) & (FT_SEQ(1, 0) - 1))
_Static_assert(FT_ERA_POST == FT_SEQ_ERA(UINT64_MAX), "all eras fit");

#endif
