/* SPDX-License-Identifier: BSD-3-Clause
 *
 * link_counts.h - what the gateway of a node has handed to the wire for another node, and how long
 * accesses took. A part of the node's board. The gateway alone writes counts, mains add to the
 * times, anyone reads.
 */
#ifndef FT_BASE_LINK_COUNTS_H
#define FT_BASE_LINK_COUNTS_H

#include <stdatomic.h>
#include <stdint.h>

/* What an item is about. In the order of ft_link_names. */
enum ft_link_kind {
    FT_LINK_MESSAGES, /* records of channels and lanes, and what readers say about them */
    FT_LINK_ACCESSES, /* to windows, and their answers */
    FT_LINK_IMAGES,   /* pieces of images and codewords, and who asks for them */
    FT_LINK_VOTES,    /* mails about who has failed (agree) */
    FT_LINK_ORDERS,   /* mails about checkpoints and rollbacks (order) */
    FT_LINK_MAILS,    /* other mails */
    FT_LINK_WORDS,    /* words that others read, arrivals and ends of processes */
    FT_LINK_KINDS
};

/* Sums over timed accesses from this node to one other, of ns in each stage: until the own gateway
 * has taken it; on the way there and back; at the other gateway, until it is applied; until main
 * has seen the answer. In the order of ft_link_stage_names. */
enum ft_link_stage {
    FT_LINK_HAND_OVER,
    FT_LINK_WIRE,
    FT_LINK_APPLY,
    FT_LINK_ANSWER,
    FT_LINK_STAGES
};

/* To one node. A frame that is sent again over a new connection is counted once. Bytes are those of
 * frames, without the heads that the wire and the network add. */
struct ft_link_counts {
    _Atomic uint64_t frames;
    struct ft_link_count {
        _Atomic uint64_t items, bytes;
    } of[FT_LINK_KINDS];
    _Atomic uint64_t timed, stage_ns[FT_LINK_STAGES];
};

extern const char *const ft_link_names[FT_LINK_KINDS], *const ft_link_stage_names[FT_LINK_STAGES];

#endif
