/* SPDX-License-Identifier: BSD-3-Clause
 *
 * channels.h - what the runtime asks of the message layer: start, new carriers, eras, messages in
 * an image. Main thread only.
 */
#ifndef FT_MSG_CHANNELS_H
#define FT_MSG_CHANNELS_H

#include "alog/chan.h"
#include "alog/mismatch.h"
#include "alog/said.h"
#include "base/engine.h"
#include "msg/msg.h"

/* slot_of: [nranks], the carriers now (copied). replacement and wildcards are not looked at: what a
 * replacement repeats is known to alog/homelog.h. */
void ft_msg_init(struct ft_tp *tp, int nranks, int myrank, const int *slot_of, int replacement);
/* Rank is now carried by slot: what it says from now on is read there, from the first record that
 * was not yet consumed; what was said to it is announced there. [A receive in the middle of a
 * message from the dead goes on where the replacement repeats it.]
 */
void ft_msg_rebind(int rank, int slot);
/* The messages' part of an image: era, where each channel stands, and the messages that have
 * arrived and were not received. Its bytes, and the part itself; nothing is received or sent
 * between the two calls. alone 0: all senders stand still (a coordinated cut). 1: others go on,
 * which must be possible (ft_msg_settled): with what others may still need of this process's
 * outgoing channels. */
size_t ft_msg_pending_bytes(int alone);
void ft_msg_pending_save(char *out, int alone);
/* Whether this process can take an image alone now: no requests, and nothing that a replacement has
 * still to repeat is waited for. */
int ft_msg_settled(void);
/* After ft_msg_pending_bytes: number of the first record of rank's channel that the image has not
 * consumed. */
uint64_t ft_msg_position(int rank);
/* rank has a latest image that was taken alone since the committed one of `version`, and needs
 * nothing of what it was sent before record seq. Only while nobody reads this process's log for it
 * (ft_chan_cover). Returns the chunks that were freed. */
int ft_msg_covered(int rank, uint64_t version, uint64_t seq);
/* Bytes of the records that are kept for rank. */
uint64_t ft_msg_kept_for(int rank);
size_t ft_msg_head_bytes(void); /* that of an image without messages; any time */
/* This process has taken its image of `version` (after ft_msg_pending_save, all still standing):
 * notes where each outgoing channel stands, for replaced readers; messages that were not received
 * become copies, since a replaced sender does not repeat them. In an era kept to the cut, keeping
 * begins again if it had stopped. The same version may be cut again if its checkpoint was called
 * off. snapshot: in a snapshot, while others go on (pending_bytes with alone 1): nothing is copied,
 * the image holds what others may need of this process's channels. */
void ft_msg_cut(uint64_t version, int snapshot);
/* After in a snapshot nothing is released; once it is over: */
void ft_msg_release_all(void);
/* All go back to images of one snapshot (or this process, in a later era): what was under way over
 * the cut is in its sender's image. saved: the messages' part of an image that was taken while
 * others went on (saved_in_snapshot). from: what the image of dst has not consumed of the channel
 * from the process of this one (saved_position in that). To be called when the era has begun; says
 * those messages. */
int ft_msg_saved_in_snapshot(const char *saved, size_t bytes);
uint64_t ft_msg_saved_position(const char *saved, int rank);
void ft_msg_saved_elsewhere(
    char *saved); /* by a job before this one: no era of this one is that of the image */
enum ft_status ft_msg_resend(const char *saved, int dst, uint64_t from);
/* Drops all open requests, positions and unexpected messages, and begins an era; the messages saved
 * in an image (saved, bytes; copied; bytes 0: none) come first. Nobody sends in the old era any
 * more. version: the committed one that the era begins with, 0: there is none. */
void ft_msg_begin_era(uint32_t era, enum ft_keep keep, uint64_t version, const char *saved,
                      size_t bytes);
/* In a replacement that has run setup and restores its image alone while all others go on in `era`:
 * as ft_msg_begin_era, but it says again what was said after the image under the old numbers, and
 * hears again what it was told after it. version (> 0): of the committed one, also where the image
 * is a later one that was taken alone; then what was logged before that is gone. */
void ft_msg_resume(uint32_t era, enum ft_keep keep, uint64_t version, const char *saved,
                   size_t bytes);
/* In a replacement: 1 when it has said again all that the others have seen of its former carriers'
 * messages; 0 also while one of them has not yet said what that is (ft_msg_rebind). Those who ask
 * in a waiting loop are rung. */
int ft_msg_evidence_passed(void);
int ft_msg_evidence_missed(
    void); /* 1 + a rank that has seen messages which it has not said again; 0: none */
/* What the replacement of rank says is not what its former carrier had said (R0). Set by the
 * runtime; may not return then. */
typedef void ft_msg_diverged_fn(int rank, const struct ft_mismatch *mismatch);
extern FT_STATE(ft_msg_diverged_fn *, ft_msg_diverged);
#define ft_msg_diverged FT_MY(ft_msg_diverged)
uint32_t ft_msg_era(void);
struct ft_said ft_msg_said(int rank); /* to rank, in setup; only there */
/* From now on consumed records of this era may be dropped (there are no checkpoints: nothing will
 * ever be replayed). */
void ft_msg_stop_keeping(void);

#endif
