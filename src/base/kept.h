/* SPDX-License-Identifier: BSD-3-Clause
 *
 * kept.h - the files in which ranks keep for ftrun, in a rehearsal, what their memory holds at the
 * end and which failpoints they have passed. The directory is the setting FTRMA_REHEARSAL.
 *
 *   DIR/memory.R.0   rank R at the end of FTRMA_Run: protected memory, then windows
 *   DIR/memory.R.K   its K-th window that was freed, in a program without FTRMA_Run or without
 *                    checkpoints
 *   DIR/hits.R       struct ft_kept_hits, of a run without a death
 *
 * A memory file is a sequence of regions: a struct ft_kept_head, then a word for each block.
 */
#ifndef FT_BASE_KEPT_H
#define FT_BASE_KEPT_H

#include "base/base.h"
#include "base/failpoint.h"

#define FT_KEPT_MAGIC 0x317470656b7466ull
#define FT_KEPT_SMALL                                                                            \
    (64u << 10) /* up to this size a block has 8 bytes, and its word is these; else 4 KiB, and a \
                   hash of them */

struct ft_kept_head {
    uint64_t magic;
    uint32_t window, index; /* a window, or else protected memory; the index-th of its kind */
    uint64_t bytes;
};

/* Hits of each failpoint: when the first checkpoint inside body had been taken (without one: when
 * body began; without body: when MPI_Init returned), and at the end of body (MPI_Finalize). */
struct ft_kept_hits {
    uint64_t from[FT_FP_COUNT], to[FT_FP_COUNT];
    uint64_t in_body; /* FTRMA_Run was called */
    uint64_t stays;   /* FTRMA_Run_local: there is no rollback to rehearse */
};

static inline uint64_t ft_kept_block(uint64_t bytes) { return bytes <= FT_KEPT_SMALL ? 8 : 4096; }
static inline uint64_t ft_kept_blocks(uint64_t bytes)
{
    return (bytes + ft_kept_block(bytes) - 1) / ft_kept_block(bytes);
}

/* The word of n bytes, at most a block. */
uint64_t ft_kept_word(const void *data, size_t n);

#endif
