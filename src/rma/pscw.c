/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pscw.c - post, start, complete, wait: access and exposure epochs of groups (MPI-3.1, 11.5.2).
 *
 * Post and complete are messages in the window's own context. The program sends them in its order,
 * from calls whose place is determined, so a replacement repeats them like all other messages (O4,
 * R7). Start and wait acquire as receives do. They are FIFO for each pair of processes, and each
 * post is matched by one start, so nothing else must be counted.
 */
#include "base/failpoint.h"
#include "msg/msg.h"
#include "rma/rma_internal.h"

enum { TAG_POST = -1, TAG_COMPLETE = -2 };

static void tell(struct ft_win *w, const int *ranks, int n, int tag)
{
    for (int i = 0; i < n; i++)
        ft_msg_send(w->ctx.id, w->ctx.world[ranks[i]], tag, NULL, 0);
}

static void hear(struct ft_win *w, const int *ranks, int n, int tag)
{
    for (int i = 0; i < n; i++)
        ft_msg_recv(w->ctx.id, w->ctx.world[ranks[i]], tag, NULL, 0, NULL);
}

void ft_win_post(struct ft_win *w, const int *ranks, int n)
{
    atomic_thread_fence(memory_order_seq_cst);
    ft_failpoint(RMA_POST);
    tell(w, ranks, n, TAG_POST);
    ft_rma_exclusive_held++;
}

void ft_win_start(struct ft_win *w, const int *ranks, int n)
{
    hear(w, ranks, n, TAG_POST);
    ft_rma_exclusive_held++;
    ft_failpoint(RMA_START);
}

void ft_win_complete(struct ft_win *w, const int *ranks, int n)
{
    atomic_thread_fence(memory_order_seq_cst);
    ft_close_epoch(w, -1);
    ft_failpoint(RMA_COMPLETE);
    tell(w, ranks, n, TAG_COMPLETE);
    ft_rma_exclusive_held--;
}

int ft_win_completed(struct ft_win *w, const int *ranks, int n)
{
    struct ft_msg_status st;
    for (int i = 0; i < n; i++)
        if (!ft_msg_iprobe(w->ctx.id, w->ctx.world[ranks[i]], TAG_COMPLETE, &st))
            return 0;
    return 1;
}

void ft_win_wait(struct ft_win *w, const int *ranks, int n)
{
    ft_failpoint(RMA_WAIT);
    hear(w, ranks, n, TAG_COMPLETE);
    ft_rma_exclusive_held--;
}
