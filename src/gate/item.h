/* SPDX-License-Identifier: BSD-3-Clause
 *
 * item.h - what gateways say to each other: a frame consists of items. from and to are slots. Those
 * of a channel or lane are its writer and its reader, whoever sends the item.
 */
#ifndef FT_GATE_ITEM_H
#define FT_GATE_ITEM_H

#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

enum ft_item_kind {
    FT_ITEM_CHUNK = 1, /* MSG. of: its first record, begin, hash; at: its number; number: bytes */
    FT_ITEM_RECORDS,   /* MSG. at: bytes from the chunk's begin; number: of the first; data */
    FT_ITEM_WANTS,     /* MSG. at: the writer wants a chunk and has none, 1 or 0 */
    FT_ITEM_ASKS,      /* MSG. number: all records before it have come before this */
    FT_ITEM_CLOSED,    /* MSG and OPS. The process `from` has ended, and has sent no more; its
                          testament */
    FT_ITEM_RELEASED,  /* CONTROL. at: as in struct ft_ctl_peer */
    FT_ITEM_MATCHED,   /* CONTROL. number: of the synchronous message's first record */
    FT_ITEM_PLACED,    /* CONTROL. number: as in ASKS */
    FT_ITEM_STUCK,     /* CONTROL. number: as in struct ft_chan_hdr */
    FT_ITEM_SEEN,      /* CONTROL. at: as in struct ft_ctl_peer; data: the unmatched ones */
    FT_ITEM_MAIL,      /* CONTROL. data */
    FT_ITEM_ARRIVED,   /* CONTROL. The process `from` is there */
    FT_ITEM_WORDS,     /* CONTROL. data: struct ft_words of the process `from` */
    FT_ITEM_FOLD,      /* BULK. A piece of a sum of images, to which `to` is to be added next: fetch.c */
    FT_ITEM_PIECE,     /* BULK. The sum for entry `number` of `to`, which was asked for with the
                          serial of[0]; of[1]: bytes of the longest image; data. at 0: it cannot be
                          had, and there is no data */
    FT_ITEM_LANE,       /* OPS. at: of the record in its lane; data: the record */
    FT_ITEM_LANE_TAKEN, /* CONTROL. at: bytes of the lane that its reader has taken */
    FT_ITEM_ACCESS, /* OPS. number: its entry in the ring of process `from`; at, of: accesses.c */
    FT_ITEM_ANSWER  /* OPS. To the ACCESS of this number. at: enum ft_status */
};

struct ft_item {
    uint16_t kind, pad;
    int32_t from, to;
    uint32_t bytes; /* of what follows, before it is filled up to a multiple of 8 */
    uint64_t at, number;
    uint64_t of[3];
};

static inline size_t ft_item_size(uint32_t bytes)
{
    return sizeof(struct ft_item) + ft_align_up(bytes, 8);
}

#endif
