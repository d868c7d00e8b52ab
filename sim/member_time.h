/* SPDX-License-Identifier: BSD-3-Clause
 *
 * member_time.h - in virtual time: what happens by itself on nodes, and when.
 */
#ifndef FT_MEMBER_TIME_H
#define FT_MEMBER_TIME_H

#include "model_member.h"

void mb_timed_start(struct sim *s);
void mb_timed_slot_died(struct sim *s, int slot);
void mb_timed_node_gone(struct sim *s, int node); /* its gateway answers nobody any more */
/* Whether what was set for now is still possible. *q becomes what act means by it. */
int mb_timed_may(struct sim *s, int p, int act, int *q);
/* What follows from an act; MB_TICK: a message has come. */
void mb_timed_acted(struct sim *s, int p, int act, int q);

#endif
