/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mailbox.h - all that main and agent of one process tell each other, but for ft_attention
 * (transport/wait.h) and the turn (transport/turn.h). proto/place.h says what places, commands and
 * answers mean. Each word has one writer; where there are two, the comment says so.
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
    _Atomic uint64_t answered; /* number of the command that `answer` is about */
    struct ft_answer answer;
    _Atomic uint32_t asks; /* the agent takes them by exchange */
    _Atomic int32_t longest;
    _Atomic uint32_t cannot;
    _Atomic uint32_t replaying; /* the agent writes it, too: when it assigns a rank, in its turn */
    _Atomic uint64_t taken;     /* the agent empties it, and main begins no other image before */
    uint32_t taken_in;

    /* written by the agent */
    FT_ALIGNED_LINE _Atomic uint64_t cmd; /* number << 8 | enum ft_command */
    struct ft_command_arg arg;            /* stays as it is until the command is answered */
    _Atomic uint64_t hold;
    _Atomic uint64_t committed; /* copies for main: the newest version that is ours and agreed, */
    _Atomic uint64_t complete;  /* and the newest whose image or codeword lies here whole */
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
/* Main has come to its next safepoint, and now has to look at `hold`. Returns the number. */
uint64_t ft_box_reach(struct ft_mailbox *b);
void ft_box_pass(struct ft_mailbox *b, uint64_t n); /* main goes on from safepoint n */
/* The command that is not yet answered; NONE: there is none. */
enum ft_command ft_box_command(const struct ft_mailbox *b);
/* Answers it. By a command that leaves the place main moves before it answers. */
void ft_box_answer(struct ft_mailbox *b, struct ft_answer with);
void ft_box_ask(struct ft_mailbox *b, uint32_t what);
void ft_box_ask_image(struct ft_mailbox *b, int rank); /* whose log is too long */
/* What the agent wishes, for the following two; 0: nothing, or nothing yet, since the last answer
 * was not yet looked at. */
uint32_t ft_box_wished(const struct ft_mailbox *b);
/* 1: from here on the image is taken. 0: the agent does not wish it any more. */
int ft_box_begin_image(struct ft_mailbox *b, uint32_t wish);
void ft_box_took_image(struct ft_mailbox *b, uint32_t wish, uint64_t version);

/* --- the agent --- */

/* Copies main's half over *m, the copy before. `asks` are those since then. */
void ft_box_look(struct ft_mailbox *b, struct ft_main *m);
/* `taken` was dealt with: main may answer the next wish. */
void ft_box_heard_taken(struct ft_mailbox *b, struct ft_main *m);
/* Gives a command, which fits where main stood when *m was copied; none is outstanding. Returns its
 * number. */
uint64_t ft_box_issue(struct ft_mailbox *b, const struct ft_main *m, enum ft_command c,
                      const struct ft_command_arg *arg);
/* A command is not yet answered. */
static inline int ft_box_busy(const struct ft_mailbox *b, const struct ft_main *m)
{
    return atomic_load_explicit(&b->cmd, memory_order_relaxed) >> 8 != m->answered;
}
void ft_box_set_hold(struct ft_mailbox *b, uint64_t hold); /* then *m is to be copied again */
/* Wishes an image. 0: main is at one that was wished before. */
int ft_box_wish(struct ft_mailbox *b, uint32_t generation);
/* Main begins no image from here on. 0: it has begun one. 1: none was wished, or has answered,
 * though `taken` may still be on its way. 2: the wish is taken back. */
int ft_box_unwish(struct ft_mailbox *b);
/* What was wished, begun and taken counts no more: main has parked, and is at none. */
void ft_box_forget_images(struct ft_mailbox *b, struct ft_main *m);
void ft_box_flag(struct ft_mailbox *b, uint32_t flag, int on);

#endif
