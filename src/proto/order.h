/* SPDX-License-Identifier: BSD-3-Clause
 *
 * order.h - how the living processes keep in step. Checkpoints and rollbacks are sequences of
 * orders (P1, C2 to C6, G1). This is a machine without I/O.
 *
 * In each generation the root of the tree over the living slots gives orders, one after the other.
 * An order travels down the tree. Each process carries it out and says READY with a value. Values
 * merge on the way up. When the root has all of them, it chooses the next order. So no process is
 * ever more than one order ahead of another, and "all have ..." is known before "now ...". A
 * decision on failures (a new generation) ends whatever was going on. Messages of other generations
 * are dropped, and so are those of the generation's dead. [A root decides generation 3, gives its
 * first order and dies, and nobody lives who had adopted it. The others decide another generation
 * 3, with the root among the dead. Then the root's order arrives.]
 *
 * A rank's *milestone* says how far it has come: it is in setup, at FTRMA_Run's entry, at body's
 * end, or in MPI_Finalize. The milestone travels up whenever the minimum over a subtree changes. So
 * the root knows when a first or last checkpoint is due, and when all are done. In a new generation
 * parents assume SETUP until they hear otherwise, and the root heeds milestones only when its first
 * order is done. At RESTORE each process sets them back to RUN for its entire subtree: all are
 * parked, so no milestone is on its way. [A rank's OVER from before the rollback would count after
 * it.]
 *
 * Checkpoint
 *      PROPOSE -> (promises) -> TARGET(S) -> (arrived) -> CUT(v) -> (copied) -> LEAVE(v) -> (parity
 *      staged) -> COMMIT(v) -> (flipped). If anything is "not ok": CANCEL. If a main has not come to
 *      S but sleeps in the library, while another came only after the order was given: the same
 *      TARGET again. [It waited for that one, which computed.] If all others stood there already:
 *      CANCEL.
 *
 * Entry, exit
 *      CUT(v) -> LEAVE(v) -> COMMIT(v). The milestone says that all have arrived. Each of these
 *      orders has the flag FT_ORDER_ENTRY or FT_ORDER_EXIT. They are tried once in a generation. If
 *      the entry's are cancelled, FTRMA_Run returns an error without running body, and from then on
 *      votes say FT_AGREE_REFUSED. If the exit's are cancelled, FTRMA_Run is left unprotected
 *      (FT_AGREE_UNPROTECTED). [They are tried again. Mains are blocked, so nothing ever changes.]
 *
 *      Without checksum processes the order is LEAVE(0) with ENTRY, or LEAVE(FT_SP_OVER) with EXIT.
 *      It is given again in every generation, so that a replacement hears it, too. For those that
 *      had it, it changes nothing. If it is "not ok" because a replay has diverged, RECOVER
 * follows. [The exit's order is called off. All would leave FTRMA_Run with what they have.]
 *
 * Snapshot
 *      As a checkpoint, with FT_ORDER_SNAPSHOT from TARGET on. Each main takes its image when it
 *      comes to S, and goes on. So TARGET is answered when the image is taken, and CUT at once. A
 *      snapshot that is called off is tried again. After MAX_SNAPSHOTS_OFF in a row there is a
 *      checkpoint by a barrier, and also when a process says that no snapshot is possible (READY
 *      no_snapshot).
 *
 * Rollback
 *      RECOVER(v) -> (parked, rebuilt) -> RESTORE(v) -> (restored) -> RESUME(v).
 *
 * Replay
 *      REJOIN -> (mapped). The replacement runs alone, from its image and from logs. If that fails,
 *      RECOVER follows, and supersedes PROPOSE, TARGET and the exit's CUT.
 *
 * End
 *      DONE.
 *
 * The root of a generation is the lowest living slot. Versions of checkpoints count 1, 2, ... The
 * number of a cancelled checkpoint is used again.
 */
#ifndef FT_PROTO_ORDER_H
#define FT_PROTO_ORDER_H

#include "proto/order_event.h"
#include "proto/tree.h"

struct ft_order {
    int self, nslots;
    int active;  /* 1 between GENERATION and ENDING */
    int started; /* 1 once GENERATION was heard */
    uint32_t generation;
    struct ft_bitset failed; /* of this generation */
    struct ft_tree tree;
    /* The order under way here; NONE once this subtree has answered, or the root is idle. */
    uint32_t seq; /* seq of the newest order */
    enum ft_order_kind order;
    uint64_t arg;
    uint32_t flags;
    int own_ready, child_ready[2];
    struct ft_ready own, child[2];
    /* milestones */
    int own_mile, child_mile[2], sent_mile;
    /* The root only. */
    uint64_t committed; /* the newest version that all have */
    int snapshots;      /* checkpoints are snapshots; set once, after init */
    int snapshots_off;  /* how many in a row were called off */
    uint64_t target;    /* the safepoint of the newest TARGET */
    int due, run_over, done, checkpoints, entered, rollback;
    int rolled, again; /* in this generation: RECOVER was given; the checkpoint at entry or exit was
                        * begun again */
};

void ft_order_init(struct ft_order *m, int self, int nslots);
void ft_order_step(struct ft_order *m, const struct ft_order_event *ev,
                   struct ft_order_actions *actions);
int ft_order_is_root(const struct ft_order *m);
void ft_order_check(const struct ft_order *m);
int ft_order_dump(const struct ft_order *m, char *out, int size);

#endif
