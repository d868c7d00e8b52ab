/* SPDX-License-Identifier: BSD-3-Clause
 *
 * room.c - what main does when there is no memory for arenas, and it cannot go on without. It gives
 * back what can be spared: first what was reserved for this at start, then the room of images that
 * hold nothing that counts; from then on checkpoints are skipped. Else the job ends with 75. Nobody
 * waits for memory: others could give none back, since an arena does not shrink.
 */
#include <stdio.h>

#include "runtime/ckpt.h"

/* Frees slots that are empty, or hold an image from before the committed checkpoint. Main is under
 * no command, so none is being written; the one that a replacement has the head of is published
 * only when main comes to FTRMA_Run. */
static int give_images(struct ft_rt *rt)
{
    struct ft_ctl *ctl = rt->arena.ctl;
    uint64_t bytes = 0;
    char text[256];
    ft_rebuild_settle(rt);
    for (int i = 0; i < FT_IMAGES; i++) {
        uint64_t v = atomic_load(&ctl->image[i].version);
        if (rt->image_cap[i] == 0 || i == ft_rebuild_slot(rt) ||
            (v && FT_VERSION_BASE(v) >= atomic_load(&rt->box.committed)))
            continue;
        atomic_store(&ctl->image[i].version, 0);
        atomic_store(&ctl->image[i].bytes, 0);
        ft_arena_free(&rt->arena, rt->image_off[i]);
        bytes += rt->image_cap[i];
        rt->image_off[i] = rt->image_cap[i] = 0;
    }
    if (bytes == 0)
        return 0;
    int n = snprintf(
        text, sizeof text,
        "ftrma: %s is full: rank %d gives up %llu bytes that were set aside for its next "
        "checkpoint, and takes no "
        "checkpoint until there is room again. Enlarge it, or set FTRMA_ARENA_DIR=memfd\n",
        ft_setting_str(FT_SET_ARENA_DIR), atomic_load(&rt->pos), (unsigned long long)bytes);
    ft_print(text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
    return 1;
}

_Noreturn void ft_rt_no_room(struct ft_rt *rt, const char *what, uint64_t bytes)
{
    ft_no_memory(what, bytes, ft_setting_str(FT_SET_ARENA_DIR), ft_arena_left(&rt->arena));
}

static int no_room(uint64_t bytes)
{
    struct ft_rt *rt = ft_own_rt;
    if (ft_arena_use_reserve(&rt->arena) || (!rt->copying && give_images(rt)))
        return 1;
    ft_rt_no_room(rt, "going on", bytes);
}

/* The bytes that the windows of the largest rank take of its arena. */
static uint64_t most_windows(struct ft_rt *rt)
{
    uint64_t most = 0;
    for (int r = 0; r < rt->board->nranks; r++) {
        const struct ft_ctl *ctl = ft_tp_ctl(&rt->tp, ft_rt_slot_at(rt, r));
        uint64_t sum = 0;
        for (int i = 0; ctl && i < FT_MAX_WINDOWS; i++)
            sum += atomic_load_explicit(&ctl->win[i].id, memory_order_acquire) && !ctl->win[i].home
                       ? ctl->win[i].bytes
                       : 0;
        most = ft_max_u64(most, sum);
    }
    return most;
}

FT_STATIC(uint64_t, refused); /* bytes that could not be set aside */
#define refused FT_MY(refused)

void ft_rt_set_aside(struct ft_rt *rt)
{
    uint64_t bytes = most_windows(rt) + (rt->demand ? ft_ckpt_most(rt) + FT_ROOM_SLACK : 0) +
                     FT_RESERVES * FT_RESERVE_BYTES;
    char text[300];
    if (bytes <= atomic_load(&rt->arena.aside) || ft_arena_set_aside(&rt->arena, bytes) ||
        bytes == refused)
        return;
    refused = bytes;
    int n = snprintf(text, sizeof text,
                     "ftrma: %s has no room to set %llu bytes aside for the replacement of a rank: "
                     "the next loss of a rank may end "
                     "the job with status %d. Enlarge it, or set FTRMA_ARENA_DIR=memfd\n",
                     ft_setting_str(FT_SET_ARENA_DIR), (unsigned long long)bytes, FT_EXIT_LOST);
    ft_print(text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

void ft_rt_put_by(struct ft_rt *rt)
{
    ft_no_room = no_room;
    ft_arena_put_by(&rt->arena, rt->board->nranks);
}
