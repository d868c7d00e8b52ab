/* SPDX-License-Identifier: BSD-3-Clause
 *
 * windows.h - what the runtime asks of the one-sided layer: start, new carriers, repair, memory in an image. Main thread only, but for
 * ft_rma_repair.
 */
#ifndef FT_RMA_WINDOWS_H
#define FT_RMA_WINDOWS_H

#include "alog/chan.h"

/* slot_of: [nranks], the carriers now (copied). */
void ft_rma_init(struct ft_tp *tp, int nranks, int myrank, const int *slot_of);
void ft_rma_rebind(int rank, int slot);
/* Agent: the process of `slot` has died; leaves the critical sections that it was inside of in this process's windows, undoing
 * what it had begun. */
void ft_rma_repair(struct ft_arena *own, int dead_slot);
/* Own window parts, in order of creation: memory and bytes of the i-th; 0 when there are no more. */
int ft_rma_region(int i, void **addr, size_t *bytes);
/* Windows made inside body are gone with it: their own parts are given back, without a word to the others. Before memory is restored. */
void ft_rma_drop_body_windows(void);
/* After a rollback: epochs and locks are gone, here and in the own parts. */
void ft_rma_reset(void);

/* --- checkpoints and replay --- */

/* A checkpoint's cut: own epochs are closed, LP begins its next interval. The state of the engine for the image: bytes that it
 * takes, and it. */
void ft_rma_cut(uint64_t version);
size_t ft_rma_state_bytes(void);
void ft_rma_state_save(char *out);
/* What it holds of counts (ACC) is true from here on; tell: also at the targets (a rollback: they are taken back, too). */
void ft_rma_state_counts(const char *saved, int tell);
/* Which locks were held at the cut: once body, entered again, has come to the image's safepoint. */
void ft_rma_state_locks(const char *saved);

struct ft_rma_replay {
    uint64_t fetched, bytes, applied; /* records of others, and own ones */
};
extern struct ft_rma_replay ft_rma_replayed;
/* Fetches what others have logged for this rank in a segment after the cut of version (0: all of it); the own part of it is in
 * the log home, read before. calls: begun at the cut. */
void ft_rma_replay_begin(enum ft_segment seg, uint64_t version, uint64_t calls);
/* Applies what is eligible now that ft_calls calls have begun (R4). */
void ft_rma_replay_step(void);
/* 1: no put of others says that the lost process had begun more calls. */
int ft_rma_replay_passed(void);
/* Applies the rest; stamps, counts and locks are as the others know them. Afterwards others may access the windows (the caller
 * says so). */
void ft_rma_replay_live(void);
/* Nothing is replayed any more (a rollback). */
void ft_rma_replay_drop(void);

/* The most bytes that MPI_Win_allocate gave out at a time: the program's own memory, though it lies in the arena. */
extern uint64_t ft_rma_most_allocated;

/* 1 while main is inside an access (rma_internal.h). */
extern _Atomic int ft_rma_inside;
/* 1 while accesses are outside FTRMA_Run's body (setup, or what follows it). */
extern int ft_rma_outside;
struct ft_part;
void ft_rma_mark(struct ft_part *p);

#endif
