/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ctl.h - the control block at the begin of each arena: what its process and others tell each
 * other by single words.
 */
#ifndef FT_TRANSPORT_CTL_H
#define FT_TRANSPORT_CTL_H

#include "base/base.h"
#include "base/version.h"

#define FT_CTL_MAGIC 0x6c746361u
#define FT_MAX_WINDOWS 1024
/* slots for images or codewords: the committed one, the latest, one that is being built, one that
 * is being saved */
#define FT_IMAGES 4

_Static_assert(FT_MAX_SLOTS <= 4096, "a generation, of which each has lost a slot, has 12 bits");

/* What the process of slot p and the owner q of this control block say to each other. */
struct ft_ctl_peer {
    /* written by p: where in p's arena its channel to q and its mailbox for q's agent begin; 0:
     * there is none */
    FT_ALIGNED_LINE _Atomic uint64_t chan, mailbox;
    /* indexed by *ranks*. acc, of the control block's owner q: combining operations of rank p that
     * were applied here (ACC(p->q), L0). putlog, of the control block's owner p: where in its arena
     * the headers of the put log for rank q lie; 0: never put anything there. out: its channel to
     * rank q: a replacement of q looks here [p computes for long, or polls its own window, and
     * announces it to the new carrier only when it calls again] */
    FT_ALIGNED_LINE _Atomic uint64_t acc;
    _Atomic uint64_t putlog, out;
    /* of the control block's owner, a rank: number of the first record of rank p's channel that the
     * image in each slot has not consumed. A checksum process: version of rank p's image in the
     * codeword in each slot */
    _Atomic uint64_t covered[FT_IMAGES];
    /* of the owner, a rank: the same of rank p's channel for its image of the newest snapshot
     * (cut.h) */
    _Atomic uint64_t snapshot_pos;
    /* written by q: chunks of the channel that its main has wholly consumed (era << 40 | count),
     * mails its agent has taken */
    FT_ALIGNED_LINE _Atomic uint64_t released, mails_taken;
    /* written by q's main when p replaces another: 1 + number of the next record that q had not
     * seen of those before p; 0: not yet */
    _Atomic uint64_t seen;
    /* and before that: where in its arena the list lies of synchronous messages among these that no
     * receive has; 0: there are none */
    _Atomic uint64_t unmatched;
    /* indexed by ranks, too; written by the control block's owner p alone: ACC(p->q) as p counts
     * it. A replacement of q finds here what its own copy was */
    FT_ALIGNED_LINE _Atomic uint64_t acc_mine;
    /* the same: calls(p) of processes of rank p that were lost, the most, as the owner's agent
     * found it; 0 when all have gone back */
    _Atomic uint64_t lost_calls;
};

enum { FT_INSIDE = 1, FT_INSIDE_OF = 2 };

/* A window part that the owner exposes: written by it alone, id last. */
struct ft_win_entry {
    _Atomic uint64_t id;         /* 0: free */
    uint64_t base, bytes, locks; /* offsets; locks: struct ft_win_locks */
    /* of the first member of a shared window: where all its parts lie; where `home` is not 0: where
     * this part lies there; else 0 */
    uint64_t segment;
    int32_t disp_unit,
        home;               /* home: 1 + slot in whose arena the part lies; 0: in the owner's own */
    _Atomic uint64_t image; /* where the part lies in the image of the newest snapshot; 0: it cannot
                               be accessed there */
};

struct ft_ctl {
    uint32_t magic, slot, nslots, pad;
    uint64_t arena_bytes;
    /* the main's doorbell: sleepers and ringers, see wait.h */
    FT_ALIGNED_LINE _Atomic uint32_t bell;
    FT_ALIGNED_LINE _Atomic uint32_t sleeping;
    /* bumped by whoever announces a new channel to this process */
    FT_ALIGNED_LINE _Atomic uint32_t announced;
    /* set by whoever accesses this process's windows, or by it when it accesses others', in a phase
     * that is replayed from message logs */
    _Atomic uint32_t phase_rma;
    /* written by the own main: 0 outside of accesses to windows, FT_INSIDE inside of one,
     * FT_INSIDE_OF + slot: of one to this slot's, while a snapshot is under way. Its newest
     * snapshot, once its image is whole */
    FT_ALIGNED_LINE _Atomic uint32_t inside;
    _Atomic uint64_t snapshot_copied;
    /* the same, from before the image is begun; written by the own agent */
    FT_ALIGNED_LINE _Atomic uint64_t snapshot_entered;
    _Atomic uint32_t mails_wait; /* 1: who takes a mail of this process's agent is to ring it.
                                    Written by that agent */
    FT_ALIGNED_LINE _Atomic uint64_t stamp; /* T(q), by whoever closes an epoch or combines here */
    /* 1: this process's windows may be accessed; 0: a replacement that replays. A checksum process:
     * 1: it has its codewords. Newest generation whose lost processes nobody here accesses */
    FT_ALIGNED_LINE _Atomic uint32_t live;
    _Atomic uint32_t rejoined;
    /* cuts of the two newest checkpoints: the put log's records of this interval or later are after
     * it */
    struct {
        _Atomic uint64_t version, interval;
    } cut[2];
    /* images: what a replacement or a checksum process reads (src/image); where the slots are and
     * what is in them */
    FT_ALIGNED_LINE struct {
        _Atomic uint64_t off, bytes, version; /* version 0: nothing complete */
        _Atomic uint64_t
            stamp; /* of an image that was taken alone: it covers the stamps up to this one */
    } image[FT_IMAGES];
    /* version of the latest image or codeword, if it is a later one than the committed one that it
     * counts from (FT_VERSION_BASE), written by the agent; else 0 or one that counts from another
     */
    _Atomic uint64_t latest;
    FT_ALIGNED_LINE struct ft_win_entry win[FT_MAX_WINDOWS];
    struct ft_ctl_peer peer[];
};

#endif
