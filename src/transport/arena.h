/* SPDX-License-Identifier: BSD-3-Clause
 *
 * arena.h - one shared-memory object per process that holds all that others may touch.
 *
 *   0                    ctl.peer[nslots]           heap_begin                 half               size (address space)
 *   +--------------------+--------------------------+--------------------------+-------------------+
 *   | control block      | one entry a slot         | heap: channels, logs,    | windows (seen.h)  |
 *   |                    |                          | images                   |                   |
 *   +--------------------+--------------------------+--------------------------+-------------------+
 *
 * Addresses in shared memory are offsets from the arena's begin. The file has no name (O_TMPFILE, or memfd): when its last process
 * has gone the kernel frees it, whatever happened. The heap is managed by its owner alone; a mutex of the process keeps
 * main and agent apart. Memory is taken from the file system when the heap grows, so that a full /dev/shm is an error
 * code and never a SIGBUS.
 */
#ifndef FT_TRANSPORT_ARENA_H
#define FT_TRANSPORT_ARENA_H

#include <pthread.h>

#include "base/base.h"
#include "base/fds.h"
#include "transport/area.h"

#define FT_CTL_MAGIC 0x6c746361u
#define FT_MAX_WINDOWS 1024
#define FT_IMAGES 4 /* slots for images or codewords: the committed one, the latest, one that is being built, one that is being saved */

/* Versions: coordinated checkpoints count 1, 2 ... An image that a rank takes alone after checkpoint v has a number n and the
 * generation g that it was asked for in: g << 52 | n << 32 | v. Later ones of a rank are larger. */
#define FT_VERSION_BASE(v) ((v) & 0xffffffffull)
#define FT_VERSION_ALONE(v) ((v) >> 32) /* 0: coordinated */
#define FT_VERSION_NUMBER(v) ((v) >> 32 & 0xfffff)
#define FT_VERSION_GENERATION(v) ((uint32_t)((v) >> 52))
#define FT_VERSION_MAKE(base, generation, n) ((base) | (uint64_t)(1 + ((n) - 1) % 0xfffff) << 32 | (uint64_t)(generation) << 52)
_Static_assert(FT_MAX_SLOTS <= 4096, "a generation, of which each has lost a slot, has 12 bits");

/* File offsets from here on mirror the owner's address space: the page at address A, once it is shared (MPI_Win_create), lies at
 * FT_MIRROR + A. So parts of the program's memory keep their distances, whatever is shared, in which order, and how often. */
#define FT_MIRROR (1ull << 48)
/* From here on others keep what must outlive them: the log home of the rank before (alog/home.h). Made real as it is used, by who
 * uses it. */
#define FT_GUEST (1ull << 49)

/* What the process of slot p and the owner q of this control block say to each other. */
struct ft_ctl_peer {
    /* written by p: where in p's arena its channel to q and its mailbox for q's agent begin; 0: there is none */
    FT_ALIGNED_LINE _Atomic uint64_t chan, mailbox;
    /* indexed by *ranks*. acc, of the control block's owner q: combining operations of rank p that were applied here (ACC(p->q),
     * L0). lp, of the control block's owner p: where in its arena the headers of LP_p[q] for rank q lie; 0: never put
     * anything there. out: its channel to rank q: a replacement of q looks here [p computes for long, or polls its own window, and
     * announces it to the new carrier only when it calls again] */
    FT_ALIGNED_LINE _Atomic uint64_t acc;
    _Atomic uint64_t lp, out;
    /* of the control block's owner, a rank: number of the first record of rank p's channel that the image in each slot has not
     * consumed. A checksum process: version of rank p's image in the codeword in each slot */
    _Atomic uint64_t covered[FT_IMAGES];
    /* of the owner, a rank: the same of rank p's channel for its image of the newest snapshot (wave.h) */
    _Atomic uint64_t wave_pos;
    /* written by q: chunks of the channel that its main has wholly consumed (era << 40 | count), mails its agent has taken */
    FT_ALIGNED_LINE _Atomic uint64_t released, mails_taken;
    /* written by q's main when p replaces another: 1 + number of the next record that q had not seen of those before p; 0: not
     * yet */
    _Atomic uint64_t seen;
    /* and before that: where in its arena the list lies of synchronous messages among these that no receive has; 0: there are
     * none */
    _Atomic uint64_t unmatched;
    /* indexed by ranks, too; written by the control block's owner p alone: ACC(p->q) as p counts it. A replacement of q finds here what
     * its own copy was */
    FT_ALIGNED_LINE _Atomic uint64_t acc_mine;
    /* the same: calls(p) of processes of rank p that were lost, the most, as the owner's agent found it; 0 when all have gone back */
    _Atomic uint64_t lost_calls;
};

enum { FT_INSIDE = 1, FT_INSIDE_OF = 2 };

/* A window part that the owner exposes: written by it alone, id last. */
struct ft_win_entry {
    _Atomic uint64_t id; /* 0: free */
    uint64_t base, bytes, locks; /* offsets; locks: struct ft_win_locks */
    /* of the first member of a shared window: where all its parts lie; where `home` is not 0: where this part lies there; else 0 */
    uint64_t segment;
    int32_t disp_unit, home; /* home: 1 + slot in whose arena the part lies; 0: in the owner's own */
    _Atomic uint64_t image;  /* where the part lies in the image of the newest snapshot; 0: it cannot be accessed there */
};

struct ft_ctl {
    uint32_t magic, slot, nslots, pad;
    uint64_t arena_bytes;
    /* the main's doorbell: sleepers and ringers, see wait.h */
    FT_ALIGNED_LINE _Atomic uint32_t bell;
    FT_ALIGNED_LINE _Atomic uint32_t sleeping;
    /* bumped by whoever announces a new channel to this process */
    FT_ALIGNED_LINE _Atomic uint32_t announced;
    /* set by whoever accesses this process's windows, or by it when it accesses others', in a phase that is replayed from message logs */
    _Atomic uint32_t phase_rma;
    /* written by the own main: 0 outside of accesses to windows, FT_INSIDE inside of one, FT_INSIDE_OF + slot: of one to this
     * slot's, while a snapshot is under way. Its newest snapshot, once its image is whole */
    FT_ALIGNED_LINE _Atomic uint32_t inside;
    _Atomic uint64_t wave_copied;
    /* the same, from before the image is begun; written by the own agent */
    FT_ALIGNED_LINE _Atomic uint64_t wave_entered;
    _Atomic uint32_t mails_wait; /* 1: who takes a mail of this process's agent is to ring it. Written by that agent */
    FT_ALIGNED_LINE _Atomic uint64_t stamp; /* T(q), by whoever closes an epoch or combines here */
    /* 1: this process's windows may be accessed; 0: a replacement that replays. A checksum process: 1: it has its codewords. Newest
     * generation whose lost processes nobody here accesses */
    FT_ALIGNED_LINE _Atomic uint32_t live;
    _Atomic uint32_t rejoined;
    /* cuts of the two newest checkpoints: LP's records of this interval or later are after it */
    struct {
        _Atomic uint64_t version, interval;
    } cut[2];
    /* images: what a replacement or a checksum process reads (src/image); where the slots are and what is in them */
    FT_ALIGNED_LINE struct {
        _Atomic uint64_t off, bytes, version; /* version 0: nothing complete */
        _Atomic uint64_t stamp;               /* of an image that was taken alone: it covers the stamps up to this one */
    } image[FT_IMAGES];
    /* version of the latest image or codeword, if it is a later one than the committed one that it counts from (FT_VERSION_BASE),
     * written by the agent; else 0 or one that counts from another */
    _Atomic uint64_t latest;
    FT_ALIGNED_LINE struct ft_win_entry win[FT_MAX_WINDOWS];
    struct ft_ctl_peer peer[];
};

/* From here on lies nothing: file space that is set aside for what this arena is to take later (ft_arena_set_aside). */
#define FT_ASIDE (3ull << 48)

/* Room that is put by for messages: two chunks of a channel each. */
#define FT_RESERVES 8
#define FT_RESERVE_BYTES (132ull << 10)
/* What making memory real has cost. */
struct ft_fill {
    uint64_t huge_from; /* from here on huge pages may be tried (again) */
    uint64_t small_ns;  /* processor time that a huge page's worth of small ones took last */
};

struct ft_arena {
    char *base;
    struct ft_ctl *ctl;
    int fd;
    struct ft_fd_file file;       /* that fd is to be */
    uint64_t bytes;               /* of address space */
    uint64_t heap_begin, heap_top; /* blocks lie in [begin, top) */
    uint64_t backed;              /* file space taken up to here */
    struct ft_fill heap_fill, seen_fill;
    struct ft_area seen;          /* where windows lie: main's alone. The heap ends where it begins */
    uint64_t in_use, peak;        /* bytes in allocated blocks */
    uint64_t free_list;           /* offset of the first free block, 0 none */
    uint64_t last;                /* offset of the last block, 0 none */
    _Atomic uint64_t aside;       /* bytes of file space set aside */
    uint64_t reserve[FT_RESERVES]; /* blocks that are put by, 0 none (ft_arena_put_by) */
    pthread_mutex_t lock;
};

/* Creates this process's arena. dir: a directory on a tmpfs, or "memfd". FT_ERR_SYS with errno, FT_ERR_NOMEM. */
enum ft_status ft_arena_create(struct ft_arena *a, int slot, int nslots, uint64_t bytes, const char *dir);
void ft_arena_destroy(struct ft_arena *a);
/* Bytes that its file system has left; UINT64_MAX: it says nothing of it. */
uint64_t ft_arena_left(const struct ft_arena *a);
/* Bytes that arenas in dir can take in all, used or not, so that all processes hear the same; "memfd": half of the machine's memory. */
uint64_t ft_arena_capacity(const char *dir);
/* Offset of `bytes` bytes of any content, aligned to `align` (a power of two, 64 at the least); 0: no room. */
uint64_t ft_arena_alloc(struct ft_arena *a, uint64_t bytes, uint64_t align);
void ft_arena_free(struct ft_arena *a, uint64_t off); /* 0 is ignored */
/* Puts up to n (FT_RESERVES at most) blocks by, as far as there is room; and gives one of them back to the heap: 0: there is none. Main. */
void ft_arena_put_by(struct ft_arena *a, int n);
int ft_arena_use_reserve(struct ft_arena *a);
/* File space is set aside, so many bytes in all (less than before: the rest is given back), and taken from there when the file system has
 * no more. One thread at a time. 0: no room, nothing has changed. */
int ft_arena_set_aside(struct ft_arena *a, uint64_t bytes);
/* There is no room for so many bytes, without which main cannot go on. Set by the runtime: gives back what can be missed (1: try
 * again), or ends the job. Until then, and outside of a job: 0. Main only. */
extern int (*ft_no_room)(uint64_t bytes);
/* The same as ft_arena_alloc, for main, which cannot go on without: asks ft_no_room before it returns 0. */
uint64_t ft_arena_need(struct ft_arena *a, uint64_t bytes, uint64_t align);
/* Makes [from, to) of the file real, outside of the heap; 0: no room, then a part of it may be real. Main only. */
int ft_arena_make_real(struct ft_arena *a, uint64_t from, uint64_t to);
static inline void *ft_arena_ptr(const struct ft_arena *a, uint64_t off) { return a->base + off; }
static inline uint64_t ft_arena_off(const struct ft_arena *a, const void *p) { return (uint64_t)((const char *)p - a->base); }
/* Turns the pages of [addr, addr + bytes) into shared ones in place (those that are not yet) and returns the offset of addr. The
 * program's stack, heap, static data: contents and addresses stay. Main thread only; no other thread may write to these pages
 * meanwhile. FT_ERR_NOMEM, FT_ERR_SYS. */
enum ft_status ft_arena_share(struct ft_arena *a, void *addr, uint64_t bytes, uint64_t *off);
/* The same where thousands are shared: takes time by the number of ranges, not of the process's mappings. Pages on which a range
 * lies are taken to be shared, which they are unless the program has mapped others over them. */
enum ft_status ft_arena_share_one_of_many(struct ft_arena *a, void *addr, uint64_t bytes, uint64_t *off);
/* The end of a share with the same arguments: pages on which no other shared range lies become private ones again. */
void ft_arena_unshare(struct ft_arena *a, void *addr, uint64_t bytes);
/* Structure self-check: asserts. */
void ft_arena_check(struct ft_arena *a);

/* Addresses for others' memory (ops->lend, place), nothing behind them yet: at hint, if that is not NULL and they are free; NULL:
 * none. */
void *ft_arena_reserve(void *hint, uint64_t bytes);
void ft_arena_unreserve(void *p, uint64_t bytes);

/* Where arenas are mapped: the own one at the same address in every process, so that pointers into windows keep their meaning in a
 * replacement; peers behind it. */
void *ft_arena_map_hint(int index, uint64_t bytes);

#endif
