/* SPDX-License-Identifier: BSD-3-Clause
 *
 * seen.h - memory of the library that the program sees. It lies in areas (area.h) of its own, with
 * guard pages on both sides of each block, and at the same addresses in a replacement:
 *
 *   windows   in the upper half of the arena; others map all of it, and address it by offset
 *   views     where shared windows are mapped (rma/block.c)
 *   memory    of MPI_Alloc_mem: private pages
 *
 * The windows of an image are those that setup makes, so an image holds no state of the areas of
 * windows and views. Memory of MPI_Alloc_mem may be taken and freed in body, so an image lists its
 * blocks.
 *
 * The last two areas have fixed addresses. If something else is mapped there, the block lies
 * elsewhere, and the process records that on the board (strayed). A replacement that comes to the
 * same block cannot get its address.
 *
 * Only main may call these functions, except for ft_mem_take and ft_mem_give_back.
 */
#ifndef FT_TRANSPORT_SEEN_H
#define FT_TRANSPORT_SEEN_H

#include "base/engine.h"
#include "transport/arena.h"

/* Divides a new arena between its heap and its windows. */
void ft_arena_divide(struct ft_arena *a);
/* Takes memory for a window: the offset of entire pages, zeroed, with file space taken; 0: no room.
 * */
uint64_t ft_arena_take(struct ft_arena *a, uint64_t bytes);
void ft_arena_give_back(struct ft_arena *a, uint64_t off); /* 0 is ignored */

/* Takes addresses for a shared window, with nothing mapped yet. NULL: there are none. */
void *ft_view_take(uint64_t bytes);
void ft_view_give_back(void *p);

/* Takes zeroed pages; NULL: no memory. in_body: FTRMA_Run's body takes them. */
void *ft_mem_take(uint64_t bytes, int in_body);
int ft_mem_give_back(void *p); /* 0: no block of these begins there */
/* For images. ft_mem_state_bytes: bytes that it takes to describe the blocks, as of this call.
 * ft_mem_state_save: writes that description. */
size_t ft_mem_state_bytes(void);
void ft_mem_state_save(char *out);
/* Restores the blocks of an image. A block that still exists keeps its contents; otherwise it has
 * zeros. Blocks that were taken since stay, unless they are in the way, because memory of the
 * program that is not restored may point to them. FT_ERR_RANGE: something else lies at *want.
 * FT_ERR_NOMEM: there are no *want bytes. */
enum ft_status ft_mem_state_load(const char *saved, uint64_t *want);
/* Body was entered again and has come to where the image was taken. Frees what setup has taken and
 * body had freed by then. */
void ft_mem_state_settle(const char *saved);

/* Whether p is an address of one of the areas. */
int ft_seen_has(const struct ft_arena *a, const void *p);
/* Set by the runtime. strayed: where to record the first address that could not be had. lost_*:
 * what the process that this one replaces has recorded; 0: nothing, or its block was where it
 * should be. refused is called when the program's request cannot be met at the right address (want;
 * 0: the lost process had it elsewhere), or at all (have: 0). It does not return in a process that
 * repeats what a lost one did. */
struct ft_seen_place {
    _Atomic uint64_t *strayed;
    uint64_t lost_arena, lost_strayed;
    void (*refused)(const char *what, uint64_t bytes, uint64_t want, uint64_t have);
};
extern FT_STATE(struct ft_seen_place, ft_seen);
#define ft_seen FT_MY(ft_seen)

#endif
