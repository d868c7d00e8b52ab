/* SPDX-License-Identifier: BSD-3-Clause
 *
 * restart.c - main goes on from a file: at FTRMA_Run's entry the image that an earlier job has
 * saved takes the place of the first checkpoint (F6 to F9). All then go back to it, as to any
 * other.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/personality.h>
#include <unistd.h>

#include "alog/homelog.h"
#include "alog/homelog_replay.h"
#include "alog/setup.h"
#include "base/offheap.h"
#include "msg/channels.h"
#include "runtime/ckpt.h"
#include "runtime/save.h"
#include "save/saved.h"

#define ROOM 128 /* for aligning the image's parts again */

int ft_restart_wanted(const struct ft_rt *rt) { return rt->board->save.from[0] != '\0'; }

int ft_restart_compares(const struct ft_rt *rt)
{
    return rt->board->save.every || ft_restart_wanted(rt);
}

static void note(enum ft_act_kind kind, uint32_t win, int where, const void *data, uint32_t bytes)
{
    if (ft_replay != FT_REPLAY || !ft_homelog_expect(kind, win, where, 0, bytes))
        ft_homelog_note(kind, win, where, 0, data, bytes);
}

void ft_restart_note_made(struct ft_rt *rt)
{
    if (ft_restart_compares(rt) && ft_main_at(rt) == FT_AT_SETUP)
        note(FT_ACT_MADE, ft_next_ctx, 0, NULL, 0);
}

void ft_restart_note_sent(struct ft_rt *rt)
{
    for (int r = 0; ft_restart_compares(rt) && r < rt->board->nranks; r++) {
        struct ft_said s = ft_msg_said(r);
        if (s.messages)
            note(FT_ACT_SAID, 0, r, &s, sizeof s);
    }
}

static _Noreturn void cannot(struct ft_rt *rt, const char *why)
{
    ft_give_up(SET_UNUSABLE, atomic_load(&rt->pos), rt->board->save.from, why);
}

static int open_file(struct ft_rt *rt, struct ft_saved_head *head)
{
    char path[FT_SAVED_PATH + 32], name[32], why[200], text[260];
    ft_saved_name(atomic_load(&rt->pos), name, sizeof name);
    snprintf(path, sizeof path, "%s/%s", rt->board->save.from, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    snprintf(why, sizeof why, "%s", fd < 0 ? strerror(errno) : "it is of another job or rank");
    if (fd < 0 || ft_saved_begin(fd, head, why, sizeof why) != FT_OK ||
        head->job != rt->board->save.from_job || head->nranks != (uint32_t)rt->board->nranks ||
        head->rank != (uint32_t)atomic_load(&rt->pos)) {
        snprintf(text, sizeof text, "%s: %s", name, why);
        cannot(rt, text);
    }
    return fd;
}

/* If the file will not do, ft_restart_load says why. */
uint64_t ft_restart_heap(struct ft_rt *rt)
{
    struct ft_saved_head head;
    struct ft_image im = {.magic = 0};
    int fd = open_file(rt, &head);
    ssize_t n = head.layout == sizeof im ? read(fd, &im, sizeof im) : 0;
    close(fd);
    return n == (ssize_t)sizeof im && im.magic == FT_IMAGE_MAGIC ? im.counters.heap_from : 0;
}

/* Pointers into the heap keep their meaning only there. Where the kernel deals out addresses at
 * random ftrun has said that they have none. */
static void compare_heap(struct ft_rt *rt, const struct ft_image *im)
{
    uint64_t was = im->counters.heap_from, now = atomic_load(&rt->me->testament.heap_from);
    int layout = personality(0xffffffff);
    char text[200];
    if (!was || was == now || layout < 0 || !(layout & ADDR_NO_RANDOMIZE))
        return;
    snprintf(text, sizeof text,
             "its heap began at %#llx in the saved job, and what was allocated before MPI_Init, or "
             "in it, leaves no room there now, so pointers to memory of malloc would be wrong",
             (unsigned long long)was);
    cannot(rt, text);
}

/* Not an error, but the program may have read another input. */
static void say_other_data(struct ft_rt *rt, int to)
{
    char text[300];
    if (to < 0 || atomic_exchange(&rt->board->save.differs, 1))
        return;
    int n = snprintf(text, sizeof text,
                     "ftrma: note: in setup rank %d sent rank %d other data than in the saved job. "
                     "Clock readings may differ; if the program has read another input, its "
                     "result will be of both inputs\n",
                     atomic_load(&rt->pos), to);
    ft_print(text, (size_t)n);
}

/* The first difference between setup's outcome here and in the saved job. */
static void compare_setup(struct ft_rt *rt, const struct ft_image *im, const char *now,
                          size_t bytes)
{
    const struct ft_act *a, *b;
    char text[600], then[240], here[240];
    const char *was = ft_ckpt_engine_state(im) + im->engine_bytes - im->counters.setup_bytes;
    if (im->counters.setup_kept &&
        !ft_setup_same(was, im->counters.setup_bytes, now, bytes, &a, &b)) {
        FT_ASSERT(a || b); /* one of them may have ended */
        uint64_t call = b ? b->call : a->call;
        snprintf(then, sizeof then, "the end of setup");
        snprintf(here, sizeof here, "the end of setup");
        if (a)
            ft_act_format(then, sizeof then, a);
        if (b)
            ft_act_format(here, sizeof here, b);
        snprintf(text, sizeof text,
                 "its setup did not repeat itself in call %llu: now it came to %s, and in "
                 "the saved job to %s",
                 (unsigned long long)call, here, then);
        cannot(rt, text);
    }
    if (im->counters.setup_kept)
        say_other_data(rt, ft_setup_other_data(was, im->counters.setup_bytes, now, bytes));
    if (im->counters.entry_ctx != rt->entry_ctx) {
        snprintf(text, sizeof text,
                 "its setup did not repeat itself: it made other communicators or windows than in "
                 "the saved job "
                 "(context %u, and then %u)",
                 (unsigned)rt->entry_ctx, (unsigned)im->counters.entry_ctx);
        cannot(rt, text);
    }
}

/* Numbers that only meant something in the old job become this one's. */
static void make_ours(struct ft_rt *rt, struct ft_image *im, uint64_t version)
{
    size_t bytes = ft_homelog_setup_bytes();
    char *setup = ft_offheap_alloc(bytes + 1);
    ft_homelog_setup_save(setup);
    compare_setup(rt, im, setup, bytes);
    ft_image_resize_setup(im, bytes);
    memcpy((char *)(uintptr_t)ft_ckpt_engine_state(im) + im->engine_bytes - bytes, setup, bytes);
    ft_offheap_free(setup);
    im->version = version;
    im->counters.era = FT_ERA_SETUP;
    im->counters.setup_kept = 1;
    ft_ckpt_note_places(rt, &im->counters);
    ft_msg_saved_elsewhere(ft_image_messages(im));
}

struct ft_answer ft_restart_load(struct ft_rt *rt, uint64_t version)
{
    uint64_t t0 = ft_now_ns();
    struct ft_saved_head head;
    struct ft_saved_tail tail;
    char why[200];
    uint32_t bad = ft_ckpt_cannot(rt);
    if (bad != FT_SKIP_NONE)
        return (struct ft_answer){.reason = bad};
    ft_failpoint(RESTART_LOAD);
    int fd = open_file(rt, &head);
    if (head.layout != sizeof(struct ft_image))
        cannot(rt, "another version of ftrma has written it, whose images this one cannot read");
    int slot = ft_ckpt_slot_for(rt, version);
    if (!ft_ckpt_room_in(rt, slot, head.bytes + ft_homelog_setup_bytes() + ROOM))
        ft_rt_no_room(rt, "the saved image of a rank",
                      head.bytes + ft_homelog_setup_bytes() + ROOM);
    struct ft_image *im = ft_arena_ptr(&rt->arena, rt->image_off[slot]);
    if (ft_saved_image(fd, &head, im, &tail, why, sizeof why) != FT_OK)
        cannot(rt, why);
    close(fd);
    ft_failpoint(RESTART_HALF);
    if (head.bytes < sizeof *im || im->magic != FT_IMAGE_MAGIC || im->bytes != head.bytes ||
        im->counters.rank != head.rank)
        cannot(rt, "its file holds no image of this rank");
    compare_heap(rt, im);
    make_ours(rt, im, version);
    ft_failpoint(RESTART_LOADED);
    ft_ckpt_publish(rt, slot, version, im->bytes);
    ft_rt_event(rt, FT_EV_LOADED, ft_who(rt), (int64_t)im->bytes, 0, 0, ft_now_ns() - t0);
    return (struct ft_answer){.bytes = im->bytes, .version = version};
}
