/* SPDX-License-Identifier: BSD-3-Clause
 *
 * arena.h - arenas: one shared-memory object for each process, which holds all that others access.
 *
 *   0                ctl.peer[nslots]  heap_begin              half of the address space
 *   +----------------+-----------------+-----------------------+------------------+
 *   | control block  | one entry for   | heap: channels, logs, | windows (seen.h) |
 *   | (ctl.h)        | each slot       | images                |                  |
 *   +----------------+-----------------+-----------------------+------------------+
 *
 * Addresses in shared memory are offsets from the arena's begin. The file has no name (O_TMPFILE,
 * or memfd), so the kernel frees it with its last process, whatever happened. Only its owner
 * manages the heap; a mutex of the process serialises main and agent. The file system's memory is
 * taken when the heap grows. So a full /dev/shm is an error code and never a SIGBUS.
 */
#ifndef FT_TRANSPORT_ARENA_H
#define FT_TRANSPORT_ARENA_H

#include <pthread.h>

#include "base/base.h"
#include "base/engine.h"
#include "base/homelogs.h"
#include "transport/area.h"
#include "transport/ctl.h"

/* File offsets from here on mirror the owner's address space. When the page at address A is shared
 * (MPI_Win_create), it lies at FT_MIRROR + A. So parts of the program's memory keep their
 * distances, whatever is shared, in whichever order, and however often. */
#define FT_MIRROR (1ull << 48)
/* Nothing is stored from here on: this file space is set aside for later growth of the arena
 * (ft_arena_set_aside). */
#define FT_ASIDE (3ull << 48)

/* Room that is reserved for messages, for two chunks of a channel each. */
#define FT_RESERVES 8
#define FT_RESERVE_BYTES (132ull << 10)
/* What it has cost to take file space. */
struct ft_fill {
    uint64_t huge_from; /* from here on huge pages may be tried (again) */
    uint64_t small_ns;  /* processor time that as many small pages as a huge one holds took last */
};

struct ft_arena {
    char *base;
    struct ft_ctl *ctl;
    int fd;
    struct ft_fd_file file;        /* the file that fd must be */
    uint64_t bytes;                /* of address space */
    uint64_t heap_begin, heap_top; /* blocks lie in [begin, top) */
    uint64_t backed;               /* file space taken up to here */
    struct ft_fill heap_fill, seen_fill;
    /* the place of windows; only main uses it. The heap ends where it begins */
    struct ft_area seen;
    uint64_t in_use, peak;         /* bytes in allocated blocks */
    uint64_t free_list;            /* offset of the first free block; 0: none */
    uint64_t last;                 /* offset of the last block; 0: none */
    _Atomic uint64_t aside;        /* bytes of file space set aside */
    uint64_t reserve[FT_RESERVES]; /* reserved blocks (ft_arena_put_by); 0: none */
    pthread_mutex_t lock;
};

/* Creates this process's arena. dir: a directory on a tmpfs, or "memfd". FT_ERR_SYS with errno,
 * FT_ERR_NOMEM. */
enum ft_status ft_arena_create(struct ft_arena *a, int slot, int nslots, uint64_t bytes,
                               const char *dir);
void ft_arena_destroy(struct ft_arena *a);
/* Gives back the heap's file space. Nobody uses the heap from now on; the control block stays. */
void ft_arena_empty(struct ft_arena *a);
/* Bytes that its file system has left; UINT64_MAX: it does not tell. */
uint64_t ft_arena_left(const struct ft_arena *a);
/* Bytes that all arenas in dir together can take, whether used or not, so that all processes get
 * the same answer. "memfd": half of the machine's memory. */
uint64_t ft_arena_capacity(const char *dir);
/* Returns the offset of `bytes` bytes, contents undefined, aligned to `align` (a power of two, at
 * least 64); 0: no room. */
uint64_t ft_arena_alloc(struct ft_arena *a, uint64_t bytes, uint64_t align);
void ft_arena_free(struct ft_arena *a, uint64_t off); /* 0 is ignored */
/* ft_arena_put_by reserves up to n blocks (at most FT_RESERVES), as far as there is room.
 * ft_arena_use_reserve gives one back to the heap; 0: there is none. Main only. */
void ft_arena_put_by(struct ft_arena *a, int n);
int ft_arena_use_reserve(struct ft_arena *a);
/* Sets the amount of file space that is set aside to `bytes`; if it was more, the rest is given
 * back. The arena takes from it when the file system has no more. One thread at a time. Returns 0
 * if there is no room; then nothing has changed. */
int ft_arena_set_aside(struct ft_arena *a, uint64_t bytes);
/* Called when there is no room for `bytes` bytes, without which main cannot go on. The runtime sets
 * it: its function gives back what can be spared and returns 1 (try again), or ends the job. Before
 * that, and outside of a job, it returns 0. Main only. */
extern FT_STATE(__typeof__(int (*)(uint64_t bytes)), ft_no_room);
#define ft_no_room FT_MY(ft_no_room)
/* The same as ft_arena_alloc, for main when it cannot go on without: asks ft_no_room before it
 * returns 0. */
uint64_t ft_arena_need(struct ft_arena *a, uint64_t bytes, uint64_t align);
/* Takes file space for [from, to), outside of the heap. Returns 0 if there is no room; then a part
 * of the space may have been taken. Main only. */
int ft_arena_make_real(struct ft_arena *a, uint64_t from, uint64_t to);
static inline void *ft_arena_ptr(const struct ft_arena *a, uint64_t off) { return a->base + off; }
static inline uint64_t ft_arena_off(const struct ft_arena *a, const void *p)
{
    return (uint64_t)((const char *)p - a->base);
}
/* Checks the structure by assertions. */
void ft_arena_check(struct ft_arena *a);

/* Reserves addresses where others' memory can be mapped (ops->keep, place): at hint, if that is not
 * NULL and they are free. NULL: there are none. */
void *ft_arena_reserve(void *hint, uint64_t bytes);
void ft_arena_unreserve(void *p, uint64_t bytes);

/* The address where an arena is mapped. The own arena has the same address in every process, so
 * that pointers into windows keep their meaning in a replacement; the arenas of peers follow it. */
void *ft_arena_map_hint(int index, uint64_t bytes);
/* Returns a descriptor of a new file without a name, in dir or in memory ("memfd"); -1 with errno.
 * */
int ft_arena_file(const char *dir);
/* Makes the file of all home logs in dir (base/homelogs.h). Returns 0 with errno. */
int ft_arena_homelogs(struct ft_board *b, const char *dir);

#endif
