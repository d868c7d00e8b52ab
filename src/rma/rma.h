/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rma.h - one-sided communication on windows in the arenas of their owners (O1 to O7, L1 to L4).
 *
 * A window part lies in its owner's arena; peers map it and copy directly. Combining operations
 * (accumulate and similar) run inside one critical section for each target and window. Its lock
 * word names its holder, so that the holder's death can be repaired. Window locks are held by
 * ranks, not by processes: a replacement that repeats a lock finds it held by itself.
 *
 * All data is contiguous bytes and elementwise functions; src/mpi handles datatypes, checks against
 * MPI's rules and error classes. Main only; calls that wait may be left by longjmp.
 */
#ifndef FT_RMA_RMA_H
#define FT_RMA_RMA_H

#include "base/engine.h"
#include "coll/coll.h"

struct ft_win; /* opaque outside src/rma */

/* Collective over c, which must stay valid as long as the window lives. Allocates `bytes` of
 * private memory in the arena: zeroed, page aligned, in *base. FT_ERR_NOMEM: a member lacks memory;
 * all members get this error. */
enum ft_status ft_win_allocate(const struct ft_ctx *c, size_t bytes, int disp_unit, void **base,
                               struct ft_win **out);
/* Turns the program's own pages into shared ones in place, or uses the part of the arena that they
 * already are. base may be NULL when bytes = 0. */
enum ft_status ft_win_create(const struct ft_ctx *c, void *base, size_t bytes, int disp_unit,
                             struct ft_win **out);
/* Makes one block of memory, zeroed, that all members access directly. The parts follow each other
 * in the order of ranks; with `apart` each begins on a page. */
enum ft_status ft_win_allocate_shared(const struct ft_ctx *c, size_t bytes, int disp_unit,
                                      int apart, void **base, struct ft_win **out);
/* The address of target's part in this process; shared windows only. */
void *ft_win_shared_base(struct ft_win *w, int target);
/* Makes a window without memory. Memory is attached later, and `off` in accesses is an address at
 * the target. */
enum ft_status ft_win_create_dynamic(const struct ft_ctx *c, struct ft_win **out);
/* Local. FT_ERR_ARG: the memory overlaps what is attached to w, or cannot be attached;
 * FT_ERR_RANGE: there is no memory; FT_ERR_NOMEM, FT_ERR_SYS. */
enum ft_status ft_win_attach(struct ft_win *w, void *p, size_t bytes);
enum ft_status ft_win_detach(struct ft_win *w,
                             const void *p); /* FT_ERR_ARG: nothing that begins at p is attached */
/* Collective; begins with a barrier. Frees an allocated part. */
void ft_win_free(struct ft_win *w);

/* Memory of MPI_Alloc_mem (transport/seen.h). ft_rma_memory returns zeroed pages; NULL: there are
 * none. The second frees the block that begins at p; 0: none does. The third says whether p is an
 * address of windows or such memory. Any thread. */
void *ft_rma_memory(size_t bytes, int in_body);
int ft_rma_memory_free(void *p);
int ft_rma_gave(const void *p);

/* 0: the window is gone with body, or had been freed by the time of the restored image. */
int ft_win_is_there(const struct ft_win *w);

/* The bytes that target (a rank in the window's group) exposes. */
size_t ft_win_size(struct ft_win *w, int target);
int ft_win_disp_unit(struct ft_win *w, int target);
void *ft_win_base(struct ft_win *w);

/* off is in bytes from target's base. off + len must not exceed ft_win_size (else FT_ERR_RANGE).
 * Data is at the target after the next flush, unlock or fence (in shared memory: at once). The
 * buffer of a put can be reused at once. What is got from a process of another node is there after
 * the next of these, or ft_win_flush_local; results of ft_fetch_word and ft_accumulate likewise. */
enum ft_status ft_put(struct ft_win *w, int target, size_t off, const void *buf, size_t len);
enum ft_status ft_get(struct ft_win *w, int target, size_t off, void *buf, size_t len);
/* n blocks of len bytes each, at these distances there and here. Returns 0 if they must be put or
 * got one by one. */
struct ft_spaced {
    size_t n, len;
    ptrdiff_t there, here;
};
int ft_far_blocks(struct ft_win *w, int target, size_t off, void *here, const struct ft_spaced *b,
                  int is_put);
/* Returns the address of [off, off + len) at target if loads and stores can access it directly,
 * else NULL. For layouts that src/mpi packs or unpacks itself. */
void *ft_win_address(struct ft_win *w, int target, size_t off, size_t len);

/* apply(arg, in, inout, count): inout = in op inout, as in MPI_Reduce_local; NULL: replace. First
 * the old contents go to `result`, unless that is NULL. origin NULL: no operation (MPI_NO_OP). The
 * operation is atomic with respect to all others on the window part, and leaves op->hole there. */
enum ft_status ft_accumulate(struct ft_win *w, int target, size_t off, const void *origin,
                             void *result, size_t count, size_t esize, const struct ft_reducer *op);
/* Fast forms for single elements of 4 or 8 bytes; kind says what to do. */
enum ft_fetch_kind { FT_FETCH_ADD, FT_FETCH_REPLACE, FT_FETCH_NOOP, FT_FETCH_CAS };
enum ft_status ft_fetch_word(struct ft_win *w, int target, size_t off, enum ft_fetch_kind kind,
                             size_t esize, const void *operand, const void *compare, void *result);
/* Compare and swap of an element of up to 16 bytes, bytewise. */
enum ft_status ft_compare_and_swap(struct ft_win *w, int target, size_t off, const void *origin,
                                   const void *compare, void *result, size_t esize);

/* Synchronisation. */
void ft_win_fence(struct ft_win *w);
void ft_win_lock(struct ft_win *w, int target, int exclusive);
void ft_win_unlock(struct ft_win *w, int target);
void ft_win_lock_all(struct ft_win *w);
void ft_win_lock_loads(struct ft_win *w); /* those of its locks that loads and stores need */
void ft_win_before_entry(void);           /* body is about to be entered: it finds these locks */
void ft_win_unlock_all(struct ft_win *w);
void ft_win_flush(struct ft_win *w, int target); /* complete at the target */
void ft_win_flush_all(struct ft_win *w);
void ft_win_flush_local(struct ft_win *w, int target); /* results are there; -1: all */
void ft_win_sync(struct ft_win *w);

/* Post, start, complete, wait. ranks: n distinct ranks of the window's group. start returns when
 * all these ranks have posted to this process, wait when all have completed. */
void ft_win_post(struct ft_win *w, const int *ranks, int n);
void ft_win_start(struct ft_win *w, const int *ranks, int n);
void ft_win_complete(struct ft_win *w, const int *ranks, int n);
void ft_win_wait(struct ft_win *w, const int *ranks, int n);
int ft_win_completed(struct ft_win *w, const int *ranks, int n); /* 1: wait would return at once */

/* The number of exclusive locks that this process holds, and of post and start epochs that it is
 * in, over all windows. While there are any, no image is taken. */
extern FT_STATE(int, ft_rma_exclusive_held);
#define ft_rma_exclusive_held FT_MY(ft_rma_exclusive_held)

#endif
