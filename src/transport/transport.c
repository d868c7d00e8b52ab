/* SPDX-License-Identifier: BSD-3-Clause
 *
 * transport.c - choosing a provider.
 */
#include "transport/transport.h"

#include <stdlib.h>
#include <string.h>

FT_STATE(struct ft_tp *, ft_transport);

enum ft_status ft_tp_open(struct ft_tp *tp, const char *name, struct ft_arena *own,
                          struct ft_board *board, int self)
{
    *tp = (struct ft_tp){.own = own, .board = board, .self = self, .nslots = board->nslots};
    if (strcmp(name, "shm") == 0) {
        tp->ops = &ft_tp_shm_ops;
        return ft_tp_shm_init(tp, NULL);
    }
    if (strcmp(name, "fault") == 0) {
        struct ft_tp *below = calloc(1, sizeof *below);
        enum ft_status st = below ? ft_tp_open(below, "shm", own, board, self) : FT_ERR_NOMEM;
        if (st != FT_OK) {
            free(below);
            return st;
        }
        tp->ops = &ft_tp_fault_ops;
        tp->below = below;
        return FT_OK;
    }
    return FT_ERR_ARG;
}

enum ft_status ft_tp_open_beside(struct ft_tp *tp, const struct ft_tp *beside, struct ft_arena *own,
                                 int self)
{
    FT_ASSERT(beside->ops == &ft_tp_shm_ops);
    *tp = (struct ft_tp){.ops = beside->ops,
                         .own = own,
                         .board = beside->board,
                         .self = self,
                         .nslots = beside->nslots};
    return ft_tp_shm_init(tp, beside);
}

void ft_tp_close(struct ft_tp *tp)
{
    if (tp->below) {
        ft_tp_close(tp->below);
        free(tp->below);
    } else {
        ft_tp_shm_finish(tp);
    }
}
