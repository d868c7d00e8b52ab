/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ckpt.c - what main does for a checkpoint: copy, parity, rebuild, restore (protocol 7, 9).
 *
 * Two slots a process: version v lies in slot v & 1, so that the new one is built beside the committed one, and a crash at any
 * point leaves the committed one whole. The owner publishes offset, bytes and, last, the version in its control block; a version of 0
 * says that the slot is being written. Images are read by others only while no order lets them change.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "erasure/erasure.h"
#include "msg/channels.h"
#include "msg/wild.h"
#include "rma/lp.h"
#include "rma/rma.h"
#include "rma/windows.h"
#include "runtime/output.h"
#include "runtime/rt.h"

#define PIECE (256ull << 10)
#define MAX_WINDOW_REGIONS 1024
#define ROOM_SLACK (128ull << 10) /* for an image's head, when only its contents' size is known */

enum ft_status ft_runtime_protect(void *addr, size_t bytes)
{
    struct ft_rt *rt = ft_rt;
    if (rt->in_run || rt->ran || (!addr && bytes))
        return FT_ERR_ARG;
    if (rt->nregions == rt->cap_regions) {
        int cap = rt->cap_regions ? 2 * rt->cap_regions : 16;
        struct ft_region *r = realloc(rt->region, (size_t)(cap + MAX_WINDOW_REGIONS) * sizeof *r);
        if (!r)
            return FT_ERR_NOMEM;
        rt->region = r;
        rt->cap_regions = cap;
    }
    rt->region[rt->nregions++] = (struct ft_region){addr, bytes};
    return FT_OK;
}

/* Protected memory, then the windows' parts; returns how many. */
static int all_regions(struct ft_rt *rt, struct ft_region **out)
{
    static struct ft_region none[MAX_WINDOW_REGIONS];
    struct ft_region *r = rt->region ? rt->region : none;
    int n = rt->nregions;
    void *addr;
    size_t bytes;
    for (int i = 0; i < MAX_WINDOW_REGIONS && ft_rma_region(i, &addr, &bytes); i++)
        r[n++] = (struct ft_region){addr, bytes};
    *out = r;
    return n;
}

static int room(struct ft_rt *rt, int slot, uint64_t bytes)
{
    struct ft_ctl *ctl = rt->arena.ctl;
    if (rt->image_cap[slot] >= bytes)
        return 1;
    if (rt->image_cap[1 - slot] >= bytes && rt->image_cap[slot] == 0 && atomic_load(&ctl->image[1 - slot].version) == 0) {
        rt->image_off[slot] = rt->image_off[1 - slot]; /* taken beforehand, when it was not known for which version */
        rt->image_cap[slot] = rt->image_cap[1 - slot];
        rt->image_off[1 - slot] = rt->image_cap[1 - slot] = 0;
        return 1;
    }
    atomic_store(&ctl->image[slot].version, 0);
    ft_arena_free(&rt->arena, rt->image_off[slot]);
    rt->image_cap[slot] = 0;
    rt->image_off[slot] = ft_arena_alloc(&rt->arena, bytes, 4096);
    if (!rt->image_off[slot]) {
        char text[200];
        int n = snprintf(text, sizeof text, "ftrma: no room for an image of %llu bytes: %s is full (FTRMA_ARENA_DIR chooses another place)\n",
                         (unsigned long long)bytes, ft_setting_str(FT_SET_ARENA_DIR));
        ft_words(text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
        return 0;
    }
    rt->image_cap[slot] = bytes;
    return 1;
}

/* Room for one image; that for the other is taken with the second checkpoint. */
void ft_ckpt_prepare(struct ft_rt *rt)
{
    struct ft_region *r;
    int n = all_regions(rt, &r);
    uint64_t mine = 0;
    for (int i = 0; i < n; i++)
        mine += r[i].bytes;
    atomic_store(&rt->me->protected_bytes, mine);
    /* A replacement's image is rebuilt first, and has its room already: ft_ckpt_room. No room: the checkpoint is called off, and
     * so all ranks get the error. */
    if (!rt->replacement)
        (void)room(rt, 1, ft_image_measure(r, n, ft_msg_head_bytes()));
}

void ft_ckpt_room(struct ft_rt *rt)
{
    uint64_t most = 0;
    for (int i = 0; i < rt->nslots; i++)
        most = ft_max_u64(most, atomic_load(&rt->board->slot[i].protected_bytes));
    if (rt->image_cap[0] == 0 && rt->image_cap[1] == 0)
        (void)room(rt, 1, most + ROOM_SLACK);
}

static void publish(struct ft_rt *rt, uint64_t version, uint64_t bytes)
{
    struct ft_ctl *ctl = rt->arena.ctl;
    int slot = (int)(version & 1);
    atomic_store(&ctl->image[slot].off, rt->image_off[slot]);
    atomic_store(&ctl->image[slot].bytes, bytes);
    atomic_store_explicit(&ctl->image[slot].version, version, memory_order_release);
    atomic_store(&rt->complete, version);
}

const void *ft_ckpt_image_of(struct ft_rt *rt, int slot, uint64_t version, uint64_t *bytes)
{
    struct ft_ctl *ctl = ft_tp_ctl(&rt->tp, slot);
    int i = (int)(version & 1);
    if (!ctl || atomic_load_explicit(&ctl->image[i].version, memory_order_acquire) != version)
        return NULL;
    *bytes = atomic_load(&ctl->image[i].bytes);
    return rt->tp.ops->map(&rt->tp, slot, atomic_load(&ctl->image[i].off), *bytes, FT_TP_IMAGE);
}

const struct ft_image *ft_ckpt_own(struct ft_rt *rt, uint64_t version)
{
    uint64_t bytes;
    return ft_ckpt_image_of(rt, rt->self, version, &bytes);
}

enum ft_skip_reason ft_ckpt_cannot(const struct ft_rt *rt)
{
    return ft_msg_active > 0           ? FT_SKIP_REQUESTS
           : ft_rma_exclusive_held > 0 ? FT_SKIP_LOCKS
           : rt->objects_in_body > 0   ? FT_SKIP_OBJECTS
                                       : FT_SKIP_NONE;
}

const char *ft_ckpt_engine_state(const struct ft_image *im)
{
    return (const char *)ft_image_messages((void *)(uintptr_t)im) + im->message_bytes - im->engine_bytes;
}

static void note_covered(struct ft_rt *rt, uint64_t version)
{
    uint64_t ns = ft_exposure_end();
    if (ns)
        ft_rt_event(rt, FT_EV_EXPOSED, ft_who(rt), (int64_t)version, 0, 0, ns);
}

void ft_ckpt_copy(struct ft_rt *rt, uint64_t version)
{
    struct ft_region *r;
    int n = all_regions(rt, &r), slot = (int)(version & 1), pos = atomic_load(&rt->pos);
    uint32_t why = atomic_load(&rt->want_rollback) ? FT_SKIP_FAILURE : ft_ckpt_cannot(rt);
    if (why != FT_SKIP_NONE) { /* at FTRMA_Run's entry or end; at a safepoint it was said on arrival */
        atomic_store(&rt->result_bad, why);
        return;
    }
    uint64_t t0 = ft_now_ns(), setup = ft_home_setup_bytes(), engine = ft_rma_state_bytes() + setup;
    uint64_t msgs = ft_msg_pending_bytes() + engine, bytes = ft_image_measure(r, n, msgs);
    atomic_store(&rt->result_bad, FT_SKIP_NONE);
    if (!room(rt, slot, bytes)) {
        atomic_store(&rt->result_bad, FT_SKIP_NOMEM);
        return;
    }
    atomic_store(&rt->arena.ctl->image[slot].version, 0);
    uint64_t committed = atomic_load(&rt->committed);
    ft_home_trim(committed);
    ft_lp_trim(committed);
    ft_rma_cut(version);
    struct ft_log_place home = ft_home_cut(version);
    struct ft_image_counters c = {.safepoint = atomic_load(&rt->reached),
                                  .next_ctx = ft_next_ctx,
                                  .over = (uint32_t)rt->over,
                                  .rank = (uint32_t)pos,
                                  .era = ft_msg_era(),
                                  .calls = ft_calls,
                                  .wild = ft_wild_peek(),
                                  .home = {home.seq, home.chunk, home.pos},
                                  .setup_bytes = setup};
    ft_output_mark(c.out);
    char *im = ft_arena_ptr(&rt->arena, rt->image_off[slot]);
    ft_image_begin(im, version, r, n, msgs, &c);
    ((struct ft_image *)(void *)im)->engine_bytes = engine;
    ft_msg_pending_save(ft_image_messages(im));
    char *state = (char *)(uintptr_t)ft_ckpt_engine_state((struct ft_image *)(void *)im);
    ft_rma_state_save(state);
    ft_home_setup_save(state + engine - setup);
    ft_msg_cut(version);
    note_covered(rt, version);
    if (atomic_load(&rt->want_rollback)) { /* found out just now, among messages that nobody had looked at */
        atomic_store(&rt->result_bad, FT_SKIP_FAILURE);
        return;
    }
    for (int i = 0; i < n; i++) {
        if (i == n / 2)
            ft_failpoint(CKPT_COPY);
        ft_image_save_region(im, i, &r[i]);
    }
    ft_failpoint(CKPT_COPIED);
    publish(rt, version, bytes);
    atomic_store(&rt->result_bytes, bytes);
    ft_rt_event(rt, FT_EV_CKPT_COPY, ft_who(rt), (int64_t)bytes, (int64_t)version, 0, ft_now_ns() - t0);
}

/* Images (and, for a member's rebuild, the codeword) of a group but the one at position `without`. -1: some are not there. */
static int sources(struct ft_rt *rt, int group, int without, uint64_t version, const void **src, size_t *len)
{
    int n = 0, size = ft_group_size(&rt->groups, group), nranks = rt->board->nranks;
    for (int i = 0; i <= size; i++) {
        int pos = i < size ? ft_group_member(&rt->groups, group, i) : nranks + ft_group_checksum(&rt->groups, group);
        if (pos == without || (i == size && without >= nranks))
            continue;
        uint64_t bytes;
        pthread_mutex_lock(&rt->map_lock);
        int slot = rt->slot_of[pos];
        pthread_mutex_unlock(&rt->map_lock);
        src[n] = ft_ckpt_image_of(rt, slot, version, &bytes);
        if (!src[n])
            return -1;
        len[n++] = bytes;
    }
    return n;
}

/* XORs a group's others into the own slot; says why not. Sources go away only by a failure, which brings a new generation. */
static enum ft_skip_reason combine(struct ft_rt *rt, int group, uint64_t version, int is_parity, uint64_t *bytes)
{
    int pos = atomic_load(&rt->pos), slot = (int)(version & 1);
    int most = ft_group_size(&rt->groups, group) + 1;
    const void *src[most];
    size_t len[most], longest = 0;
    int n = sources(rt, group, pos, version, src, len);
    if (n < 0)
        return FT_SKIP_FAILURE;
    for (int i = 0; i < n; i++)
        longest = len[i] > longest ? len[i] : longest;
    if (!room(rt, slot, longest))
        return FT_SKIP_NOMEM;
    atomic_store(&rt->arena.ctl->image[slot].version, 0);
    char *out = ft_arena_ptr(&rt->arena, rt->image_off[slot]);
    size_t half = longest / 2;
    int passed_half = 0;
    for (size_t at = 0; at < longest; at += PIECE) {
        if (at >= half && !passed_half) {
            passed_half = 1;
            if (is_parity)
                ft_failpoint(CKPT_PARITY_PIECE);
            else
                ft_failpoint(RESTORE_REBUILD);
        }
        ft_erasure_xor_encode(out + at, src, len, n, at, longest - at < PIECE ? longest - at : PIECE);
    }
    *bytes = longest;
    return FT_SKIP_NONE;
}

void ft_ckpt_parity(struct ft_rt *rt, uint64_t version)
{
    uint64_t t0 = ft_now_ns(), bytes = 0;
    int group = ft_group_of_checksum(&rt->groups, atomic_load(&rt->pos) - rt->board->nranks);
    enum ft_skip_reason bad = combine(rt, group, version, 1, &bytes);
    atomic_store(&rt->result_bad, bad);
    if (bad != FT_SKIP_NONE)
        return;
    ft_failpoint(CKPT_PARITY_DONE);
    publish(rt, version, bytes);
    ft_rt_event(rt, FT_EV_CKPT_PARITY, ft_who(rt), (int64_t)bytes, (int64_t)version, 0, ft_now_ns() - t0);
}

void ft_ckpt_rebuild(struct ft_rt *rt, uint64_t version)
{
    uint64_t t0 = ft_now_ns(), bytes = 0;
    int pos = atomic_load(&rt->pos), nranks = rt->board->nranks;
    int group = pos < nranks ? ft_group_of_rank(&rt->groups, pos) : ft_group_of_checksum(&rt->groups, pos - nranks);
    if (pos < nranks)
        ft_failpoint(REJOIN_IMAGE);
    enum ft_skip_reason bad = combine(rt, group, version, 0, &bytes);
    atomic_store(&rt->result_bad, bad);
    if (bad == FT_SKIP_NOMEM)
        ft_rt_end(rt, FT_JOB_LOST, FT_EXIT_LOST, "no room to rebuild what was lost (said above): the replacement cannot take its place");
    if (bad != FT_SKIP_NONE)
        return; /* another loss: the next generation starts anew */
    if (pos < nranks) /* the codeword is as long as the longest image */
        bytes = ((struct ft_image *)ft_arena_ptr(&rt->arena, rt->image_off[version & 1]))->bytes;
    ft_failpoint(RESTORE_DONE);
    publish(rt, version, bytes);
    ft_rt_event(rt, FT_EV_REBUILT, ft_who(rt), (int64_t)bytes, group, 0, ft_now_ns() - t0);
}

static void check_repeated(struct ft_rt *rt, const struct ft_image *im, uint64_t version, const struct ft_region *r, int n)
{
    int bad;
    char text[256];
    if (im && ft_image_matches(im, version, r, n, &bad) == FT_OK)
        return;
    if (!im)
        snprintf(text, sizeof text, "rank %d has no image of checkpoint %llu: internal error", atomic_load(&rt->pos), (unsigned long long)version);
    else if (bad < 0)
        snprintf(text, sizeof text, "setup of rank %d did not repeat itself: it protected %d regions (windows included), the lost process %llu",
                 atomic_load(&rt->pos), n, (unsigned long long)im->nregions);
    else
        snprintf(text, sizeof text, "setup of rank %d did not repeat itself: its protected region or window number %d has another size",
                 atomic_load(&rt->pos), bad);
    ft_rt_end(rt, FT_JOB_LOST, FT_EXIT_LOST, text);
}

void ft_ckpt_restore(struct ft_rt *rt, uint64_t version)
{
    ft_rma_drop_body_windows();
    struct ft_region *r;
    int n = all_regions(rt, &r);
    uint64_t t0 = ft_now_ns();
    const struct ft_image *im = ft_ckpt_own(rt, version);
    check_repeated(rt, im, version, r, n);
    if (!rt->restored && rt->replacement) {
        ft_failpoint(REJOIN_READY);
        ft_rt_event(rt, FT_EV_REJOINED, ft_who(rt), 0, 0, 0, t0 - rt->setup_start_ns);
    }
    ft_output_jump(im->counters.out);
    ft_failpoint(RESTORE_COPY);
    for (int i = 0; i < n; i++)
        ft_image_load_region(im, i, &r[i]);
    rt->over = (int)im->counters.over;
    atomic_store(&rt->milestone, FT_MILE_RUN); /* as the order machine has it from RESTORE on */
    rt->restored_at = im->counters.safepoint;
    uint64_t before = rt->restored_at ? rt->restored_at - 1 : 0;
    atomic_store(&rt->reached, before);
    atomic_store(&rt->passed, before);
    ft_next_ctx = im->counters.next_ctx;
    rt->objects_in_body = 0;
    ft_rma_reset();
    uint32_t era = atomic_load(&rt->era);
    enum ft_keep keep = era == FT_ERA_POST ? FT_KEEP_ALL : rt->logs ? FT_KEEP_CUT : FT_KEEP_NONE;
    const char *messages = ft_image_messages((void *)(uintptr_t)im);
    uint64_t bytes = im->message_bytes - im->engine_bytes;
    int alone = atomic_load(&rt->alone);
    if (alone && era != FT_ERA_POST)
        ft_msg_resume(era, keep, version, messages, bytes);
    else
        ft_msg_begin_era(era, keep, version, messages, bytes);
    rt->host.rolled_back(rt->over);
    if (alone)
        ft_rt_replay_restored(rt, im, ft_ckpt_engine_state(im), im->counters.era == era);
    else
        ft_rt_replay_rolled_back(rt, im, ft_ckpt_engine_state(im));
    note_covered(rt, version);
    ft_failpoint(RESTORE_DONE);
    ft_rt_event(rt, FT_EV_RESTORED, ft_who(rt), (int64_t)im->bytes, (int64_t)version, 0, ft_now_ns() - t0);
}
