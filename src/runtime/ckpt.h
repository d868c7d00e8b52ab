/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ckpt.h - images and codewords of this process, and commands about them. Main only (ckpt.c,
 * rebuild.c, restore.c, protect.c, room.c). How blocks are made of others: combine.h.
 */
#ifndef FT_RUNTIME_CKPT_H
#define FT_RUNTIME_CKPT_H

#include "runtime/rt.h"

enum ft_skip_reason
ft_ckpt_cannot(const struct ft_rt *rt); /* why no image can be taken now; NONE: one can */
/* The commands. snapshot 0: all ranks stand still. */
struct ft_answer ft_ckpt_copy(struct ft_rt *rt, uint64_t version, uint64_t snapshot);
struct ft_answer ft_ckpt_parity(struct ft_rt *rt, uint64_t version);
struct ft_answer ft_ckpt_rebuild(struct ft_rt *rt, uint64_t version, int only_head);
struct ft_answer ft_ckpt_restore(struct ft_rt *rt, const struct ft_command_arg *arg);
/* rebuild.c: the image of which at least the head is here; NULL: there is none. Before any command
 * but REBUILD: the rest of it is not needed any more. */
const struct ft_image *ft_ckpt_head(struct ft_rt *rt, uint64_t version);
void ft_rebuild_off(struct ft_rt *rt);
/* As ft_ckpt_more_room, but beside main if there is a thread for that. Its slots are main's again
 * after settle. */
void ft_rebuild_room(struct ft_rt *rt);
void ft_rebuild_settle(const struct ft_rt *rt);
/* The slot of an image of which only the head counts yet; -1. */
int ft_rebuild_slot(const struct ft_rt *rt);
/* restore.c: the counts of collectives in the image. */
void ft_ckpt_load_sched(const struct ft_image *im);
/* Tells for how long the process was exposed before this version. */
void ft_ckpt_note_covered(struct ft_rt *rt, uint64_t version);
/* To be called after FTRMA_Protect and at FTRMA_Run's entry: takes memory for images (three with
 * demand checkpoints, else two) and for logs, so that neither a checkpoint nor an access waits for
 * it. Checksum processes and spares make room as well. */
void ft_ckpt_prepare(struct ft_rt *rt);
/* After the first checkpoint: takes memory for what had no room before. */
void ft_ckpt_more_room(struct ft_rt *rt);
void ft_ckpt_room(struct ft_rt *rt,
                  int next_in_line);           /* the same before there are images or codewords */
uint64_t ft_ckpt_most(const struct ft_rt *rt); /* protected bytes of the rank with most of them */
/* The image of this version in slot's arena, and its size; NULL if it is not there, not complete,
 * or on another node. image_bytes: of any node; 0: it is not there. */
const void *ft_ckpt_image_of(struct ft_rt *rt, int slot, uint64_t version, uint64_t *bytes);
uint64_t ft_ckpt_image_bytes(struct ft_rt *rt, int slot, uint64_t version);
/* For latest.c: the slot for a version; room in it (after that nothing complete is there); and: the
 * image in it is complete. */
/* For an image's head, when only the size of its contents is known; and for an image to grow in its
 * slot. */
#define FT_ROOM_SLACK (128ull << 10)
int ft_ckpt_slot_for(const struct ft_rt *rt, uint64_t version);
int ft_ckpt_slot_of(const struct ft_ctl *ctl, uint64_t version); /* -1: nowhere */
int ft_ckpt_room_in(struct ft_rt *rt, int slot, uint64_t bytes);
void ft_ckpt_publish(struct ft_rt *rt, int slot, uint64_t version, uint64_t bytes);
/* Lists protected memory, then the windows' parts; returns how many. whole: the image must also
 * hold the unprotected ones, because it is taken while others go on: [p has passed its safepoint
 * and has put there what q reads after its own] (C8, C9). Valid until the next call. */
int ft_ckpt_regions(struct ft_rt *rt, int whole, struct ft_region **out);
/* protect.c: of a region in the last list of ft_ckpt_regions, by number. */
void ft_ckpt_region_unprotected(int i, int unprotected);
/* Sizes of the image that main would take now: of all messages and the engine's state, of that
 * state, of its last two parts, of the image. alone: others do not stand still (C8, C9). Looks at
 * all messages that have come; later ones must not be looked at before the image is begun. */
struct ft_ckpt_sizes {
    int alone;
    uint64_t messages, engine, sched, setup, all;
};
struct ft_ckpt_sizes ft_ckpt_measure(const struct ft_region *r, int n, int alone);
/* Writes all of the image but the regions, in a slot that has room. home: where the own home log is
 * cut. */
struct ft_log_place;
struct ft_image *ft_ckpt_begin_image(struct ft_rt *rt, int slot, uint64_t version,
                                     const struct ft_region *r, int n,
                                     const struct ft_ckpt_sizes *s,
                                     const struct ft_log_place *home);
/* where this process's heap, arena and memory of MPI lie */
void ft_ckpt_note_places(const struct ft_rt *rt, struct ft_image_counters *c);
const char *ft_ckpt_engine_state(const struct ft_image *im);
/* Agent: all will go back to this version, and main stands. Ends the job if a window or communicator
 * that there was at the image was freed since. */
void ft_ckpt_still_there(struct ft_rt *rt, uint64_t version);
const struct ft_image *ft_ckpt_own(struct ft_rt *rt, uint64_t version);

/* room.c, for a spare that is next in line: memory for the windows that it would have to make */
void ft_rt_set_aside(struct ft_rt *rt);
/* room.c, at start: reserves memory, and sets what main does when there is no more */
void ft_rt_put_by(struct ft_rt *rt);

/* room.c: gives the job up, since the arena has no room of this many bytes for `what`. */
_Noreturn void ft_rt_no_room(struct ft_rt *rt, const char *what, uint64_t bytes);

#endif
