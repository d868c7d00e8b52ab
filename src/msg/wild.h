/* SPDX-License-Identifier: BSD-3-Clause
 *
 * wild.h - the outcomes of wildcard receives and probes, kept where they outlive the process that saw them (protocol 6).
 *
 * In eras that are replayed from logs (setup, and what follows FTRMA_Run) the n-th receive or successful probe from any source is event n, and
 * its source is written to the process's *log home*, the next rank, before the call that uses it returns. A replacement reads them there and
 * receives its n-th wildcard from the recorded source. The process keeps a copy, to fill a new log home.
 */
#ifndef FT_MSG_WILD_H
#define FT_MSG_WILD_H

#include "transport/transport.h"

/* replacement: this process repeats what another has done: events are taken from the log home. */
void ft_wild_init(struct ft_tp *tp, int nranks, int myrank, const int *slot_of, int replacement, uint64_t recorded);
/* Number of a wildcard that is posted now in a kept era. */
uint32_t ft_wild_next(void);
uint32_t ft_wild_peek(void); /* that it would have */
/* Source that event n had in the process that is repeated; -1: it is not known, any will do. */
int ft_wild_recorded(uint32_t n);
/* Event n has this source: written to the log home on return. */
void ft_wild_record(uint32_t n, int source);
/* The log home is carried by another process now: it is filled anew. */
void ft_wild_rebind(int rank, int slot);
#endif
