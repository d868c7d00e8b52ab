/* SPDX-License-Identifier: BSD-3-Clause
 *
 * round.h - votes and collectives: a machine without I/O. Each is a *round*: parts go up a binary
 * tree of ranks, the root decides, and the result goes down. Ranks, incarnations and generations
 * are those of txn.h, which carries the messages.
 *
 * Rules:
 *  (v1) A round is tried in one generation. A message of an earlier one counts no more, except for
 *       a result. [It comes to a new carrier that has not begun the vote, and would not ask.]
 *  (v2) Whoever has begun a round that is not decided when a new generation comes asks all others
 *       whether they have its result. Any result that it hears of is the round's. [The root tells
 *       one process and dies.] Carriers that are new in just this generation have none but from
 *       others, and are not asked.
 *  (v3) If nobody has one, a collective has failed, and a vote begins again in the new generation:
 *       the tree goes around the dead (Figure 1 of Wilke et al.).
 *  (v4) Members of a vote are those that live since the last vote that was decided. The tree
 *       connects each to its nearest ancestor that is a member, or else to the lowest member. If all
 *       were replaced since then, all carriers of that generation are members. [Else each waits to be
 *       told, and nobody is there to decide.]
 *  (v5) The result of a vote is the set of incarnations in which it was decided. The root tells it
 *       to the new carriers, too. Results are kept: of the last vote, and of FT_ROUNDS_KEPT labels.
 *  (v6) A replacement knows no results at first. It asks all others before its first vote, before
 *       each vote that it is no member of, and before each collective, and takes the newest vote that
 *       anybody has. [The root tells it and others, who die.] If nobody knows a vote's result, all
 *       carriers of that generation are members.
 */
#ifndef FT_FTT_ROUND_H
#define FT_FTT_ROUND_H

#include "base/base.h"

#define FT_ROUNDS_KEPT 64
#define FT_ROUND_LABEL 96
#define FT_ROUND_DATA 8192

enum ft_round_kind {
    FT_ROUND_VOTE = 1,
    FT_ROUND_BARRIER, /* collectives from here on, as FTT_Calls.collective counts them */
    FT_ROUND_BROADCAST,
    FT_ROUND_REDUCE,
    FT_ROUND_ALLREDUCE,
    FT_ROUND_GATHER
};
enum ft_round_says { FT_ROUND_UP = 1, FT_ROUND_DOWN, FT_ROUND_ASK, FT_ROUND_HAS, FT_ROUND_HAS_NOT };

/* A message, followed by `bytes` of data. VOTE: the label is empty, and the data of DOWN, HAS and
 * HAS_NOT is a result: uint32_t[2n], the incarnations in which it was decided, and those of the one
 * before; `last` is its tag. */
struct ft_round_message {
    uint8_t says, kind, op_type;
    uint16_t root;
    uint32_t generation, tag, last;
    uint32_t aware; /* VOTE: the sender knows the last result */
    uint32_t bytes, from_root;
    char label[FT_ROUND_LABEL];
};

enum ft_round_status { FT_ROUND_OK = 0, FT_ROUND_FAILED };
/* What the machine says. Data is valid inside of the call. */
struct ft_round_to {
    void *arg;
    void (*send)(void *arg, int to, const struct ft_round_message *m, const void *data);
    /* VOTE: tag and data are those of the newest result, as in a message */
    void (*done)(void *arg, enum ft_round_kind kind, enum ft_round_status st, uint32_t tag,
                 const char *label, int root, const void *data, uint32_t bytes);
};

struct ft_rounds;
size_t ft_rounds_bytes(int n);
#define FT_ROUNDS_OPEN 64  /* rounds that are there at once */
#define FT_ROUNDS_OWN 16   /* of these begun here, at most: others may be as much ahead */
void ft_rounds_init(struct ft_rounds *r, int n, int self, uint32_t generation,
                    const uint32_t *incarnations, const struct ft_round_to *to);
void ft_rounds_generation(struct ft_rounds *r, uint32_t generation, const uint32_t *incarnations);
void ft_rounds_message(struct ft_rounds *r, int from, const struct ft_round_message *m,
                       const void *data);

enum ft_round_begun { FT_ROUND_BEGUN = 0, FT_ROUND_UNDER_WAY, FT_ROUND_NO_ROOM };
enum ft_round_begun ft_rounds_vote(struct ft_rounds *r, uint32_t tag);
/* op_type: enum FTT_Op << 4 | enum FTT_Type. bytes: of the own part. */
enum ft_round_begun ft_rounds_collective(struct ft_rounds *r, enum ft_round_kind kind,
                                         const char *label, int root, int op_type,
                                         const void *data, uint32_t bytes);
/* For the test: one rule is broken. */
enum ft_rounds_broken {
    FT_ROUNDS_SOUND = 0,
    FT_ROUNDS_OLD,      /* v1: messages of another generation count */
    FT_ROUNDS_SILENT,   /* v2: nobody asks, in a new generation, whether the result is known */
    FT_ROUNDS_GIVES_UP, /* v3: a vote waits for those that have died */
    FT_ROUNDS_BROKEN_TREE, /* v4: the tree does not go around those that are no members */
    FT_ROUNDS_FORGETS,  /* v5: results are not kept */
    FT_ROUNDS_NAIVE,    /* v6: a replacement does not ask */
    FT_ROUNDS_MUTANTS
};
void ft_rounds_break(struct ft_rounds *r, enum ft_rounds_broken how);
int ft_rounds_open(const struct ft_rounds *r); /* begun here and not decided */

#endif
