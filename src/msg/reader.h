/* SPDX-License-Identifier: BSD-3-Clause
 *
 * reader.h - the reader's state of a channel, and of the messages on it.
 */
#ifndef FT_MSG_READER_H
#define FT_MSG_READER_H

#include "alog/chan.h"
#include "msg/msg.h"

/* A message of which at least the first record was seen, and that is not completely received. While
 * req is NULL it is unexpected (unless a matched probe has taken it), and its data stays in the
 * sender's log. If it is from before a cut, or the sender has no room, what has come is in `flat`,
 * and the rest will be copied there, too. */
struct ft_inmsg {
    uint64_t seq; /* of its first record */
    uint32_t ctx;
    int tag;
    size_t total, scanned, copied; /* scanned: bytes whose records the reader has passed; copied:
                                      those of them that were copied out of the log */
    uint64_t upto;      /* records below are in these bytes; a replaced sender may repeat them */
    struct ft_rec *rec; /* first record; NULL while a replacement has not repeated it */
    struct ft_chunk *chunk; /* the chunk that holds rec */
    uint64_t chunk_index;
    char *flat;
    struct ft_req *req;
    uint8_t taken, sync; /* sync: its sender waits for the match */
    uint8_t far;         /* all of it is in the sender's memory, or in `flat` */
    struct ft_inmsg *next, *prev;
};

struct ft_reqlist {
    struct ft_req *head, *tail;
};
#define FT_TAGGED 4096 /* lists of receives with source and tag: posted.h */

/* A record that was passed: it is compared when a replaced sender repeats it (R0), and so is the
 * hash. */
#define FT_HEARD 16 /* the newest records of each channel */
struct ft_heard {
    uint64_t seq;               /* 1 + its number; 0: none */
    uint64_t hash, total, data; /* data: its first 8 bytes, with FTRMA_CHECK=data */
    uint32_t ctx;
    int32_t tag;
    uint32_t here, flags;
};

struct ft_reader {
    int rank, slot;
    char *base;              /* of the sender's arena */
    struct ft_chan_hdr *hdr; /* NULL: it has not opened a channel to us */
    struct ft_chunk *chunk;
    char *pos;    /* next record; NULL: the era's first chunk is not there yet */
    uint64_t seq; /* of the next record */
    /* records below were seen from a former carrier: their messages are known or consumed */
    uint64_t seen;
    uint64_t hash;      /* of all records of this era (R0) */
    uint64_t before;    /* the same before the message to which the next record belongs */
    uint64_t seen_hash; /* of what the former carrier had said, up to `seen` */
    struct ft_heard heard[FT_HEARD]; /* record n in [n % FT_HEARD] */
    int differs;              /* it was reported that the present carrier says something else */
    struct ft_inmsg *current; /* the message that the next record belongs to */
    int skipping;             /* the next record belongs to a message that was consumed before */
    struct ft_inmsg *head, *tail; /* in order of sending */
    int nposted;                  /* receives from this rank that wait */
    struct ft_reqlist any_tag;    /* those of them with any tag, in order */
    uint64_t released;            /* what the present carrier was told */
    /* offset in the own arena of the list of say_unmatched (channels.c); 0: none */
    uint64_t unmatched;
    /* not 0: not located yet since ft_msg_resume; seq is to be found after the sender's cut of this
     * version */
    uint64_t resume_version;
};

#endif
