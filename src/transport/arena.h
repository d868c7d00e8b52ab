/* SPDX-License-Identifier: BSD-3-Clause
 *
 * arena.h - one shared-memory object per process that holds all that others may touch.
 *
 *   0                ctl.peer[nslots]  heap_begin              half of the address space
 *   +----------------+-----------------+-----------------------+------------------+
 *   | control block  | one entry for   | heap: channels, logs, | windows (seen.h) |
 *   | (ctl.h)        | each slot       | images                |                  |
 *   +----------------+-----------------+-----------------------+------------------+
 *
 * Addresses in shared memory are offsets from the arena's begin. The file has no name (O_TMPFILE,
 * or memfd): when its last process has gone the kernel frees it, whatever happened. The heap is
 * managed by its owner alone; a mutex of the process keeps main and agent apart. Memory is taken
 * from the file system when the heap grows, so that a full /dev/shm is an error code and never a
 * SIGBUS.
 */
#ifndef FT_TRANSPORT_ARENA_H
#define FT_TRANSPORT_ARENA_H

#include <pthread.h>

#include "base/base.h"
#include "base/engine.h"
#include "base/fds.h"
#include "transport/area.h"
#include "transport/ctl.h"

/* File offsets from here on mirror the owner's address space: the page at address A, once it is
 * shared (MPI_Win_create), lies at FT_MIRROR + A. So parts of the program's memory keep their
 * distances, whatever is shared, in which order, and how often. */
#define FT_MIRROR (1ull << 48)
/* From here on others keep what must outlive them: the log home of the rank before
 * (alog/homelog.h). Made real as it is used, by who uses it. */
#define FT_GUEST (1ull << 49)

/* From here on lies nothing: file space that is set aside for what this arena is to take later
 * (ft_arena_set_aside). */
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
    struct ft_fd_file file;        /* that fd is to be */
    uint64_t bytes;                /* of address space */
    uint64_t heap_begin, heap_top; /* blocks lie in [begin, top) */
    uint64_t backed;               /* file space taken up to here */
    struct ft_fill heap_fill, seen_fill;
    struct ft_area seen;    /* where windows lie: main's alone. The heap ends where it begins */
    uint64_t in_use, peak;  /* bytes in allocated blocks */
    uint64_t free_list;     /* offset of the first free block, 0 none */
    uint64_t last;          /* offset of the last block, 0 none */
    _Atomic uint64_t aside; /* bytes of file space set aside */
    uint64_t reserve[FT_RESERVES]; /* blocks that are put by, 0 none (ft_arena_put_by) */
    pthread_mutex_t lock;
};

/* Creates this process's arena. dir: a directory on a tmpfs, or "memfd". FT_ERR_SYS with errno,
 * FT_ERR_NOMEM. */
enum ft_status ft_arena_create(struct ft_arena *a, int slot, int nslots, uint64_t bytes,
                               const char *dir);
void ft_arena_destroy(struct ft_arena *a);
/* Bytes that its file system has left; UINT64_MAX: it says nothing of it. */
uint64_t ft_arena_left(const struct ft_arena *a);
/* Bytes that arenas in dir can take in all, used or not, so that all processes hear the same;
 * "memfd": half of the machine's memory. */
uint64_t ft_arena_capacity(const char *dir);
/* Offset of `bytes` bytes of any content, aligned to `align` (a power of two, 64 at the least); 0:
 * no room. */
uint64_t ft_arena_alloc(struct ft_arena *a, uint64_t bytes, uint64_t align);
void ft_arena_free(struct ft_arena *a, uint64_t off); /* 0 is ignored */
/* Puts up to n (FT_RESERVES at most) blocks by, as far as there is room; and gives one of them back
 * to the heap: 0: there is none. Main. */
void ft_arena_put_by(struct ft_arena *a, int n);
int ft_arena_use_reserve(struct ft_arena *a);
/* File space is set aside, so many bytes in all (less than before: the rest is given back), and
 * taken from there when the file system has no more. One thread at a time. 0: no room, nothing has
 * changed. */
int ft_arena_set_aside(struct ft_arena *a, uint64_t bytes);
/* There is no room for so many bytes, without which main cannot go on. Set by the runtime: gives
 * back what can be missed (1: try again), or ends the job. Until then, and outside of a job: 0.
 * Main only. */
extern FT_STATE(__typeof__(int (*)(uint64_t bytes)), ft_no_room);
#define ft_no_room FT_MY(ft_no_room)
/* The same as ft_arena_alloc, for main, which cannot go on without: asks ft_no_room before it
 * returns 0. */
uint64_t ft_arena_need(struct ft_arena *a, uint64_t bytes, uint64_t align);
/* Makes [from, to) of the file real, outside of the heap; 0: no room, then a part of it may be
 * real. Main only. */
int ft_arena_make_real(struct ft_arena *a, uint64_t from, uint64_t to);
static inline void *ft_arena_ptr(const struct ft_arena *a, uint64_t off) { return a->base + off; }
static inline uint64_t ft_arena_off(const struct ft_arena *a, const void *p)
{
    return (uint64_t)((const char *)p - a->base);
}
/* Structure self-check: asserts. */
void ft_arena_check(struct ft_arena *a);

/* Addresses for others' memory (ops->lend, place), nothing behind them yet: at hint, if that is not
 * NULL and they are free; NULL: none. */
void *ft_arena_reserve(void *hint, uint64_t bytes);
void ft_arena_unreserve(void *p, uint64_t bytes);

/* Where arenas are mapped: the own one at the same address in every process, so that pointers into
 * windows keep their meaning in a replacement; peers after it. */
void *ft_arena_map_hint(int index, uint64_t bytes);
/* A descriptor of a new file without a name in dir, or in no directory (memfd); -1: errno. */
int ft_arena_file(const char *dir);

#endif
