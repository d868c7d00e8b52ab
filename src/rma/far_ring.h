/* SPDX-License-Identifier: BSD-3-Clause
 *
 * far_ring.h - accesses to windows on other nodes, on their way to the gateway and back.
 *
 *   p's arena                                        node A          node B
 *   +-----------+-------+-------+-----+-------+
 *   | submitted | entry | entry | ... | stage |  -->  gateway  ---->  gateway: applies it
 *   +-----------+-------+-------+-----+-------+  <--  gateway  <----  and answers
 *
 * Main fills an entry, with its data in the stage, and then counts it as submitted. The gateway of
 * its node sends it, and writes the answer back: the result into the same place of the stage, then
 * `done`. Accesses of one process to one node are applied in their order.
 *
 * An access that is logged (FT_FAR_LOGGED) also needs what only the target's node knows: calls(q),
 * as it was before the access was applied, which is lo of a put's record (L1), and stamps T.
 */
#ifndef FT_RMA_FAR_RING_H
#define FT_RMA_FAR_RING_H

#include "base/hole.h"

#define FT_FAR_ENTRIES 256u
#define FT_FAR_STAGE (1u << 20)
#define FT_FAR_PIECE (16u << 10) /* bytes of data of one access; longer ones go in pieces */

enum ft_far_kind {
    FT_FAR_PUT = 1,
    FT_FAR_GET,
    /* Reads or changes elements, or both, inside the critical section. `how` is an enum ft_fold_op
     * and esize an enum ft_kind; or both 0: replaces. */
    FT_FAR_SWAP,
    FT_FAR_WORD,   /* ft_fetch_word; `how` is its kind. Data: the operand; CAS: then what to compare
                    */
    FT_FAR_ENTER,  /* reads, and stays inside the critical section; LOGGED: takes a stamp */
    FT_FAR_COMMIT, /* leaves it. Data: struct ft_far_commit, then what is written before that */
    FT_FAR_LOCK,   /* how: 1 exclusive. Answered FT_ERR_AGAIN when it was not granted for a while */
    FT_FAR_UNLOCK,
    /* Of the target's process, whatever it does, and whether it is live or not. */
    FT_FAR_STAMP, /* takes a stamp (T) */
    FT_FAR_READ,  /* len bytes at `off` of its arena */
    FT_FAR_HOME,  /* len bytes at `off` of the home log of rank `rank`, as its node has it */
    FT_FAR_COUNT, /* ACC of rank `rank` at the target is `off` from here on */
    FT_FAR_FREE   /* frees the lock words that a lost carrier may have left. Data: struct
                     ft_far_held for each window */
};
/* Flags. RESULT: the old contents are wanted. OUTSIDE: the access is outside of FTRMA_Run's body,
 * and marks the board (phase_rma) as a near one does. LOGGED: the asking process logs it.
 * TIMED: see struct ft_far_times. */
enum {
    FT_FAR_DYNAMIC = 1,
    FT_FAR_RESULT = 2,
    FT_FAR_OUTSIDE = 4,
    FT_FAR_BLOCKS = 8,
    FT_FAR_LOGGED = 16,
    FT_FAR_TIMED = 32
};

/* Before the data of FT_FAR_COMMIT. */
struct ft_far_commit {
    uint64_t count;      /* ACC, stored after the data; 0: nothing was changed, or counted */
    uint32_t rank;       /* world rank of the asking process */
    struct ft_hole hole; /* of the data; it is not written */
    uint16_t pad;
};
/* Of FT_FAR_FREE: what the asking process holds in a window. */
struct ft_far_held {
    uint64_t win;
    uint32_t rank, held; /* rank: in the window; held: FT_HELD_* */
};

/* What is asked. Slots say who asks whom. */
struct ft_far_op {
    uint8_t kind, how, flags, esize; /* esize: WORD */
    /* of the asking process in the window: LOCK, UNLOCK; in the job: COUNT, HOME. BLOCKS: their
     * length */
    int32_t rank;
    uint64_t win, off, len; /* len: bytes at the target */
};

/* When a timed access came to each place, in ns: every FT_FAR_SAMPLE-th one is timed. begun is
 * main's, the others are the gateway's of its node. held: for how long the other gateway had it.
 * Main adds up the stages when it sees the answer (base/link_counts.h). */
#define FT_FAR_SAMPLE 32u
struct ft_far_times {
    uint64_t begun, taken, held, answered;
};

struct ft_far_entry {
    struct ft_far_op op;
    int32_t slot;   /* the target's */
    uint32_t bytes; /* of data that go with it */
    uint64_t at;    /* the place of its data, and of its result, in the stage */
    uint64_t lo_at; /* offset in the arena of the word that `calls` is written to; 0: nowhere */
    /* Written by the gateway, done last. */
    int32_t status;        /* enum ft_status */
    uint64_t calls, stamp; /* calls(q) before the access; T, if it took one */
    struct ft_far_times times;
    _Atomic uint64_t done; /* 1 + the number of the newest answered access in this entry */
};

struct ft_far_ring {
    FT_ALIGNED_LINE _Atomic uint64_t submitted; /* entry number n is entry[n % FT_FAR_ENTRIES] */
    _Atomic uint64_t settled; /* what was lost before this entry does not count: all went back */
    /* 1 + the number of the newest entry that has no result, since its target's node is out; 0:
     * there is none. Of READ and HOME nobody but their caller depends. Written by the gateway,
     * before `done`. */
    FT_ALIGNED_LINE _Atomic uint64_t lost;
    FT_ALIGNED_LINE struct ft_far_entry entry[FT_FAR_ENTRIES];
    char stage[FT_FAR_STAGE];
};

#endif
