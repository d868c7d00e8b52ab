/* SPDX-License-Identifier: BSD-3-Clause
 *
 * act.h - the contents of home logs and put logs: actions, and the chunks that hold them.
 */
#ifndef FT_ALOG_ACT_H
#define FT_ALOG_ACT_H

#include "base/base.h"
#include "base/hole.h"

/* The most bytes of data in one action. Longer data goes in pieces. */
#define FT_ACT_MAX (64ull << 10)

enum ft_act_kind {
    FT_ACT_NONE, /* in no log */
    FT_ACT_PUT,  /* put log: its data is written at off. Home log: never */
    FT_ACT_GET,  /* home log: data is what a get has read */
    /* home log: combining operation number `count` (ACC; 0: it changed nothing) at target. stamp:
     * its T. data: the result if FT_ACT_RESULT; lo and the value left there if FT_ACT_LEFT */
    FT_ACT_ATOMIC,
    FT_ACT_LOCK,   /* home log: lock granted; off: 1 exclusive */
    FT_ACT_UNLOCK, /* home log: the lock is about to be released */
    /* home log: the epoch to target (-1: all) is closed; data: the stamps of its puts
     * (rma/putlog.h). FT_ACT_ONE: it had one put; stamp is its stamp, count its lo, data its
     * hashes */
    FT_ACT_CLOSE,
    FT_ACT_WILD, /* home log: wildcard receive or probe number `count` came from rank target */
    /* home log: the outcome of a Test, Waitany, Iprobe ...; data: its words. where ==
     * FT_ACT_CANCELLED: of a Cancel, for the receive that was posted in call `off` as number
     * `count` */
    FT_ACT_OUTCOME,
    FT_ACT_TIME,    /* home log: data is what a clock read */
    FT_ACT_ADVANCE, /* home log: round `count` of the nonblocking collective with context `win` and
                       tag `where` is about to send */
    FT_ACT_ATTACH,  /* home log: memory at address off, data: its size, was attached to a dynamic
                       window (where 1) or detached (0) */
    /* home log: the sender of a synchronous message was told that it is matched by a receive posted
     * in call `off` */
    FT_ACT_REACHED,
    /* home log of setup, where setups are compared (F7): a communicator or window was made; win:
     * the next context id after that */
    FT_ACT_MADE,
    FT_ACT_SAID, /* likewise: all that was sent to rank `where` (alog/said.h) */
    FT_ACT_LINK = 255,
};
enum {
    FT_ACT_RESULT = 1,
    FT_ACT_LEFT = 2,
    FT_ACT_SELF = 4
};                       /* flags of FT_ACT_ATOMIC; SELF: at the own window */
enum { FT_ACT_ONE = 1 }; /* of FT_ACT_CLOSE */
enum { FT_ACT_CANCELLED = 1 };

struct ft_act {
    _Atomic uint64_t seq;   /* 1 + its number in the log; stored when the action is complete */
    _Atomic uint64_t stamp; /* put log: T at the target, 0 while the epoch is open */
    uint64_t call;          /* put log: lo. Home log: calls(p) */
    uint64_t off;           /* offset in bytes from the target's base */
    uint64_t count;
    uint32_t bytes; /* of data */
    uint32_t win;   /* the window's context id */
    /* home log: target. Put log: the interval, the number of cuts that the writer had made by
     * then */
    int32_t where;
    uint8_t kind, flags;
    struct ft_hole hole; /* of PUT, and of what is left by ATOMIC: bytes that are not written */
    char data[];
};
_Static_assert(offsetof(struct ft_act, data) == 56, "a put of a word takes one line");

struct ft_log_chunk {
    _Atomic uint64_t next; /* offset in the memory's arena, 0: none */
    uint64_t first;        /* sequence number of its first action */
    uint64_t bytes;
    uint64_t off; /* its own offset */
    uint64_t pad[4];
};
_Static_assert(sizeof(struct ft_log_chunk) == FT_CACHE_LINE, "one line");

/* Where a reader begins. It lies in shared memory, and only the writer writes it, `chunk` last. */
struct ft_log_hdr {
    _Atomic uint64_t chunk; /* offset of the oldest chunk; 0: nothing was ever written */
};

/* A place in a log: the next action's number, and where it will lie. chunk 0: the log had no chunk
 * yet, so begin at the header's. */
struct ft_log_place {
    uint64_t seq, chunk, pos;
};

#endif
