/* SPDX-License-Identifier: BSD-3-Clause
 *
 * parcel.h - what an endpoint keeps of events, of what is outstanding, and of what is published; and
 * what an item says to the endpoint at which it arrives.
 */
#ifndef FT_FTT_PARCEL_H
#define FT_FTT_PARCEL_H

#include "base/base.h"

#define FTRMA_BUILDING
#include "ftrma_transport.h"

/* A block of memory: an event, or an item that is outstanding. */
struct ft_parcel {
    struct ft_parcel *next;
    uint32_t size_class, bytes;
    FTT_Event ev;
    /* an item */
    uint64_t id;
    int32_t to;
    uint32_t incarnation;      /* of what it is about */
    uint8_t kind, ack;         /* enum ft_txn_kind; the program wants to know */
    uint8_t acked, ended;      /* a header: it is free when both are set */
    struct ft_wanting *fetch;    /* a header of a fetch */
    /* what travels: struct ft_head, then data */
    FT_ALIGNED_LINE unsigned char data[];
};
enum ft_what { /* what an item is about */
    FT_WHAT_PROGRAM = 1, FT_WHAT_FETCH, FT_WHAT_PUT, FT_WHAT_GET, FT_WHAT_ROUND,
    FT_WHAT_DATA,  /* the answer to a fetch: data follows */
    FT_WHAT_THERE, /* it is in the memory that the header named, or cannot be had (status) */
    FT_WHAT_CLOSED, /* the answer of a process in FTT_Close */
    /* between nodes */
    FT_WHAT_PIECE, /* a piece of what is asked for: struct ft_far_piece and data */
    FT_WHAT_CAME,  /* the answer after all pieces */
    FT_WHAT_STORE, /* a piece of a put: struct ft_reach and data */
    FT_WHAT_STORED, FT_WHAT_LOAD /* headers: struct ft_reach */
};
struct ft_head {
    uint8_t what, status, pad[2]; /* status: enum FTT_Status, of answers */
    /* PUT, GET: of the owner of the memory; PIECE: of who has asked */
    uint32_t tag, incarnation, pad2;
    uint64_t bytes; /* PUT, GET, answers to fetches: how many */
};
#define FT_PIECE_BYTES 16000u
struct ft_far_piece {
    uint64_t id, at; /* id: of the header */
};
struct ft_reach { /* where in a process's memory */
    FTT_Buffer memory;
    uint64_t offset, bytes;
};

struct ft_wanting { /* begun here: a fetch, or a copy from or to another node */
    struct ft_wanting *next;
    uint64_t id;
    void *to;
    uint64_t bytes, bounce; /* offset in the own arena; 0: none */
    int waits, done, status;
    uint64_t there;
};
struct ft_wish { /* the data of a FETCH: then the name */
    uint64_t at, bytes; /* offset in the asker's arena; 0: send it, in pieces if it is long */
    FTT_Part part;      /* item 0: all of it */
    uint32_t name_bytes;
    char name[FTT_NAME_MAX + 1];
};
struct ft_waiting { /* came, and is not published yet */
    struct ft_waiting *next;
    int from;
    uint32_t incarnation;
    uint64_t id;
    struct ft_wish wish;
};
struct ft_shelf {
    struct ft_shelf *next;
    const char *addr;
    size_t bytes;
    uint32_t hash;
    char name[FTT_NAME_MAX + 1];
};
struct ft_pinger {
    struct ft_pinger *next;
    uint64_t id;
    int rank;
    uint32_t incarnation;
    FTT_Death *fn;
    void *arg;
};

#endif
