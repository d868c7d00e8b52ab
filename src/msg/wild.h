/* SPDX-License-Identifier: BSD-3-Clause
 *
 * wild.h - the outcomes of wildcard receives and probes, stored where they outlive the process that
 * saw them (P3, L2).
 *
 * While messages are kept for replay, the n-th receive or successful probe from any source is event
 * n. Its source is written to the process's home log before the call that uses it returns. A
 * replacement reads it there, and receives its n-th wildcard from the recorded source.
 */
#ifndef FT_MSG_WILD_H
#define FT_MSG_WILD_H

#include "alog/homelog.h"

uint64_t ft_wild_next(void);
uint64_t ft_wild_peek(void);    /* the number of the next event; at a cut, the count */
void ft_wild_reset(uint64_t n); /* to the count of a restored image */
/* Returns the source of event n in the lost process; -1: not known, any source will do. */
int ft_wild_recorded(uint64_t n);
/* Records the source of event n; it is in the home log on return. */
void ft_wild_record(uint64_t n, int source);
/* The receive posted as nth of a call was cancelled before a message came for it. */
void ft_wild_cancelled(uint64_t call, uint64_t nth);
#endif
