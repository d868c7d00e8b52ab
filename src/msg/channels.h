/* SPDX-License-Identifier: BSD-3-Clause
 *
 * channels.h - what the runtime asks of the message layer: start, new carriers, eras, messages in an image. Main thread only.
 */
#ifndef FT_MSG_CHANNELS_H
#define FT_MSG_CHANNELS_H

#include "alog/chan.h"
#include "msg/msg.h"

/* slot_of: [nranks], the carriers now (copied). replacement: this process repeats what a lost one did; it had recorded so many wildcard
 * outcomes. */
void ft_msg_init(struct ft_tp *tp, int nranks, int myrank, const int *slot_of, int replacement, uint64_t wildcards);
/* What happened in an era that is replayed cannot be replayed any more: its log was over the limit, or its wildcard outcomes are lost. */
extern _Atomic int ft_msg_not_replayable;
/* Rank is now carried by slot: what it says from now on is read there, from the first record that was not yet consumed; what was
 * said to it is announced there. [A receive in the middle of a message from the dead goes on where the replacement repeats it.] */
void ft_msg_rebind(int rank, int slot);
/* Messages that have arrived and were not received: bytes that their copies take in an image, and the copies. Call when all
 * senders stand still. */
size_t ft_msg_pending_bytes(void);
void ft_msg_pending_save(char *out);
/* Drops all open requests, positions and unexpected messages, and begins an era; the messages saved in an image (saved, bytes; copied)
 * come first. Nobody sends in the old era any more. */
void ft_msg_begin_era(uint32_t era, int keep, const char *saved, size_t bytes);
uint32_t ft_msg_era(void);
/* From now on consumed records of this era may be dropped (there are no checkpoints: nothing will ever be replayed). */
void ft_msg_stop_keeping(void);

#endif
