/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rebuild.c - makes the lost image or codeword of this process again (C5a, G2). A replacement that
 * restores the committed image makes its head first, which has what setup is told when it runs
 * again. A thread makes the rest while main runs setup, and main waits for it after that. The
 * thread only reads what others have published, and writes into a slot that nobody else uses. Over
 * nodes all is made at once: main itself asks for the pieces. When main goes on, the thread also
 * takes memory for the next images, which takes longer than to copy them.
 */
#include <semaphore.h>

#include "base/private.h"
#include "runtime/ckpt.h"
#include "runtime/combine.h"
#include "runtime/helper.h"
#include "runtime/latest.h"

/* An image of which the head is here. */
struct ft_rebuild {
    uint64_t version; /* 0: there is none */
    int slot;
    int whole;              /* all of it was made at once, and is published */
    int thread;             /* there is a thread */
    int handed_over;        /* it has done what main has asked it for, or does so still */
    int room;               /* that is to take room, else to make the rest */
    sem_t begin, done;      /* of that */
    _Atomic int called_off; /* the rest is not needed any more */
    uint64_t start_ns;
    struct ft_making making;
};

static struct ft_image *image_in(struct ft_rt *rt, int slot)
{
    return ft_arena_ptr(&rt->arena, rt->image_off[slot]);
}

static void no_room(struct ft_rt *rt)
{
    ft_rt_no_room(rt, "the checkpoint data that it rebuilds", ft_ckpt_most(rt));
}

/* The codeword, from which an image is made, is as long as the longest image. */
static uint64_t own_bytes(struct ft_rt *rt, int slot, uint64_t bytes)
{
    return atomic_load(&rt->pos) < rt->board->nranks ? image_in(rt, slot)->bytes : bytes;
}

static void say(struct ft_rt *rt, uint64_t bytes, uint64_t start_ns)
{
    int group = ft_group_of_position(&rt->groups, atomic_load(&rt->pos));
    ft_rt_event(rt, FT_EV_REBUILT, ft_who(rt), (int64_t)bytes, group, 0, ft_now_ns() - start_ns);
}

static struct ft_answer publish(struct ft_rt *rt, uint64_t version, int slot, uint64_t bytes)
{
    ft_failpoint(RESTORE_DONE);
    ft_ckpt_publish(rt, slot, version, bytes);
    return (struct ft_answer){.version = version};
}

static struct ft_answer all_at_once(struct ft_rt *rt, uint64_t version)
{
    uint64_t t0 = ft_now_ns(), bytes = 0;
    int pos = atomic_load(&rt->pos), slot = ft_ckpt_slot_for(rt, version);
    enum ft_skip_reason bad =
        FT_VERSION_ALONE(version)
            ? ft_latest_rebuild(rt, ft_group_of_position(&rt->groups, pos), version, slot, &bytes)
            : ft_ckpt_combine_own(rt, version, 0, slot, &bytes);
    if (bad == FT_SKIP_NOMEM)
        no_room(rt);
    if (bad != FT_SKIP_NONE) /* another loss: the next generation starts again */
        return (struct ft_answer){.reason = bad};
    bytes = own_bytes(rt, slot, bytes);
    say(rt, bytes, t0);
    return publish(rt, version, slot, bytes);
}

/* --- the head, and the rest --- */

static void go_on(struct ft_rt *rt, struct ft_rebuild *b, uint64_t upto)
{
    if (b->making.at >= b->making.r.longest)
        return;
    enum ft_skip_reason bad = ft_making_go_on(rt, &b->making, upto, &b->called_off);
    FT_ASSERT(bad == FT_SKIP_NONE); /* nothing of it comes from another node */
    if (b->making.at >= b->making.r.longest)
        say(rt, image_in(rt, b->slot)->bytes, b->start_ns);
}

static void sem_pass(sem_t *s)
{
    while (sem_wait(s) != 0)
        ;
}

/* The thread never ends. [It has ended when the program creates a thread in setup. The C library
 * gives that one the stack and the table of this one, where the lost process took a new table from
 * the heap: no later block lies where it lay (heap.c).] */
static void *help(void *rt_)
{
    struct ft_rt *rt = rt_;
    for (;;) {
        sem_pass(&rt->rebuild->begin);
        if (rt->rebuild->room)
            ft_ckpt_more_room(rt);
        else
            go_on(rt, rt->rebuild, UINT64_MAX);
        sem_post(&rt->rebuild->done);
    }
    return NULL;
}

static void hand_over(struct ft_rebuild *b, int room)
{
    b->room = room;
    b->handed_over = 1;
    sem_post(&b->begin);
}

/* Only before the program's heap begins (heap.c), since the C library takes memory from it for a
 * thread. If there is no thread to be had, main does its work. */
static void create_thread(struct ft_rt *rt, struct ft_rebuild *b)
{
    if (b->thread)
        return;
    sem_init(&b->begin, 0, 0);
    sem_init(&b->done, 0, 0);
    b->thread = ft_helper_start(help, rt) == 0;
}

void ft_rebuild_settle(const struct ft_rt *rt)
{
    struct ft_rebuild *b = rt->rebuild;
    if (b && b->handed_over)
        sem_pass(&b->done);
    if (b)
        b->handed_over = 0;
}

int ft_rebuild_slot(const struct ft_rt *rt)
{
    const struct ft_rebuild *b = rt->rebuild;
    return b && b->version && !b->whole ? b->slot : -1;
}

void ft_rebuild_off(struct ft_rt *rt)
{
    struct ft_rebuild *b = rt->rebuild;
    if (!b)
        return;
    atomic_store(&b->called_off, 1);
    ft_rebuild_settle(rt);
    b->version = 0;
}

void ft_rebuild_room(struct ft_rt *rt)
{
    struct ft_rebuild *b = rt->rebuild;
    ft_rebuild_off(rt);
    if (b && b->thread)
        hand_over(b, 1);
    else
        ft_ckpt_more_room(rt);
}

static struct ft_answer head(struct ft_rt *rt, uint64_t version)
{
    if (!rt->rebuild)
        rt->rebuild =
            ft_need(ft_private_alloc(sizeof *rt->rebuild), sizeof *rt->rebuild, "a lost image");
    struct ft_rebuild *b = rt->rebuild;
    struct ft_answer made = {.version = version};
    b->slot = ft_ckpt_slot_for(rt, version);
    b->start_ns = ft_now_ns();
    atomic_store(&b->called_off, 0);
    b->whole = !ft_ckpt_find_recipe(rt, atomic_load(&rt->pos), version, 0, &b->making.r) ||
               b->making.r.nfar > 0;
    if (b->whole) {
        made = all_at_once(rt, version);
        if (made.reason)
            return made;
    } else {
        if (!ft_making_begin(rt, b->slot, FT_FP_RESTORE_REBUILD, &b->making))
            no_room(rt);
        go_on(rt, b, 1); /* one piece, with its sizes */
        go_on(rt, b, ft_image_head_bytes(image_in(rt, b->slot)));
    }
    b->version = version;
    ft_failpoint(REJOIN_HEAD);
    if (!b->whole && b->making.at < b->making.r.longest) {
        create_thread(rt, b);
        if (b->thread)
            hand_over(b, 0);
    }
    return made;
}

static struct ft_answer rest(struct ft_rt *rt)
{
    struct ft_rebuild *b = rt->rebuild;
    uint64_t version = b->version;
    ft_rebuild_settle(rt);
    b->version = 0;
    if (b->whole)
        return (struct ft_answer){.version = version};
    go_on(rt, b, UINT64_MAX);
    return publish(rt, version, b->slot, image_in(rt, b->slot)->bytes);
}

struct ft_answer ft_ckpt_rebuild(struct ft_rt *rt, uint64_t version, int only_head)
{
    if (!only_head && rt->rebuild && rt->rebuild->version == version)
        return rest(rt);
    ft_rebuild_off(rt);
    if (atomic_load(&rt->pos) < rt->board->nranks)
        ft_failpoint(REJOIN_IMAGE);
    return only_head ? head(rt, version) : all_at_once(rt, version);
}

const struct ft_image *ft_ckpt_head(struct ft_rt *rt, uint64_t version)
{
    const struct ft_rebuild *b = rt->rebuild;
    return b && b->version == version && !b->whole ? image_in(rt, b->slot)
                                                   : ft_ckpt_own(rt, version);
}
