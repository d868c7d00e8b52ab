/* SPDX-License-Identifier: BSD-3-Clause
 *
 * lane.h - a lane: frames from one endpoint to another, in the sender's memory.
 *
 *   +------+--------+------+-----
 *   | mark | record | mark | ...       a ring of FT_LANE_BYTES; records are whole cache lines
 *   +------+--------+------+-----
 *
 * The sender clears the mark after a record before it stores the record's own. A sender that dies
 * leaves complete records only. The reader says in its own memory how far it has read. A lane is
 * for one incarnation of the reader: for its replacement the sender begins at 0 again, and then
 * says so in `reader`.
 */
#ifndef FT_FTT_LANE_H
#define FT_FTT_LANE_H

#include "base/base.h"
#include "proto/txn.h"

#define FT_LANE_BYTES (128u << 10)
#define FT_LANE_DATA (16u << 10) /* of one record, at most */

struct ft_lane_record {
    _Atomic uint32_t mark; /* by its position; 0: not there yet */
    uint32_t bytes;        /* of data; FT_LANE_SKIP: the ring goes on at its begin */
    struct ft_txn_frame frame;
    unsigned char data[];
};
#define FT_LANE_SKIP UINT32_MAX
struct ft_lane {
    FT_ALIGNED_LINE _Atomic uint32_t reader; /* 1 + its incarnation; 0: nobody's */
    FT_ALIGNED_LINE unsigned char ring[FT_LANE_BYTES];
};

/* How far a reader has come, as it says: the sender's incarnation, then bytes. */
static inline uint64_t ft_lane_taken(uint32_t sender, uint64_t at)
{
    return (uint64_t)(sender & 0xffff) << 48 | (at & 0xffffffffffffull);
}

static inline uint32_t ft_lane_mark(uint64_t at) { return (uint32_t)(at >> 6) << 1 | 1; }
static inline struct ft_lane_record *ft_lane_at(struct ft_lane *l, uint64_t at)
{
    return (struct ft_lane_record *)(void *)(l->ring + at % FT_LANE_BYTES);
}

/* Sender: begins for this incarnation of the reader. */
void ft_lane_begin(struct ft_lane *l, uint32_t reader);
/* Sender: appends at *at, and moves it; `taken` is how far the reader has come. Returns 0 if there
 * is no room yet. */
int ft_lane_write(struct ft_lane *l, uint64_t *at, uint64_t taken, const struct ft_txn_frame *f,
                  const void *data, uint32_t bytes);
/* Reader: the record at *at, or NULL: there is none yet. It stays until *at is moved beyond it
 * (ft_lane_after), and that is said. */
struct ft_lane_record *ft_lane_read(struct ft_lane *l, uint64_t *at, uint32_t self);
static inline uint64_t ft_lane_bytes(uint32_t data)
{
    return ft_align_up(sizeof(struct ft_lane_record) + data, FT_CACHE_LINE);
}

#endif
