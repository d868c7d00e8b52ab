/* SPDX-License-Identifier: BSD-3-Clause
 *
 * channels.h - what the runtime asks of the message layer: start, new carriers, eras, messages in
 * an image. Main only.
 */
#ifndef FT_MSG_CHANNELS_H
#define FT_MSG_CHANNELS_H

#include "alog/chan.h"
#include "alog/mismatch.h"
#include "alog/said.h"
#include "base/engine.h"
#include "msg/msg.h"

/* slot_of: [nranks], the present carriers (copied). What a replacement repeats is in
 * alog/homelog.h. */
void ft_msg_init(struct ft_tp *tp, int nranks, int myrank, const int *slot_of, int replacement);
/* Rank is now carried by slot. Its messages are read there, from the first record that was not
 * consumed; messages to it are announced there. [A receive in the middle of a message from the dead
 * goes on where the replacement repeats it.] */
void ft_msg_rebind(int rank, int slot);
/* The messages' part of an image: era, where each channel stands, and the messages that have
 * arrived and were not received. ft_msg_pending_bytes returns its size, ft_msg_pending_save writes
 * it; nothing is received or sent between the two calls. alone 0: all senders stand still (a
 * coordinated cut). alone 1: others go on, which requires ft_msg_settled; the part then holds what
 * others may still need of this process's outgoing channels. */
size_t ft_msg_pending_bytes(int alone);
void ft_msg_pending_save(char *out, int alone);
/* Whether this process can take an image alone now: there are no requests, and nothing that a
 * replacement has still to repeat is waited for. */
int ft_msg_settled(void);
int ft_msg_was_settled(void); /* the same of what ft_msg_pending_bytes has seen */
/* After ft_msg_pending_bytes: returns the number of the first record of rank's channel that the
 * image has not consumed. */
uint64_t ft_msg_position(int rank);
/* rank has taken a latest image alone since the committed one of `version`, and needs nothing of
 * its channel before record seq. Only while nobody reads this process's log for it (ft_chan_cover).
 * Returns the number of chunks that were freed. */
int ft_msg_covered(int rank, uint64_t version, uint64_t seq);
/* Bytes of the records that are kept for rank. */
uint64_t ft_msg_kept_for(int rank);
/* size of this part without any message; may be called at any time */
size_t ft_msg_head_bytes(void);
/* This process has taken its image of `version` (after ft_msg_pending_save, while all still stand).
 * Notes where each outgoing channel stands, for replacements of readers. Copies the messages that
 * were not received, since a replaced sender does not repeat them. In an era kept to the cut,
 * keeping begins again if it had stopped. The same version may be cut again if its checkpoint was
 * called off. snapshot 1: in a snapshot, while others go on (pending_bytes with alone 1). Then
 * nothing is copied, since the image holds what others may need of this process's channels. */
void ft_msg_cut(uint64_t version, int snapshot);
/* A process that is after the cut of a snapshot releases nothing. This does it once the snapshot is
 * over. */
void ft_msg_release_all(void);
/* All go back to images of one snapshot (or only this process, in a later era). Messages under way
 * over the cut are in their senders' images; ft_msg_resend sends them again, once the era has
 * begun. saved: the messages' part of an image that was taken while others went on
 * (saved_in_snapshot). from: the first record of this process's channel that the image of dst has
 * not consumed (saved_position in that image). */
int ft_msg_saved_in_snapshot(const char *saved, size_t bytes);
uint64_t ft_msg_saved_position(const char *saved, int rank);
/* saved by an earlier job: none of this job's eras is the image's */
void ft_msg_saved_elsewhere(char *saved);
enum ft_status ft_msg_resend(const char *saved, int dst, uint64_t from);
/* Whether all that this process has said lies on its readers' nodes. If not, it asks: to be called
 * until it is so. */
int ft_msg_placed(void);
/* Drops all open requests, positions and unexpected messages, and begins an era. The messages saved
 * in an image (saved, bytes; copied; bytes 0: none) come first. Nobody sends in the old era any
 * more. version: the committed one with which the era begins; 0: there is none. */
void ft_msg_begin_era(uint32_t era, enum ft_keep keep, uint64_t version, const char *saved,
                      size_t bytes);
/* For a replacement that has run setup and restores its image alone while all others go on in
 * `era`. As ft_msg_begin_era, but it repeats what was said after the image under the old numbers,
 * and reads again what it was told after it. version (> 0): the committed one, also when the image
 * is a later one that was taken alone; then what was logged before that image is gone. */
void ft_msg_resume(uint32_t era, enum ft_keep keep, uint64_t version, const char *saved,
                   size_t bytes);
/* In a replacement: returns 1 when it has repeated all messages of its former carriers that others
 * have seen. Returns 0 also while one of the others has not yet told what it has seen
 * (ft_msg_rebind). Others ring a process that asks this in a waiting loop. */
int ft_msg_evidence_passed(void);
/* 1 + a rank that has seen messages which this process has not repeated; 0: none */
int ft_msg_evidence_missed(void);
/* Called when the replacement of rank says something else than its former carrier had said (R0).
 * Set by the runtime; may not return. */
typedef void ft_msg_diverged_fn(int rank, const struct ft_mismatch *mismatch);
extern FT_STATE(ft_msg_diverged_fn *, ft_msg_diverged);
#define ft_msg_diverged FT_MY(ft_msg_diverged)
uint32_t ft_msg_era(void);
struct ft_said ft_msg_said(int rank); /* summary of messages to rank in setup; call it only there */
/* From now on consumed records of this era may be dropped: there are no checkpoints, so nothing
 * will ever be replayed. */
void ft_msg_stop_keeping(void);

#endif
