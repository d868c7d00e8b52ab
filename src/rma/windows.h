/* SPDX-License-Identifier: BSD-3-Clause
 *
 * windows.h - what the runtime asks of the one-sided layer: start, new carriers, repair, memory in an image. Main thread only, but for
 * ft_rma_repair.
 */
#ifndef FT_RMA_WINDOWS_H
#define FT_RMA_WINDOWS_H

#include "transport/transport.h"

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

/* The most bytes that MPI_Win_allocate gave out at a time: the program's own memory, though it lies in the arena. */
extern uint64_t ft_rma_most_allocated;

/* 1 while accesses are outside FTRMA_Run's body (setup, or what follows it). */
extern int ft_rma_outside;
struct ft_part;
void ft_rma_mark(struct ft_part *p);

#endif
