/* SPDX-License-Identifier: BSD-3-Clause
 *
 * model_sets.c - which image sets of the snapshot model count (--property sets). A process whose
 * wave is OVER has its image and channel state whole. An image set counts when this is so at all
 * processes, and only then may process 0 begin the next wave. How processes agree on this, and what
 * a death does to it, is in model job.
 */
#include "model_snapshot.h"

void snap_image(struct sim *s, int p)
{
    struct snap_world *w = snap_world(s);
    uint32_t v = snap_machine(s, p)->wave;
    for (int i = 0; i < w->nops; i++) {
        struct snap_op *op = &w->op[i];
        int put = op->kind == SNAP_PUT;
        if (op->state == SNAP_NONE)
            continue;
        if (op->source == p)
            op->image[v % 2].source =
                (uint8_t)(SNAP_B_ISSUED | (!put && op->state == SNAP_DONE ? SNAP_B_USED : 0));
        if (op->target == p)
            op->image[v % 2].target = (uint8_t)((put && op->applied ? SNAP_B_APPLIED : 0) |
                                                (!put && op->state == SNAP_HELD ? SNAP_B_HELD : 0));
    }
    snap_versions(s, p)[v % 2] = v;
    if (s->o.mutant == SNAP_M_TAKEN)
        snap_whole(s, p);
}

void snap_record(struct sim *s, int p, int i, enum snap_bit bit)
{
    struct snap_op *op = &snap_world(s)->op[i];
    uint32_t slot = snap_machine(s, p)->wave % 2;
    if (snap_counts(s))
        *(bit == SNAP_B_USED ? &op->image[slot].source : &op->image[slot].target) |= (uint8_t)bit;
}

void snap_whole(struct sim *s, int p)
{
    struct snap_world *w = snap_world(s);
    uint64_t all = s->o.n == 64 ? ~0ull : (1ull << s->o.n) - 1;
    w->whole |= 1ull << p;
    if (s->o.mutant == SNAP_M_EARLY_COUNT ? p != 0 : w->whole != all)
        return;
    w->whole = 0;
    w->counted++;
    snap_check_counted(s, w->counted);
}

int snap_may_start(const struct sim *s, int p)
{
    const struct snap_world *w = snap_world(s);
    return p == 0 && (int)w->counted < s->o.starters && snap_machine(s, 0)->wave == w->counted;
}
