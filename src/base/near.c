/* SPDX-License-Identifier: BSD-3-Clause
 *
 * near.c - what a process asks of the board of its own node.
 */
#define _GNU_SOURCE 1 /* cpu_set_t */
#include "base/near.h"

#include <sched.h>
#include <signal.h>

#include "base/failpoint.h" /* enum ft_role */

void ft_gate_bell_ring(struct ft_board *b)
{
    atomic_thread_fence(memory_order_seq_cst); /* between what was said and this look */
    if (!atomic_load_explicit(&b->nodes.dozing, memory_order_relaxed))
        return;
    int pid = atomic_load(&b->nodes.gateway_pid);
    if (pid > 0)
        (void)kill(pid, SIGURG); /* which is ignored by whoever has its number now */
}

int ft_board_crowded(const struct ft_board *b)
{
    cpu_set_t cpus;
    int cores = sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
    int here = b->nranks + b->nodes.n; /* all on this machine */
    if (b->nodes.hosts) {
        here = 1; /* the gateway */
        for (int i = b->near_from; i < b->near_end; i++)
            here += b->slot[i].at_first >> 24 == FT_ROLE_RANK;
    }
    return here > cores;
}
