/* SPDX-License-Identifier: BSD-3-Clause
 *
 * play.h - all ranks of a kernel in one process: who sends what to whom as in CG or LULESH, over
 * klog.h, with ranks that are lost. In place of numbers it mixes bits, so that a message that is
 * missing, doubled, late or another's changes the result; a message out of turn is found at once.
 *
 * Nothing here waits: whoever drives it says which rank does something next.
 */
#ifndef KLOG_PLAY_H
#define KLOG_PLAY_H

#include "klog.h"

enum play_kernel {
    PLAY_CG,     /* sums along a row of processes, the transpose partner, two sums of a number */
    PLAY_STENCIL /* up to 26 neighbours, then up to 6 */
};

struct play;

/* ranks: 4 to the power of n for CG, a cube for the stencil. iterations: of the run. NULL: no
 * memory. */
struct play *play_create(enum play_kernel kernel, int ranks, int cp_int, int log_size,
                         int iterations);
void play_destroy(struct play *p);

int play_phases(
    const struct play *p); /* an iteration's: in each, send to some, receive from them */

/* Where a rank is, and the newest checkpoint that it knows to be complete. phase: -1 before the
 * iteration has begun. */
struct play_place {
    int iteration, phase, checkpoint;
    bool sent, waits_for_checkpoint, done;
};
struct play_place play_at(const struct play *p, int rank);

/* A rank does the next thing: saves its checkpoint or sees that all have theirs, begins, sends the
 * messages of a phase, or receives them. false: it cannot, or has come to its end. */
bool play_step(struct play *p, int rank);
/* Steps of ranks drawn from seed, this many; or 0: until all are done. false: all stand still. */
bool play_run(struct play *p, uint64_t *seed, int steps);
/* Does steps of each rank in turn until all have done this many iterations and begun no other. */
void play_lockstep(struct play *p, int iteration);

/* The rank, its messages and its memory are gone. Its checkpoints are kept elsewhere. */
void play_lose(struct play *p, int rank);
/* All are told: whoever lives aborts its iteration, replacements begin, messages under way are
 * dropped, and the module decides. front: if not NULL, where each rank then was. */
enum klog_way play_tell(struct play *p, int front[]);

uint64_t play_result(const struct play *p);
uint64_t play_work(const struct play *p); /* iterations that were done to their end, of all ranks */
struct klog_counts play_counts(const struct play *p, int rank);
int play_checkpoint(
    const struct play *p); /* the newest that any living rank knows to be complete */

#endif
