/* SPDX-License-Identifier: BSD-3-Clause
 *
 * order.h - the living processes in step: checkpoints and rollbacks as a sequence of orders (P1, C2
 * to C6, G1). A machine without I/O.
 *
 * In each generation the root of the tree over the living slots issues orders, one after the other.
 * An order travels down the tree. Each process carries it out and says READY with a value. Values
 * merge on the way up, and when the root has all of them, it chooses the next order. So no process
 * is ever more than one order ahead of another, and "all have ..." is known before "now ...". A
 * decision on failures (a new generation) ends whatever was going on. Messages of other generations
 * are dropped, and so are those of the generation's dead. [A root decides generation 3, gives its
 * first order and dies, and nobody lives who had adopted it: the others decide another generation
 * 3, with the root among the dead, and then its order arrives.]
 *
 * Besides, a rank's *milestone* says how far it is: in setup, at FTRMA_Run's entry, body over, in
 * MPI_Finalize. It travels up whenever the minimum over a subtree changes. So the root knows that a
 * first or last checkpoint is due, and when all are done. In a new generation parents start from
 * SETUP until they hear otherwise, and the root heeds milestones only when its first order is done.
 * At RESTORE each process sets them back to RUN for its whole subtree: all are parked, so none is
 * on its way. [A rank's OVER from before the rollback would count after it.]
 *
 *   checkpoint:   PROPOSE -> (promises) -> TARGET(S) -> (arrived) -> CUT(v) -> (copied) ->
 *                 LEAVE(v) -> (parity staged) -> COMMIT(v) -> (flipped).
 *                 At any "not ok" or stuck: CANCEL.
 *   entry, exit:  CUT(v) -> LEAVE(v) -> COMMIT(v): the milestone says that all have arrived. Each
 * of these orders has the flag FT_ORDER_ENTRY or FT_ORDER_EXIT. They are tried once in a
 * generation. When the entry's are cancelled, FTRMA_Run returns an error without running body, and
 * votes say FT_AGREE_REFUSED from then on. When the exit's are, FTRMA_Run is left unprotected
 * (FT_AGREE_UNPROTECTED). [They are tried again: mains are blocked, nothing would change, for
 * ever.] Without checksum processes the order is LEAVE(0) with ENTRY, LEAVE(FT_SP_OVER) with EXIT.
 * It is given again in every generation, so that a replacement gets it, too; it changes nothing for
 * those that had it. If it is "not ok" because a replay diverged, RECOVER takes its place. [The
 * exit's is called off: all would leave FTRMA_Run with what they have.] snapshot:     the same with
 * FT_ORDER_SNAPSHOT from TARGET on. Each main takes its image when it comes to S and goes on. So
 * TARGET is answered when the image is taken, and CUT at once. A snapshot that is called off is
 * tried again; after MAX_SNAPSHOTS_OFF in a row there is a checkpoint by a barrier. The same holds
 * when a process says that there can be no snapshot (READY no_snapshot). rollback:     RECOVER(v)
 * -> (parked, rebuilt) -> RESTORE(v) -> (restored) -> RESUME(v) replay only:  REJOIN -> (mapped):
 * the replacement runs alone, from its image and from logs. RECOVER follows if that fails. end:
 * DONE
 *
 * The root of a generation is the lowest living slot. Versions of checkpoints count 1, 2, ...; the
 * number of a cancelled one is used again.
 */
#ifndef FT_PROTO_ORDER_H
#define FT_PROTO_ORDER_H

#include "proto/order_event.h"
#include "proto/tree.h"

struct ft_order {
    int self, nslots;
    int active;  /* between GENERATION and ENDING */
    int started; /* GENERATION was heard at all */
    uint32_t generation;
    struct ft_bitset failed; /* of this generation */
    struct ft_tree tree;
    /* the order under way here; NONE once this subtree has answered (root: once it is idle) */
    uint32_t seq; /* of the newest order */
    enum ft_order_kind order;
    uint64_t arg;
    uint32_t flags;
    int own_ready, child_ready[2];
    struct ft_ready own, child[2];
    /* milestones */
    int own_mile, child_mile[2], sent_mile;
    /* root only */
    uint64_t committed; /* newest version all have */
    int snapshots;      /* checkpoints are snapshots; set once, after init */
    int snapshots_off;  /* called off, in a row */
    uint64_t target;    /* of the newest TARGET */
    int due, run_over, done, checkpoints, entered, rollback;
    int rolled, again; /* in this generation: RECOVER was given; a checkpoint at either end was
                          begun again */
};

void ft_order_init(struct ft_order *m, int self, int nslots);
void ft_order_step(struct ft_order *m, const struct ft_order_event *ev,
                   struct ft_order_actions *actions);
int ft_order_is_root(const struct ft_order *m);
void ft_order_check(const struct ft_order *m);
int ft_order_dump(const struct ft_order *m, char *out, int size);

#endif
