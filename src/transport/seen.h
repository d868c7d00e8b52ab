/* SPDX-License-Identifier: BSD-3-Clause
 *
 * seen.h - memory of the library's that the program sees. It lies in areas (area.h) of its own,
 * with addresses on both sides at which no access succeeds, and at the same addresses in a
 * replacement:
 *
 *   windows   in the upper half of the arena; others map it whole, and address it by offset
 *   views     where shared windows are mapped (rma/block.c)
 *   memory    of MPI_Alloc_mem: private pages
 *
 * The windows of an image are those that setup makes, so theirs and the views' areas need no state
 * in it. Memory of MPI_Alloc_mem may be taken and freed in body: an image says what there was.
 *
 * The last two areas are fixed addresses. Where one cannot be had, because something else is mapped
 * there, the block lies elsewhere; the process says so on the board (strayed), and a replacement
 * that comes to the same block cannot have its address.
 *
 * Thread rules: main only, but for ft_mem_take and ft_mem_give_back.
 */
#ifndef FT_TRANSPORT_SEEN_H
#define FT_TRANSPORT_SEEN_H

#include "base/engine.h"
#include "transport/arena.h"

/* Of a new arena: which half is whose. */
void ft_arena_divide(struct ft_arena *a);
/* A window's memory: offset of whole pages, zeroed and real; 0: no room. */
uint64_t ft_arena_take(struct ft_arena *a, uint64_t bytes);
void ft_arena_give_back(struct ft_arena *a, uint64_t off); /* 0 is ignored */

/* Addresses for a shared window, nothing there yet. NULL: none. */
void *ft_view_take(uint64_t bytes);
void ft_view_give_back(void *p);

/* Zeroed pages; NULL: no memory. in_body: FTRMA_Run's body takes it. */
void *ft_mem_take(uint64_t bytes, int in_body);
int ft_mem_give_back(void *p); /* 0: nothing that was taken begins there */
/* For images: bytes that it takes to say what there is, as of this call; and that. */
size_t ft_mem_state_bytes(void);
void ft_mem_state_save(char *out);
/* What there was is there again, with what it holds now if it is there still, else zeros. What was
 * taken since stays, unless it is in the way: memory of the program's that nobody takes back may
 * point to it. FT_ERR_RANGE: something else lies at *want. FT_ERR_NOMEM: there are
 * no *want bytes. */
enum ft_status ft_mem_state_load(const char *saved, uint64_t *want);
/* Body, entered again, has come to where the image was taken: what setup has taken and body had
 * freed by then goes. */
void ft_mem_state_settle(const char *saved);

/* Whether p is an address of one of the areas. */
int ft_seen_has(const struct ft_arena *a, const void *p);
/* Set by the runtime. Where to say which address was not to be had first. What the process that
 * this one replaces has said of its own: 0: nothing, or it lay where it should. And who is told
 * when what the program asks for cannot be had where it should be (want; the lost process had it
 * elsewhere: 0), or at all (have: 0): it does not return in a process that repeats what a lost one
 * did. */
struct ft_seen_place {
    _Atomic uint64_t *strayed;
    uint64_t lost_arena, lost_strayed;
    void (*refused)(const char *what, uint64_t bytes, uint64_t want, uint64_t have);
};
extern FT_STATE(struct ft_seen_place, ft_seen);
#define ft_seen FT_MY(ft_seen)

#endif
