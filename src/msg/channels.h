/* SPDX-License-Identifier: BSD-3-Clause
 *
 * channels.h - what the runtime asks of the message layer: start, new carriers, eras, messages in an image. Main thread only.
 */
#ifndef FT_MSG_CHANNELS_H
#define FT_MSG_CHANNELS_H

#include "alog/chan.h"
#include "msg/msg.h"

/* slot_of: [nranks], the carriers now (copied). replacement and wildcards are not looked at: what a replacement repeats is known to
 * alog/home.h. */
void ft_msg_init(struct ft_tp *tp, int nranks, int myrank, const int *slot_of, int replacement, uint64_t wildcards);
/* What happened in an era that is kept for ever cannot be replayed any more: a log of it (messages, LP, LG) was over the limit. */
extern _Atomic int ft_msg_not_replayable;
/* Rank is now carried by slot: what it says from now on is read there, from the first record that was not yet consumed; what was
 * said to it is announced there. [A receive in the middle of a message from the dead goes on where the replacement repeats it.] */
void ft_msg_rebind(int rank, int slot);
/* The messages' part of an image: era, where each outgoing channel stands, and the messages that have arrived and were not
 * received. Its bytes, and the part itself. Call when all senders stand still. */
size_t ft_msg_pending_bytes(void);
void ft_msg_pending_save(char *out);
size_t ft_msg_head_bytes(void); /* that of an image without messages; any time */
/* This process has taken its image of `version` (after ft_msg_pending_save, all still standing): notes where each outgoing
 * channel stands, for replaced readers; messages that were not received become copies, since a replaced sender does not repeat
 * them. In an era kept to the cut, keeping begins again if it had stopped. The same version may be cut again if its checkpoint
 * was called off. */
void ft_msg_cut(uint64_t version);
/* Drops all open requests, positions and unexpected messages, and begins an era; the messages saved in an image (saved, bytes;
 * copied; bytes 0: none) come first. Nobody sends in the old era any more. version: the committed one that the era begins with,
 * 0: there is none. */
void ft_msg_begin_era(uint32_t era, enum ft_keep keep, uint64_t version, const char *saved, size_t bytes);
/* In a replacement that has run setup and restores its image of `version` (> 0) alone while all others go on in `era`: as
 * ft_msg_begin_era, but it says again what was said after the cut under the old numbers, and hears again what it was told after
 * the cut. */
void ft_msg_resume(uint32_t era, enum ft_keep keep, uint64_t version, const char *saved, size_t bytes);
/* In a replacement: 1 when it has said again all that the others have seen of its former carriers' messages; 0 also while one of
 * them has not yet said what that is (ft_msg_rebind). Those who ask in a waiting loop are rung. */
int ft_msg_evidence_passed(void);
int ft_msg_evidence_missed(void); /* 1: somebody has seen messages that it has not said again */
/* What the replacement of rank says is not what its former carrier had said (R0). Set by the runtime; does not return then. */
extern void (*ft_msg_diverged)(int rank);
uint32_t ft_msg_era(void);
/* From now on consumed records of this era may be dropped (there are no checkpoints: nothing will ever be replayed). */
void ft_msg_stop_keeping(void);

#endif
