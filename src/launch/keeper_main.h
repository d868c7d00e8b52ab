/* SPDX-License-Identifier: BSD-3-Clause
 *
 * keeper_main.h - the keeper of a node on another host: `ftrun --keeper`, which ftrun has started
 * there by ssh. Over its standard input and output it is told what to do (frames.h) and shows what
 * happens on its node: its board and its processes' output, as they change.
 *
 * It is the parent of the node's gateway and processes, which end with it. It ends when it is told
 * to, and when ftrun has gone. Its own parent is the node's guardian: it does nothing but wait for
 * the keeper's end, and then it kills and reaps whatever is left, and says so by its exit status.
 */
#ifndef FT_LAUNCH_KEEPER_MAIN_H
#define FT_LAUNCH_KEEPER_MAIN_H

#include "base/board.h"
#include "gate/gateway.h"

/* The guardian's exit status when nothing is left, and the signal that killed the keeper is added;
 * 0: it ended by itself. Neither ssh (255) nor srun has a status like this of its own. */
#define FT_KEEPER_REAPED 64
#define FT_KEEPER_SIGNALS 31

#define FT_HELLO_MAGIC 0x66743031u
struct ft_hello {
    uint32_t magic, bytes; /* bytes: of this struct; both tell another build */
    char version[24];
    int32_t self, nranks, nchecksums, nspares;
    uint64_t stack_soft, stack_hard; /* the limit of the stack decides where mappings lie */
    struct ft_wire_secret secret;
    struct ft_board_nodes nodes;
    struct ft_board_save save;
    uint32_t at_first[FT_MAX_SLOTS];
    uint32_t nargs, nenv;
    uint32_t mixed; /* 1: what differs from where ftrun runs is accepted */
    uint32_t input; /* 1: ftrun hands its standard input to whoever carries rank 0 */
    /* texts follow: the numeric address of this node, the working directory, the library that is
     * preloaded, FT_IDS identities (identity.h), the program and its arguments, the environment */
};

int ft_keeper_main(void);

#endif
