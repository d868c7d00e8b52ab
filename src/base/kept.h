/* SPDX-License-Identifier: BSD-3-Clause
 *
 * kept.h - the files that ranks write for ftrun in a rehearsal. They hold the contents of a rank's
 * memory at the end, and the failpoints that it has passed. The setting FTRMA_REHEARSAL names the
 * directory.
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
/* A block of memory up to this size has 8 bytes, and its word is these bytes. A larger one has 4
 * KiB, and its word is a hash of them. */
#define FT_KEPT_SMALL (64u << 10)

struct ft_kept_head {
    uint64_t magic;
    /* a window, else protected memory; index: its number among those of its kind */
    uint32_t window, index;
    uint64_t bytes;
};

/* Hits of each failpoint, counted twice: until the first checkpoint inside body was taken (without
 * checkpoints: until body began; without body: until MPI_Init returned), and until the end of body
 * (without body: until MPI_Finalize). */
struct ft_kept_hits {
    uint64_t from[FT_FP_COUNT], to[FT_FP_COUNT];
    uint64_t in_body; /* FTRMA_Run was called */
    uint64_t stays;   /* FTRMA_Run_local was called: there is no rollback to rehearse */
};

static inline uint64_t ft_kept_block(uint64_t bytes) { return bytes <= FT_KEPT_SMALL ? 8 : 4096; }
static inline uint64_t ft_kept_blocks(uint64_t bytes)
{
    return (bytes + ft_kept_block(bytes) - 1) / ft_kept_block(bytes);
}

/* The word of a block of n bytes. */
uint64_t ft_kept_word(const void *data, size_t n);

#endif
