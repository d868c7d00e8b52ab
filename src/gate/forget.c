/* SPDX-License-Identifier: BSD-3-Clause
 *
 * forget.c - a gateway gives back the memory of the dead (D5).
 */
#include <malloc.h>

#include "base/failpoint.h"
#include "gate/gate_state.h"

/* The newest generation whose lost processes' arenas all processes have given back. */
static uint32_t let_go_by_all(struct ft_gate *g)
{
    uint32_t least = UINT32_MAX;
    for (int q = 0; q < g->b->nslots && least > 0; q++) {
        const struct ft_ctl *ctl = g->far[q].arena.ctl;
        if (!is_there(g, q))
            continue;
        if (is_near(g, q))
            ctl = g->near[q - g->from].is_there ? ft_tp_ctl(g->look, q) : NULL;
        least = ctl ? ft_min_u64(least, atomic_load(&ctl->let_go)) : 0;
    }
    return least;
}

/* The relays end first: they go through the arena. */
static void forget_near(struct ft_gate *g, int slot)
{
    int i = slot - g->from;
    for (int q = 0; q < g->b->nslots; q++) {
        struct gate_far *f = &g->far[q];
        if (is_near(g, q))
            continue;
        ft_relay_out_end(&f->out[i]);
        ft_relay_in_end(&f->in[i]);
        ft_arena_free(&f->arena, f->unmatched[i]);
        f->unmatched[i] = 0;
    }
    ft_access_forget(g->access, slot);
    ft_failpoint(GATE_LET_GO);
    for (int q = 0; q < g->b->nslots; q++)
        if (!is_near(g, q))
            g->far[q].tp.ops->forget(&g->far[q].tp, slot);
    g->look->ops->release(g->look);
    g->near[i].forgotten = 1;
}

/* The stand-in stays, for it costs nothing; its heap is given back. */
static void forget_far(struct ft_gate *g, int slot)
{
    struct gate_far *f = &g->far[slot];
    for (int i = 0; i < g->n; i++) {
        ft_relay_out_end(&f->out[i]);
        ft_relay_in_end(&f->in[i]);
        f->unmatched[i] = 0;
        f->tp.ops->drop_mails(&f->tp, g->from + i);
    }
    ft_failpoint(GATE_LET_GO);
    ft_arena_empty(&f->arena);
    f->forgotten = 1;
}

/* A process is forgotten when it has ended, its loss was adopted here, and each process that is
 * there has given back the arenas of all that were lost up to then: so nobody maps its stand-in,
 * and nobody on another node asks for its arena. */
void ft_gate_forget(struct ft_gate *g)
{
    uint32_t upto = 0;
    int counted = 0, forgotten = 0;
    for (int q = 0; q < g->b->nslots; q++) {
        uint32_t in = atomic_load_explicit(&g->b->slot[q].lost_in, memory_order_acquire);
        int near = is_near(g, q);
        if (in == 0 || (near ? g->near[q - g->from].forgotten || !g->near[q - g->from].has_ended
                             : g->far[q].forgotten || is_there(g, q)))
            continue;
        if (!counted++)
            upto = let_go_by_all(g);
        if (in > upto)
            continue;
        if (near)
            forget_near(g, q);
        else
            forget_far(g, q);
        forgotten = 1;
        ft_failpoint(GATE_FORGOTTEN);
    }
    if (forgotten)
        malloc_trim(0); /* what the recovery's bursts left in the heap */
}
