/* SPDX-License-Identifier: BSD-3-Clause
 *
 * lane.h - a lane: frames from one endpoint (src/ftt) to another, in the sender's memory.
 *
 *   +------+--------+------+-----
 *   | mark | record | mark | ...       a ring of FT_LANE_BYTES; records are whole cache lines
 *   +------+--------+------+-----
 *
 * The sender clears the mark after a record before it stores the record's own, and some marks after
 * that one beforehand: then those lines are here when it needs them. A sender that dies leaves
 * complete records only. The reader says in its own memory how far it has read. A lane is from one
 * slot to one slot, which the same two processes have as long as the job lives: it never
 * begins again. [Rank q is replaced, and the lane to it begins at 0 again, while somebody still
 * copies from it what was for the old carrier.]
 */
#ifndef FT_TRANSPORT_LANE_H
#define FT_TRANSPORT_LANE_H

#include "base/base.h"

#ifndef FT_LANE_BYTES
#define FT_LANE_BYTES (128u << 10)
#define FT_LANE_ALIGNED FT_ALIGNED_LINE
#else /* the simulator has lanes of three records, and copies its states to any place */
#define FT_LANE_ALIGNED _Alignas(uint64_t)
#endif
#define FT_LANE_DATA (16u << 10) /* of one record, at most */

struct ft_lane_record {          /* with a head and 8 bytes of the program it fills a cache line */
    _Atomic uint32_t mark;       /* by its position; 0: not there yet */
    uint32_t bytes;              /* of data; FT_LANE_SKIP: the ring goes on at its begin */
    uint32_t generation, number; /* of struct ft_txn_frame, like these */
    uint32_t acks; /* the number of an acknowledgement that comes before it; 0: none */
    uint8_t kind, item, asks;
    uint8_t urgent; /* to be acknowledged at once */
    uint64_t id;
    unsigned char data[];
};
_Static_assert(sizeof(struct ft_lane_record) == 32, "a short message is one line");
#define FT_LANE_SKIP UINT32_MAX
struct ft_lane {
    FT_LANE_ALIGNED unsigned char ring[FT_LANE_BYTES];
};

static inline uint32_t ft_lane_mark(uint64_t at) { return (uint32_t)(at >> 6) << 1 | 1; }
static inline struct ft_lane_record *ft_lane_at(struct ft_lane *l, uint64_t at)
{
    return (struct ft_lane_record *)(void *)(l->ring + at % FT_LANE_BYTES);
}
static inline uint64_t ft_lane_bytes(uint32_t data)
{
    return ft_align_up(sizeof(struct ft_lane_record) + data, FT_CACHE_LINE);
}

/* Sender: where it is. */
struct ft_lane_at {
    uint64_t at, clear; /* marks from `at` to `clear` are 0, and to be written next */
};
void ft_lane_begin(struct ft_lane *l); /* before anybody reads it; then struct ft_lane_at is 0 */
/* Sender: appends a record with this head, whose mark does not matter, and head->bytes of data.
 * taken: how far the reader has come. Returns 0 if there is no room yet. */
int ft_lane_write(struct ft_lane *l, struct ft_lane_at *w, uint64_t taken,
                  const struct ft_lane_record *head, const void *data);
/* Reader: the record at *at, or NULL: there is none yet. It stays until *at is moved beyond it
 * (ft_lane_bytes), and that is said. */
struct ft_lane_record *ft_lane_read(struct ft_lane *l, uint64_t *at);

#endif
