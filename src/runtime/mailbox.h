/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mailbox.h - all that main and agent of one process tell each other, except for ft_attention
 * (transport/wait.h) and the turn (transport/turn.h). proto/place.h explains places, commands and
 * answers. Each word has one writer, unless its comment names two.
 *
 * - A word that stands for others is stored by release after them, and loaded by acquire before
 *   them: `at`, `cmd`, `answered`, `asks`, `taken`.
 * - `hold` and `reached` are each stored before the other one is looked at, seq_cst. So either main
 *   sees the hold, or the agent sees the safepoint that main has come to.
 * - The agent copies main's half, and looks at `at` again: the copy counts if main has not moved
 *   meanwhile. [The agent finds main held, main parks, and the answer to RELEASE says MOVED: main
 *   would seem to be held still, and to have refused to go on.]
 */
#ifndef FT_RUNTIME_MAILBOX_H
#define FT_RUNTIME_MAILBOX_H

#include "proto/place.h"

#define FT_WISH_BEGUN UINT32_MAX

struct ft_mailbox {
    /* written by main */
    FT_ALIGNED_LINE _Atomic uint64_t at; /* moves << 8 | enum ft_place */
    _Atomic uint64_t reached, passed;
    _Atomic uint64_t answered; /* number of the command to which `answer` belongs */
    struct ft_answer answer;
    _Atomic uint32_t asks; /* the agent takes them by exchange */
    _Atomic int32_t longest;
    _Atomic uint32_t cannot;
    /* the agent also writes it: when it assigns a rank, and in its turn */
    _Atomic uint32_t replaying;
    _Atomic uint64_t taken; /* the agent empties it; until then main begins no other image */
    uint32_t taken_in;

    /* written by the agent */
    FT_ALIGNED_LINE _Atomic uint64_t cmd; /* number << 8 | enum ft_command */
    struct ft_command_arg arg;            /* does not change until the command is answered */
    _Atomic uint64_t hold;
    /* copies for main: the newest version that is this process's and agreed, */
    _Atomic uint64_t committed;
    _Atomic uint64_t complete; /* and the newest whose image or codeword is complete here */
    _Atomic uint32_t generation;
    _Atomic uint32_t flags; /* FT_SAYS_* */
    /* 1 + the generation in which an image is wanted that this rank takes alone; 0: none is; BEGUN:
     * main is at it, and will say `taken`. Main and agent change it by compare-and-swap. */
    _Atomic uint32_t wish;
};

/* --- main --- */

static inline enum ft_place ft_box_place(const struct ft_mailbox *b)
{
    return (enum ft_place)(atomic_load_explicit(&b->at, memory_order_relaxed) & 0xff);
}
void ft_box_move(struct ft_mailbox *b, enum ft_place to);
/* Main has come to its next safepoint, and must now look at `hold`. Returns the number. */
uint64_t ft_box_reach(struct ft_mailbox *b);
void ft_box_pass(struct ft_mailbox *b, uint64_t n); /* main goes on from safepoint n */
/* The command that is not answered yet; NONE: there is none. */
enum ft_command ft_box_command(const struct ft_mailbox *b);
/* Answers it. If the command lets main leave its place, main moves before it answers. */
void ft_box_answer(struct ft_mailbox *b, struct ft_answer with);
void ft_box_ask(struct ft_mailbox *b, uint32_t what);
void ft_box_ask_image(struct ft_mailbox *b, int rank); /* rank: whose log is too long */
/* For the following two: what the agent wishes. 0: nothing, or nothing yet, since it has not looked
 * at the last answer. */
uint32_t ft_box_wished(const struct ft_mailbox *b);
/* 1: from here on the image counts as begun. 0: the agent does not wish it any more. */
int ft_box_begin_image(struct ft_mailbox *b, uint32_t wish);
void ft_box_took_image(struct ft_mailbox *b, uint32_t wish, uint64_t version);

/* --- the agent --- */

/* Copies main's half over *m, the previous copy. `asks` are those since then. */
void ft_box_look(struct ft_mailbox *b, struct ft_main *m);
/* `taken` has been handled: main may answer the next wish. */
void ft_box_heard_taken(struct ft_mailbox *b, struct ft_main *m);
/* Gives a command that fits where main stood when *m was copied; no other is outstanding. Returns
 * its number. */
uint64_t ft_box_issue(struct ft_mailbox *b, const struct ft_main *m, enum ft_command c,
                      const struct ft_command_arg *arg);
/* 1: a command is not answered yet. */
static inline int ft_box_busy(const struct ft_mailbox *b, const struct ft_main *m)
{
    return atomic_load_explicit(&b->cmd, memory_order_relaxed) >> 8 != m->answered;
}
void ft_box_set_hold(struct ft_mailbox *b, uint64_t hold); /* after it *m must be copied again */
/* Wishes an image. Returns 0 if main is taking one that was wished before. */
int ft_box_wish(struct ft_mailbox *b, uint32_t generation);
/* Main begins no image from here on. Returns 0: it has begun one; 1: none was wished, or main has
 * answered, though `taken` may still be under way; 2: the wish was withdrawn. */
int ft_box_unwish(struct ft_mailbox *b);
/* Main has parked, and is taking no image: all that was wished, begun or taken is void. */
void ft_box_forget_images(struct ft_mailbox *b, struct ft_main *m);
void ft_box_flag(struct ft_mailbox *b, uint32_t flag, int on);

#endif
