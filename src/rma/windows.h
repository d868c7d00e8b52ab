/* SPDX-License-Identifier: BSD-3-Clause
 *
 * windows.h - what the runtime asks of the one-sided layer: start, new carriers, repair, memory in
 * an image. Main only, except for ft_rma_repair.
 */
#ifndef FT_RMA_WINDOWS_H
#define FT_RMA_WINDOWS_H

#include "alog/chan.h"
#include "base/engine.h"
#include "rma/inside.h"
#include "transport/cut.h"
#include "transport/wait.h"

/* slot_of: [nranks], the present carriers (copied). */
void ft_rma_init(struct ft_tp *tp, int nranks, int myrank, const int *slot_of);
void ft_rma_rebind(int rank, int slot);
/* Agent only: the process of `slot` has died. Leaves the critical sections that it was inside of in
 * this process's windows, and undoes what it had begun. */
void ft_rma_repair(struct ft_arena *own, int dead_slot);
/* Calls `each` for the own window parts in order of creation, then for what is attached to dynamic
 * windows. unprotected: a word that is kept with the window, 0 at first, for the code that takes
 * images; NULL for what is attached. */
void ft_rma_regions(void (*each)(void *arg, void *addr, size_t bytes, int *unprotected), void *arg);
/* Windows made inside body are gone with it: gives back their own parts, without telling the
 * others. To be called before memory is restored. */
void ft_rma_drop_body_windows(void);
/* Windows that setup makes and that had been freed when an image was taken. A replacement is told
 * which windows there were (by id; NULL: nobody knows) before it runs setup (block.c), and gives
 * the others back before it restores memory. */
void ft_rma_at_cut(const uint64_t *id, size_t n);
void ft_rma_state_windows(const char *saved);
void ft_rma_state_drop_freed(const char *saved);
/* The number of windows in the image that have been freed here since. Main, or the agent while main
 * stands. */
int ft_rma_state_missing(const char *saved);
/* The number of windows made outside of body, here and in the image. */
extern FT_STATE(uint64_t, ft_rma_made_outside);
#define ft_rma_made_outside FT_MY(ft_rma_made_outside)
uint64_t ft_rma_state_made_outside(const char *saved);
/* Called when the program touches a window that is gone. Set by the runtime; does not return. */
extern FT_STATE(__typeof__(void (*)(void)), ft_rma_touched);
#define ft_rma_touched FT_MY(ft_rma_touched)
/* Before main stands: all that it has asked of other nodes is answered, or they are no more. left:
 * by a longjmp out of its call; the places of results are gone. Does not attend. */
void ft_rma_settle_far(int left);
int ft_rma_lasting(void); /* how many windows there are that body has not made. Likewise */
/* After a rollback, before anything is asked: hears all answers, then drops epochs and locks, but
 * for those that loads and stores need and that body found (or that are saved, at body's end). */
void ft_rma_reset(const char *saved, int alone);

/* --- checkpoints and replay --- */

/* ft_rma_cut: a checkpoint's cut; own epochs are closed, and the put log begins its next interval.
 * Then the layer's state for the image: its size, and writing it. */
void ft_rma_cut(uint64_t version);
size_t ft_rma_state_bytes(void);
void ft_rma_state_save(char *out);
/* An image that is taken alone, while others go on. ft_rma_epochs_open: it cannot be taken while an
 * epoch of this process is open. ft_rma_settle: combining operations whose effect this process may
 * have seen have got their stamps; may wait. ft_rma_hold and release, around the copy of each
 * piece: take the critical sections of all windows, which those operations need. [An operation is
 * in the image, its process dies, it is undone in the window.] ft_rma_state_stamp: the stamp in a
 * saved state; all with a stamp up to this one had landed before. */
int ft_rma_epochs_open(void);
void ft_rma_settle(void);
void ft_rma_hold(void); /* may wait */
void ft_rma_release(void);
uint64_t ft_rma_state_stamp(const char *saved);
/* From here on the counts (ACC) of a saved state are valid. tell: also at the targets (a rollback
 * takes them back, too). */
void ft_rma_state_counts(const char *saved, int tell);
/* ft_rma_state_blocks, before memory is restored: restores the blocks of MPI_Alloc_mem at the cut
 * (FT_ERR_RANGE and FT_ERR_NOMEM: seen.h). ft_rma_state_memory: attaches what was attached at the
 * cut; shared windows lie where their first members are now (FT_ERR_*: memory that was attached is
 * missing). ft_rma_state_settle, when body is where it was at the cut: frees what body had freed
 * before. */
enum ft_status ft_rma_state_blocks(const char *saved, uint64_t *want);
enum ft_status ft_rma_state_memory(const char *saved);
void ft_rma_state_settle(const char *saved);
void ft_rma_follow_blocks(void);
/* In a told recovery. The same, with what the own parts hold. All targets are told the counts. */
void ft_rma_keep_blocks(void);
void ft_rma_tell_counts(void);
/* Restores the locks that were held at the cut, when body was entered again and has come to the
 * image's safepoint. */
void ft_rma_state_locks(const char *saved);

struct ft_rma_replay {
    uint64_t fetched, bytes, applied; /* numbers of records of others, and of own ones */
    int missing;                      /* other nodes' logs could not be fetched: all must go back */
};
extern FT_STATE(struct ft_rma_replay, ft_rma_replayed);
#define ft_rma_replayed FT_MY(ft_rma_replayed)
/* Fetches what others have logged for this rank in a segment after the cut of version (0: all), but
 * for stamps up to `covered`. calls: begun at the cut. lost_calls: the most of any lost process. */
void ft_rma_replay_begin(enum ft_segment seg, uint64_t version, uint64_t covered, uint64_t calls,
                         uint64_t lost_calls);
/* Applies what is eligible now that ft_calls calls have begun (R4). */
void ft_rma_replay_step(void);
/* 1: no put of others shows that the lost process had begun more calls. */
int ft_rma_replay_passed(void);
/* Frees lock words left at other nodes, when all is passed. 0: no room to ask for all; again. */
int ft_rma_replay_free_left_over(void);
/* Applies the rest; stamps, counts and locks are as the others know them. The caller tells them. */
void ft_rma_replay_live(void);
/* Ends the replay (a rollback). */
void ft_rma_replay_drop(void);

/* While this process takes its image of a snapshot: tells the others where its windows' parts lie
 * in it. `where` returns for region i of the image its offset in the arena; first: the number of
 * regions before those of windows. */
void ft_rma_shadows(void (*where)(void *arg, int i, uint64_t *off), void *arg, int first);
/* 1 while accesses are outside FTRMA_Run's body (setup, or what follows it). */
extern FT_STATE(int, ft_rma_outside);
#define ft_rma_outside FT_MY(ft_rma_outside)
struct ft_winpart;
void ft_rma_mark(struct ft_winpart *p);

#endif
