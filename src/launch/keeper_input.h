/* SPDX-License-Identifier: BSD-3-Clause
 *
 * keeper_input.h - standard input on a host: what ftrun sends of its own goes through a pipe into
 * this node's ft_stdin, which keeps it and serves every slot that may carry rank 0 from byte 0 on.
 */
#ifndef FT_LAUNCH_KEEPER_INPUT_H
#define FT_LAUNCH_KEEPER_INPUT_H

#include "launch/output.h"
#include "launch/stdin.h"

struct ft_keeper_input {
    struct ft_stdin *in;   /* NULL: no slot of this node may carry rank 0 */
    int feed;              /* where what came is written; -1: there is no more */
    struct ft_sink came;   /* what does not go into the pipe yet */
    int ended, asked;      /* asked: for more, which has not come */
};

/* dir: where input is kept. To be called before the processes are started. 0 with errno. */
int ft_keeper_input_begin(struct ft_keeper_input *k, struct ft_board *b, const char *dir);
void ft_keeper_input_came(struct ft_keeper_input *k, const void *data, uint32_t bytes);
/* Writes what can be written. 1: ftrun is to be asked for more; it is said once. */
int ft_keeper_input_step(struct ft_keeper_input *k);
/* As ft_stdin_leave. */
void ft_keeper_input_leave(const struct ft_keeper_input *k);
int ft_keeper_input_waits_for(const struct ft_keeper_input *k); /* for poll, POLLOUT; -1: nothing */

#endif
