/* SPDX-License-Identifier: BSD-3-Clause
 *
 * doze.h - how a gateway sleeps: until something comes over the wire, or one of its node's
 * processes rings (ft_gate_bell_ring). The ring is a signal, SIGURG: a process needs no descriptor
 * for it, the gateway waits for it and for the wire at once, and whoever does not expect it ignores
 * it.
 *
 * Before it sleeps the gateway says so, issues a membarrier and looks once more (transport/wait.h).
 * While it is awake nobody enters the kernel to ring it, and whoever speaks to its own node never
 * looks at this bell.
 */
#ifndef FT_GATE_DOZE_H
#define FT_GATE_DOZE_H

#include <signal.h>

#include "base/board.h"

struct ft_doze {
    struct ft_board *b;
    int dozing;
    sigset_t asleep; /* the signals that are blocked while it sleeps */
};

/* In the process whose pid is the board's gateway_pid. */
void ft_doze_begin(struct ft_doze *d, struct ft_board *b);
/* Says that it may sleep: what is said from now on rings. The caller looks once more before
 * ft_doze_sleep. say: sets what main threads look at to this value. */
void ft_doze_say(struct ft_doze *d, void (*say)(void *arg, uint32_t dozing), void *arg);
/* Sleeps for at most ns. wire_fd: -1: none. 1: something has come. */
int ft_doze_sleep(struct ft_doze *d, int wire_fd, int64_t ns);
/* Awake again, if it was not. */
void ft_doze_end(struct ft_doze *d, void (*say)(void *arg, uint32_t dozing), void *arg);

#endif
