/* SPDX-License-Identifier: BSD-3-Clause
 *
 * accesses.h - one-sided accesses that cross from one node to another (rma/far_ring.h). The gateway
 * of the origin's node sends what its processes have submitted; the gateway of the target's node
 * applies it to the target's part, whatever the target does meanwhile, and answers.
 *
 * An answer says calls(q) as it was before the access, and the stamp if it took one: the asking
 * process logs both (R14). Some items are about a process and no window: its stamp, its count of
 * another's operations, lock words that a lost process may have left, bytes of its arena.
 *
 * Accesses of one process to this node are applied in their order. One that cannot be applied yet,
 * because somebody is inside the part's critical section or holds the lock, waits here, and those
 * of its process that come after it wait as well.
 */
#ifndef FT_GATE_ACCESSES_H
#define FT_GATE_ACCESSES_H

#include "gate/relay.h"

struct ft_access;
struct ft_access_config {
    struct ft_board *board; /* of this node */
    struct ft_tp *tp;       /* maps the arenas of this node */
    uint64_t arena_bytes;
    void *gate; /* for the next two */
    /* Sends an item, of OPS, to the node of slot `far`. */
    void (*send)(void *gate, int far, const struct ft_item *item, const void *data);
    int (*full)(void *gate, int far); /* 1: enough waits for the wire */
    int (*out)(void *gate, int far);  /* 1: its node is out */
};

/* NULL: no memory. */
struct ft_access *ft_access_open(const struct ft_access_config *cfg);
void ft_access_close(struct ft_access *a);
/* Sends what the process of slot `near` has submitted. 1: all of it. */
int ft_access_take(struct ft_access *a, int near);
/* Items of other gateways, ACCESS and ANSWER. 0: no gateway of this job says that. */
int ft_access_came(struct ft_access *a, const struct ft_item *item, const void *data);
int ft_access_answered(struct ft_access *a, const struct ft_item *item, const void *data);
/* Applies what had to wait, as far as that is possible now. */
void ft_access_step(struct ft_access *a, uint64_t now_ns);
/* A process of another node has ended, and all that it had submitted has come: what waits here is
 * dropped. */
void ft_access_closed(struct ft_access *a, int far);
/* A process of this node was lost, and nobody asks for its arena any more: it is not mapped here
 * from now on. The caller gives it back (ops->forget, release). */
void ft_access_forget(struct ft_access *a, int near);
/* The node of the slots [from, end) is out: their accesses are dropped, and those to them answered
 * by FT_ERR_DEAD. */
void ft_access_out(struct ft_access *a, int from, int end);
/* Why accesses cannot go on; NULL: they can. */
const char *ft_access_why(const struct ft_access *a);

#endif
