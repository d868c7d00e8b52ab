/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ctl.h - the control block at the begin of each arena. Its process and others tell each other
 * things through single words in it.
 */
#ifndef FT_TRANSPORT_CTL_H
#define FT_TRANSPORT_CTL_H

#include "base/base.h"
#include "base/version.h"
#include "transport/wanted.h"

#define FT_CTL_MAGIC 0x6c746361u
#define FT_MAX_WINDOWS 1024
/* Slots for images or codewords: the committed one, the latest one, one that is being built, one
 * that is being saved. */
#define FT_IMAGES 4

_Static_assert(FT_MAX_SLOTS <= 4096, "a generation, of which each has lost a slot, has 12 bits");

/* The words between the process of slot p and the owner q of this control block. */
struct ft_ctl_peer {
    /* Written by p: the offsets in p's arena of its channel to q, and of its mailbox for q's agent;
     * 0: there is none. */
    FT_ALIGNED_LINE _Atomic uint64_t chan, mailbox;
    /* Indexed by *ranks*. acc, of the control block's owner q: combining operations of rank p that
     * were applied here (ACC(p->q), L0). putlog, of the control block's owner p: the offset in its
     * arena of the headers of the put log for rank q; 0: it never put anything there. out: its
     * channel to rank q, for a replacement of q. [p computes for long, or polls its own window, and
     * announces the channel to the new carrier only when it calls again.] */
    FT_ALIGNED_LINE _Atomic uint64_t acc;
    _Atomic uint64_t putlog, out;
    /* Of the control block's owner. A rank: the number of the first record of rank p's channel that
     * the image in each slot has not consumed. A checksum process: the version of rank p's image in
     * the codeword in each slot. */
    _Atomic uint64_t covered[FT_IMAGES];
    /* Of the owner, a rank: the same number for its image of the newest snapshot (cut.h). */
    _Atomic uint64_t snapshot_pos;
    /* Written by q: chunks of the channel that its main has consumed completely (era << 48 |
     * count), and mails that its agent has taken. */
    FT_ALIGNED_LINE _Atomic uint64_t released, mails_taken;
    /* Written by q's main when p replaces another process: 1 + the number of the first record of
     * that process that q had not seen; 0: not yet written. */
    _Atomic uint64_t seen;
    /* Written before that: the offset in its arena of the list of those synchronous messages among
     * these that no receive has matched; 0: there are none. */
    _Atomic uint64_t unmatched;
    /* Also indexed by ranks, and written by the control block's owner p alone: ACC(p->q) as p
     * counts it. A replacement of q finds here the value that q's own copy had. */
    FT_ALIGNED_LINE _Atomic uint64_t acc_mine;
    _Atomic uint32_t holds; /* likewise: at how many windows of q p holds a lock */
};

enum { FT_INSIDE = 1, FT_INSIDE_OF = 2 };

/* A window part that the owner exposes. Only the owner writes it, id last. */
struct ft_win_entry {
    _Atomic uint64_t id;         /* 0: free */
    uint64_t base, bytes, locks; /* base, locks: offsets; locks: struct ft_win_locks */
    /* In the entry of the first member of a shared window: the offset of the memory with all its
     * parts. If `home` is not 0: the offset of this part there. Else 0. */
    uint64_t segment;
    int32_t disp_unit,
        home; /* home: 1 + the slot in whose arena the part lies; 0: in the owner's own */
    /* offset of the part in the image of the newest snapshot; 0: it cannot be accessed there */
    _Atomic uint64_t image;
};

struct ft_ctl {
    uint32_t magic, slot, nslots;
    /* 1: a gateway stands in for this process, with one bell for all such (ft_gate_bell_ring) */
    uint32_t stand_in;
    uint64_t arena_bytes;
    /* Main's doorbell: a futex, and whether main sleeps on it; see wait.h. */
    FT_ALIGNED_LINE _Atomic uint32_t bell;
    FT_ALIGNED_LINE _Atomic uint32_t sleeping;
    /* Incremented by whoever announces a new channel to this process. */
    FT_ALIGNED_LINE _Atomic uint32_t announced;
    _Atomic uint64_t far_ring; /* offset of the ring of accesses to other nodes; 0: none */
    _Atomic uint64_t endpoint; /* offset of what others use of its endpoint (src/ftt); 0: none */
    /* inside: written by this process's main. 0 outside of accesses to windows, FT_INSIDE inside of
     * one; while a snapshot is under way FT_INSIDE_OF + slot, inside of an access to the window of
     * that slot. snapshot: the newest one whose image is complete here. */
    FT_ALIGNED_LINE _Atomic uint32_t inside;
    _Atomic uint64_t snapshot_copied;
    /* The newest snapshot whose image has been begun here. Written by this process's agent. */
    FT_ALIGNED_LINE _Atomic uint64_t snapshot_entered;
    /* 1: whoever takes a mail of this process's agent must ring it. Written by that agent */
    _Atomic uint32_t mails_wait;
    /* T(q); written by any process that closes an epoch or combines here */
    FT_ALIGNED_LINE _Atomic uint64_t stamp;
    /* live: 1: this process's windows may be accessed; 0: a replacement that is replaying. Of a
     * checksum process 1: it has its codewords. rejoined, let_go: the newest generation whose lost
     * processes nobody here accesses any more, and whose arenas nobody here maps any more (D5). */
    FT_ALIGNED_LINE _Atomic uint32_t live;
    _Atomic uint32_t rejoined, let_go;
    /* The cuts of the two newest checkpoints: records of the put log of this interval or later come
     * after the cut. */
    struct {
        _Atomic uint64_t version, interval;
    } cut[2];
    /* Images, for others to read (src/image): where the slots are, and what they hold. */
    FT_ALIGNED_LINE struct {
        _Atomic uint64_t off, bytes, version; /* version 0: it holds nothing complete */
        /* of an image that was taken alone: it covers the stamps up to this one */
        _Atomic uint64_t stamp;
    } image[FT_IMAGES];
    /* The version of the latest image or codeword if it is later than the committed one that it
     * builds on (FT_VERSION_BASE); else 0, or one that builds on another one. By the agent. */
    _Atomic uint64_t latest;
    FT_ALIGNED_LINE _Atomic uint64_t asked; /* incremented by main when it has asked for pieces */
    struct ft_wanted wanted[FT_WANTED];
    FT_ALIGNED_LINE struct ft_win_entry win[FT_MAX_WINDOWS];
    struct ft_ctl_peer peer[];
};

#endif
