/* SPDX-License-Identifier: BSD-3-Clause
 *
 * restore.c - main goes back to an image: windows, protected memory, messages and counts are those
 * of the image, if setup has made the same again (G2).
 */
#include <stdio.h>

#include "coll/sched.h"
#include "msg/channels.h"
#include "rma/windows.h"
#include "runtime/ckpt.h"
#include "runtime/input.h"
#include "runtime/output.h"
#include "runtime/replay.h"
#include "runtime/told.h"
#include "transport/seen.h"

/* The part of memory that the library has given to the program and at which pointers keep their
 * meaning; -1: all of it. */
static int elsewhere(const struct ft_rt *rt, const struct ft_image *im, const struct ft_region *r,
                     int n)
{
    for (int i = 0; i < n; i++)
        if (r[i].bytes && r[i].addr != ft_image_region_address(im, i) &&
            ft_seen_has(&rt->arena, r[i].addr))
            return i;
    return -1;
}

static void check_repeated(struct ft_rt *rt, const struct ft_image *im, uint64_t version,
                           const struct ft_region *r, int n)
{
    int bad, matches = im && ft_image_matches(im, version, r, n, &bad) == FT_OK;
    int rank = atomic_load(&rt->pos);
    char text[300];
    if (matches && (bad = elsewhere(rt, im, r, n)) < 0)
        return;
    if (matches)
        snprintf(text, sizeof text,
                 "%s number %d lies at %p, and lay at %p in the lost process, so pointers to it in "
                 "the program would be wrong",
                 bad < rt->nregions ? "protected memory" : "window",
                 bad < rt->nregions ? bad : bad - rt->nregions, r[bad].addr,
                 ft_image_region_address(im, bad));
    else if (!im)
        ft_give_up(INTERNAL, "a rank has no image of the checkpoint that it goes back to");
    else if (bad < 0)
        snprintf(text, sizeof text,
                 "it protected %d regions (windows included), and the lost process %llu", n,
                 (unsigned long long)im->nregions);
    else
        snprintf(text, sizeof text, "its protected region or window number %d has another size",
                 bad);
    ft_give_up(SETUP_CHANGED, rank, text);
}

void ft_ckpt_load_sched(const struct ft_image *im)
{
    const char *messages = ft_image_messages((void *)(uintptr_t)im);
    ft_sched_state_load(messages + im->message_bytes - im->counters.setup_bytes -
                        im->counters.sched_bytes);
}

/* For images of a snapshot: sends again what this process had said before its image and others had
 * not consumed before theirs. */
static void resend_messages(struct ft_rt *rt, const struct ft_command_arg *arg,
                            const char *messages, uint64_t bytes)
{
    if (!ft_msg_saved_in_snapshot(messages, bytes))
        return;
    for (int r = 0; r < rt->board->nranks; r++) {
        uint64_t n;
        const struct ft_image *im = ft_ckpt_image_of(rt, rt->bound[r], arg->version, &n);
        if (!im && atomic_load(&rt->box.generation) != arg->generation)
            /* r was lost while all went back, and its next carrier is known here already: all do
             * this again */
            return;
        if (!im)
            ft_give_up(INTERNAL, "an image of the checkpoint that all ranks go back to is gone");
        uint64_t from =
            ft_msg_saved_position(ft_image_messages((void *)(uintptr_t)im), atomic_load(&rt->pos));
        if (ft_msg_resend(messages, r, from) != FT_OK)
            ft_give_up(MESSAGES_UNDER_WAY, atomic_load(&rt->pos));
    }
}

static void restore_blocks(struct ft_rt *rt, const struct ft_image *im)
{
    uint64_t want = 0;
    enum ft_status st = ft_rma_state_blocks(ft_ckpt_engine_state(im), &want);
    if (st == FT_OK)
        return;
    if (st == FT_ERR_NOMEM)
        ft_rt_no_room(rt, "memory of MPI_Alloc_mem that it had at the last checkpoint", want);
    ft_give_up(ADDRESS_BLOCK, atomic_load(&rt->pos), (unsigned long long)want);
}

/* Which windows there are: those that setup has made, without those that had been freed by then. */
static void restore_windows(struct ft_rt *rt, const struct ft_image *im)
{
    char text[200];
    const char *state = ft_ckpt_engine_state(im);
    uint64_t made = ft_rma_state_made_outside(state);
    if (made != ft_rma_made_outside) {
        snprintf(text, sizeof text, "it made %llu windows, and the lost process %llu",
                 (unsigned long long)ft_rma_made_outside, (unsigned long long)made);
        ft_give_up(SETUP_CHANGED, atomic_load(&rt->pos), text);
    }
    ft_rma_state_drop_freed(state);
}

struct ft_answer ft_ckpt_restore(struct ft_rt *rt, const struct ft_command_arg *arg)
{
    uint64_t version = arg->version;
    rt->host.going_back();
    if (arg->told == FT_TOLD_KEEPS || (arg->told && !version))
        return ft_told_keep(rt, arg);
    ft_rma_drop_body_windows();
    struct ft_region *r;
    uint64_t t0 = ft_now_ns();
    const struct ft_image *im = ft_ckpt_own(rt, version);
    if (im)
        restore_blocks(rt, im);
    if (im)
        restore_windows(rt, im);
    if (im && ft_rma_state_memory(ft_ckpt_engine_state(im)) != FT_OK)
        ft_give_up(ATTACHED_GONE, atomic_load(&rt->pos));
    ft_rma_follow_blocks();
    int n = ft_ckpt_regions(rt, 1, &r);
    check_repeated(rt, im, version, r, n);
    ft_input_check(rt, im->counters.in);
    if (!rt->restored && rt->replacement) {
        ft_failpoint(REJOIN_READY);
        ft_rt_event(rt, FT_EV_REJOINED, ft_who(rt), 0, 0, 0, t0 - rt->setup_start_ns);
    }
    if (!arg->told)
        ft_output_jump(im->counters.out);
    ft_failpoint(RESTORE_COPY);
    for (int i = 0; i < n; i++) {
        ft_image_load_region(im, i, &r[i]);
        /* Body, which is entered again, counts it again. */
        ft_ckpt_region_unprotected(i, ft_image_region_unprotected(im, i));
    }
    rt->freed_in_body = im->counters.freed;
    if (arg->told)
        return ft_told_begin(rt, arg, im->bytes, t0);
    rt->restored_over = (int)im->counters.over;
    rt->restored_at = im->counters.safepoint;
    uint64_t before = rt->restored_at ? rt->restored_at - 1 : 0;
    atomic_store(&rt->box.reached, before);
    atomic_store(&rt->box.passed, before);
    ft_next_ctx = im->counters.next_ctx;
    rt->objects_in_body = 0;
    ft_rma_reset(rt->restored_over ? ft_ckpt_engine_state(im) : NULL, arg->alone);
    uint32_t era = rt->era;
    enum ft_keep keep = era == FT_ERA_POST ? FT_KEEP_ALL : rt->logs ? FT_KEEP_CUT : FT_KEEP_NONE;
    const char *messages = ft_image_messages((void *)(uintptr_t)im);
    uint64_t bytes = im->message_bytes - im->engine_bytes;
    if (arg->alone && era != FT_ERA_POST)
        ft_msg_resume(era, keep, FT_VERSION_BASE(version), messages, bytes);
    else
        ft_msg_begin_era(era, keep, version, messages, bytes);
    if (im->counters.era != era && !FT_VERSION_ALONE(version))
        resend_messages(rt, arg, messages, bytes);
    rt->host.rolled_back(rt->restored_over);
    ft_sched_state_entry(); /* a replacement: setup is over */
    ft_ckpt_load_sched(im);
    if (im->counters.safepoint > 0 && !rt->restored_over)
        ft_sched_state_entry();
    if (arg->alone)
        ft_rt_replay_restored(rt, im, ft_ckpt_engine_state(im), im->counters.era == era);
    else
        ft_rt_replay_rolled_back(rt, im, ft_ckpt_engine_state(im));
    ft_ckpt_note_covered(rt, FT_VERSION_BASE(version));
    ft_failpoint(RESTORE_DONE);
    ft_rt_event(rt, FT_EV_RESTORED, ft_who(rt), (int64_t)im->bytes,
                (int64_t)FT_VERSION_BASE(version), (int64_t)FT_VERSION_ALONE(version),
                ft_now_ns() - t0);
    return (struct ft_answer){.safepoint = im->counters.safepoint};
}
