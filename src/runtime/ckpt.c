/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ckpt.c - main's part in a checkpoint: copy, parity, rebuild (C1, C5, C5a). restore.c goes back.
 *
 * A new image is built in a slot beside the committed one, so a crash at any point leaves the
 * committed one complete. The owner publishes offset, size and, last, the version in its control
 * block; version 0 means that the slot is being written. Others find an image by its version, and
 * read it only while no order lets it change.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/near.h"
#include "base/private.h"
#include "coll/sched.h"
#include "msg/channels.h"
#include "msg/wild.h"
#include "rma/putlog.h"
#include "rma/rma.h"
#include "rma/windows.h"
#include "runtime/ckpt.h"
#include "runtime/combine.h"
#include "runtime/input.h"
#include "runtime/latest.h"
#include "runtime/memcheck.h"
#include "runtime/output.h"
#include "runtime/replay.h"
#include "runtime/save.h"
#include "runtime/start.h"

#define TELL_FROM                                                                                \
    (1ull << 20)               /* for larger changes others should make room before they need it \
                                */
#define MAP_PIECE (2ull << 20) /* the longest delay for a checkpoint that begins */
#define MAP_MOST (1ull << 30)  /* a tenth of a second's work, once; 2 MiB of page table */

struct mapped {
    uint64_t off, bytes;
};
FT_STATIC(int, no_room_said);    /* it was reported that there is no room for an image */
FT_STATIC(uint64_t, logs_ready); /* file space that was taken for logs */
FT_STATIC(uint64_t, left_to_map) = MAP_MOST;
FT_STATIC(struct mapped *, all_mapped); /* [nslots * FT_IMAGES]; NULL: nothing yet */
#define no_room_said FT_MY(no_room_said)
#define logs_ready FT_MY(logs_ready)
#define left_to_map FT_MY(left_to_map)
#define all_mapped FT_MY(all_mapped)

/* The slot for an image of this version: the one where it was begun before, else, of those that
 * hold nothing that counts, the one with most memory. */
int ft_ckpt_slot_for(const struct ft_rt *rt, uint64_t version)
{
    const struct ft_ctl *ctl = rt->arena.ctl;
    int best = -1;
    ft_rebuild_settle(rt);
    for (int i = 0; i < FT_IMAGES; i++) {
        uint64_t v = atomic_load(&ctl->image[i].version);
        if (v && v == version)
            return i;
        if ((v == 0 || (v != atomic_load(&rt->box.committed) && v != ft_latest_of(rt, ctl) &&
                        v != ft_save_pinned(rt))) &&
            (best < 0 || rt->image_cap[i] > rt->image_cap[best]))
            best = i;
    }
    FT_ASSERT(best >= 0);
    return best;
}

int ft_ckpt_room_in(struct ft_rt *rt, int slot, uint64_t bytes)
{
    struct ft_ctl *ctl = rt->arena.ctl;
    atomic_store(&ctl->image[slot].version, 0);
    /* a reader of what is written from here on finds that the version has gone (fold) */
    atomic_thread_fence(memory_order_release);
    if (rt->image_cap[slot] >= bytes)
        return 1;
    ft_arena_free(&rt->arena, rt->image_off[slot]);
    rt->image_cap[slot] = 0;
    rt->image_off[slot] = ft_arena_alloc(&rt->arena, bytes, 4096);
    if (!rt->image_off[slot]) {
        char text[300];
        if (no_room_said++)
            return 0;
        int n = snprintf(text, sizeof text,
                         "ftrma: there is no room for an image of %llu bytes: %s is full. No "
                         "checkpoint is taken until there is room. "
                         "Enlarge it, or set FTRMA_ARENA_DIR=memfd\n",
                         (unsigned long long)bytes, ft_setting_str(FT_SET_ARENA_DIR));
        ft_print(text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
        return 0;
    }
    rt->image_cap[slot] = bytes;
    return 1;
}

/* The number of slots: for the committed image or codeword and the next one; with demand
 * checkpoints also for the latest one (with `stream` ranks write over it); and of a rank for the
 * one that is being saved. */
static int slots_wanted(const struct ft_rt *rt)
{
    return (rt->demand && !(rt->stream && ft_is_rank(rt)) ? 3 : 2) +
           (rt->board->save.every && ft_is_rank(rt));
}

/* Whether this many bytes fit into what is left for all processes. */
static int all_could_have(struct ft_rt *rt, uint64_t bytes)
{
    return ft_arena_left(&rt->arena) / (uint64_t)rt->nslots >= bytes;
}

static void take_room(struct ft_rt *rt, int slot, uint64_t bytes)
{
    struct ft_ctl *ctl = rt->arena.ctl;
    rt->image_off[slot] = ft_arena_alloc(&rt->arena, bytes, 4096);
    rt->image_cap[slot] = rt->image_off[slot] ? bytes : 0;
    atomic_store(&ctl->image[slot].bytes,
                 0); /* for processes that map it early (map_image): both words are of one room */
    atomic_store(&ctl->image[slot].off, rt->image_off[slot]);
    atomic_store(&ctl->image[slot].bytes, rt->image_cap[slot]);
}

/* Makes room of `bytes` in the first n slots, which hold nothing that counts. All of it is free at
 * the same time, so that it grows in place as a program protects one piece after the other. Lack of
 * room does no harm yet: it is asked for again when there is something to write. */
static void make_room(struct ft_rt *rt, int n, uint64_t bytes)
{
    int enough = 1;
    if (!all_could_have(rt, (uint64_t)n * bytes))
        n = 1; /* take no memory that another process must have; ft_ckpt_more_room follows */
    for (int i = 0; i < n; i++) {
        if (atomic_load(&rt->arena.ctl->image[i].version))
            return;
        enough &= rt->image_cap[i] >= bytes;
    }
    if (enough)
        return;
    for (int i = 0; i < n; i++) {
        ft_arena_free(&rt->arena, rt->image_off[i]);
        rt->image_cap[i] = 0;
        rt->image_off[i] = 0;
    }
    for (int i = 0; i < n; i++)
        take_room(rt, i, bytes);
}

/* All have their first image or codeword: makes room for the next one, before logs take it, and for
 * a third one if all could have that. */
void ft_ckpt_more_room(struct ft_rt *rt)
{
    uint64_t bytes = 0;
    int have = 0, n = slots_wanted(rt);
    for (int i = 0; i < FT_IMAGES; i++) {
        bytes = ft_max_u64(bytes, rt->image_cap[i]);
        have += rt->image_cap[i] > 0;
    }
    for (int i = 0; bytes && i < FT_IMAGES && have < n; i++)
        if (rt->image_cap[i] == 0 && (have == 1 || all_could_have(rt, bytes))) {
            take_room(rt, i, bytes);
            have++;
        }
}

/* Takes file space for logs in advance, by using up the arena's free memory. At most half of the
 * limit, at which demand checkpoints are asked for; and only where there is plenty: all processes
 * together leave three quarters of what the file system has. */
static void make_logs_ready(struct ft_rt *rt, uint64_t bytes)
{
    uint64_t most = ft_log_budget.limit / 2;
    bytes = ft_min_u64(bytes, most - ft_min_u64(most, ft_log_budget.used));
    if (bytes > logs_ready)
        bytes = ft_min_u64(bytes, ft_arena_left(&rt->arena) / 4 / (uint64_t)rt->nslots);
    if (bytes <= logs_ready)
        return;
    logs_ready = bytes;
    ft_arena_free(&rt->arena,
                  ft_arena_alloc(&rt->arena, bytes, FT_CACHE_LINE)); /* no room does no harm yet */
}

/* Rings the checksum processes of this rank's group, and the spares, so that they look at its size
 * (FT_LOOK_ROOM). */
static void tell_helpers(struct ft_rt *rt)
{
    int pos = atomic_load(&rt->pos), group = ft_group_of_position(&rt->groups, pos),
        k = ft_group_size(&rt->groups, group);
    for (int i = 0; i < rt->groups.parity; i++)
        ft_bell_ring(rt->board, ft_rt_slot_at(rt, ft_group_block(&rt->groups, group, k + i)));
    for (int s = 0; s < rt->nslots; s++) {
        enum ft_role role;
        int index;
        ft_rt_role(rt, s, &role, &index);
        if (role == FT_ROLE_SPARE)
            ft_bell_ring(rt->board, s);
    }
}

/* What there is to protect so far is known to all. Checksum processes make room at the same time as
 * this process, then map it. A replacement does nothing: its image is rebuilt first and has its
 * room already (ft_ckpt_room), and it must lose no time. */
void ft_ckpt_prepare(struct ft_rt *rt)
{
    struct ft_region *r;
    int n = ft_ckpt_regions(rt, 1, &r);
    uint64_t mine = 0, was = atomic_load(&rt->me->protected_bytes);
    for (int i = 0; i < n; i++)
        mine += r[i].bytes;
    atomic_store(&rt->me->protected_bytes, mine);
    if (rt->replacement)
        return;
    int tell = mine >= was + TELL_FROM;
    if (tell)
        tell_helpers(rt);
    make_room(rt, slots_wanted(rt), ft_image_measure(r, n, ft_msg_head_bytes()) + FT_ROOM_SLACK);
    if (tell)
        tell_helpers(rt);
    if (rt->logs)
        make_logs_ready(rt, mine / 100 * rt->log_ready);
}

/* Maps [off, off + bytes) of a slot's arena. Returns 0 if not all of it could be mapped. */
static int map_range(struct ft_rt *rt, int slot, uint64_t off, uint64_t bytes)
{
#ifdef MADV_POPULATE_READ
    uint32_t generation = atomic_load(&rt->box.generation);
    for (uint64_t at = 0; at < bytes; at += MAP_PIECE) {
        uint64_t n = ft_min_u64(bytes - at, MAP_PIECE);
        char *p =
            n <= left_to_map ? rt->tp.ops->map(&rt->tp, slot, off + at, n, FT_TP_IMAGE) : NULL;
        if (!p || atomic_load(&rt->box.generation) != generation || ft_said(rt, FT_SAYS_HURRY))
            return 0;
        (void)madvise(p, n, MADV_POPULATE_READ);
        left_to_map -= n;
    }
    return 1;
#else
    (void)rt, (void)slot, (void)off, (void)bytes;
    return 0;
#endif
}

/* Maps the images of a slot, or all the room that it has for them, as far as it was not mapped
 * before. */
static int map_images_of(struct ft_rt *rt, int slot, int room)
{
    const struct ft_ctl *ctl = ft_board_near(rt->board, slot) ? ft_tp_ctl(&rt->tp, slot) : NULL;
    if (!all_mapped)
        all_mapped = ft_private_alloc((size_t)rt->nslots * FT_IMAGES * sizeof *all_mapped);
    for (int i = 0; ctl && all_mapped && i < FT_IMAGES; i++) {
        struct mapped *m = &all_mapped[slot * FT_IMAGES + i];
        uint64_t bytes = atomic_load(&ctl->image[i].bytes), off = atomic_load(&ctl->image[i].off);
        if ((!room && !atomic_load_explicit(&ctl->image[i].version, memory_order_acquire)) ||
            (m->off == off && m->bytes >= bytes) || atomic_load(&ctl->image[i].bytes) != bytes)
            continue;
        if (!map_range(rt, slot, off, bytes))
            return 0;
        *m = (struct mapped){off, bytes};
    }
    return 1;
}

/* A waiting spare maps the images and codewords that it may have to read, and a checksum process
 * the room for those of its group. So a rebuild, or the first codewords, meet no unmapped page,
 * which would take two thirds of a rebuild's time. The cost is a page table, and the same time now.
 * A failure, or a checkpoint that begins, stops it. */
static void map_images(struct ft_rt *rt)
{
    int pos = atomic_load(&rt->pos), go_on = 1;
    if (pos < 0) {
        for (int s = 0; go_on && s < rt->nslots; s++)
            go_on = s == rt->self || map_images_of(rt, s, 0);
        return;
    }
    int group = ft_group_of_position(&rt->groups, pos);
    for (int k = 0; go_on && k < ft_group_size(&rt->groups, group); k++)
        go_on = map_images_of(rt, ft_rt_slot_at(rt, ft_group_member(&rt->groups, group, k)), 1);
}

uint64_t ft_ckpt_most(const struct ft_rt *rt)
{
    uint64_t most = 0;
    for (int i = 0; i < rt->nslots; i++)
        most = ft_max_u64(most, atomic_load(&rt->board->slot[i].protected_bytes));
    return most;
}

void ft_ckpt_room(struct ft_rt *rt, int next_in_line)
{
    uint64_t most = ft_ckpt_most(rt);
    if (most)
        make_room(rt, ft_is_checksum(rt) ? slots_wanted(rt) : 1, most + 2 * FT_ROOM_SLACK);
    if (ft_is_checksum(rt) && atomic_load(&rt->box.committed) > 0)
        ft_ckpt_more_room(rt);
    if (most && next_in_line)
        ft_rt_set_aside(rt);
    map_images(rt);
}

void ft_ckpt_publish(struct ft_rt *rt, int slot, uint64_t version, uint64_t bytes)
{
    struct ft_ctl *ctl = rt->arena.ctl;
    atomic_store(&ctl->image[slot].off, rt->image_off[slot]);
    atomic_store(&ctl->image[slot].bytes, bytes);
    atomic_store_explicit(&ctl->image[slot].version, version, memory_order_release);
}

int ft_ckpt_slot_of(const struct ft_ctl *ctl, uint64_t version)
{
    for (int i = 0; i < FT_IMAGES; i++)
        if (atomic_load_explicit(&ctl->image[i].version, memory_order_acquire) == version)
            return i;
    return -1;
}

uint64_t ft_ckpt_image_bytes(struct ft_rt *rt, int slot, uint64_t version)
{
    const struct ft_ctl *ctl = ft_tp_ctl(&rt->tp, slot);
    int i = ctl && version ? ft_ckpt_slot_of(ctl, version) : -1;
    return i < 0 ? 0 : atomic_load(&ctl->image[i].bytes);
}

const void *ft_ckpt_image_of(struct ft_rt *rt, int slot, uint64_t version, uint64_t *bytes)
{
    struct ft_ctl *ctl = ft_tp_ctl(&rt->tp, slot);
    int i = ctl && version ? ft_ckpt_slot_of(ctl, version) : -1;
    if (i < 0 || !ft_board_near(rt->board, slot))
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
    return (const char *)ft_image_messages((void *)(uintptr_t)im) + im->message_bytes -
           im->engine_bytes;
}

void ft_ckpt_note_covered(struct ft_rt *rt, uint64_t version)
{
    uint64_t ns = ft_whole_exposed_ns();
    if (ns)
        ft_rt_event(rt, FT_EV_EXPOSED, ft_who(rt), (int64_t)version, 0, 0, ns);
}

/* Region i of the image that is being made. */
static void region_offset(void *arg, int i, uint64_t *off)
{
    const char *im = arg;
    *off = ft_arena_off(&ft_own_rt->arena, im + ft_image_region_at(im, i));
}

/* The image is complete: processes that wait for that may access this process again. */
static void taken(struct ft_rt *rt, uint64_t snapshot)
{
    ft_cut_taken(rt->arena.ctl, snapshot);
    for (int r = 0; r < rt->board->nranks; r++) {
        struct ft_ctl *ctl = ft_tp_ctl(&rt->tp, rt->bound[r]);
        if (ctl && ctl != rt->arena.ctl)
            ft_tp_shm_ring_ctl(ctl);
    }
    ft_failpoint(SNAPSHOT_TAKEN);
}

/* The image outlives the home log: in a file, or when a node is lost. */
static int needs_setup(const struct ft_rt *rt)
{
    return ft_restart_compares(rt) || rt->board->nodes.n;
}

struct ft_ckpt_sizes ft_ckpt_measure(const struct ft_region *r, int n, int alone)
{
    struct ft_ckpt_sizes s = {.alone = alone,
                              .sched = ft_sched_state_bytes(),
                              .setup = needs_setup(ft_own_rt) ? ft_homelog_setup_bytes() : 0};
    s.engine = ft_rma_state_bytes() + s.sched + s.setup;
    s.messages = ft_msg_pending_bytes(alone) + s.engine;
    s.all = ft_image_measure(r, n, s.messages);
    return s;
}

void ft_ckpt_note_places(const struct ft_rt *rt, struct ft_image_counters *c)
{
    const struct ft_testament *t = &rt->me->testament;
    c->heap_from = atomic_load(&t->heap_from);
    c->arena_at = atomic_load(&t->arena_at);
    c->strayed = atomic_load(&t->strayed);
}

struct ft_image *ft_ckpt_begin_image(struct ft_rt *rt, int slot, uint64_t version,
                                     const struct ft_region *r, int n,
                                     const struct ft_ckpt_sizes *s, const struct ft_log_place *home)
{
    struct ft_image_counters c = {.safepoint = atomic_load(&rt->box.reached),
                                  .next_ctx = ft_next_ctx,
                                  .over = ft_main_at(rt) == FT_AT_OVER,
                                  .rank = (uint32_t)atomic_load(&rt->pos),
                                  .era = ft_msg_era(),
                                  .calls = ft_calls,
                                  .wild = ft_wild_peek(),
                                  .home = {home->seq, home->chunk, home->pos},
                                  .sched_bytes = s->sched,
                                  .setup_bytes = s->setup,
                                  .entry_ctx = rt->entry_ctx,
                                  .setup_kept = needs_setup(rt)};
    ft_ckpt_note_places(rt, &c);
    ft_output_mark(c.out);
    c.in = ft_input_mark(rt);
    c.freed = rt->freed_in_body;
    c.generation = atomic_load(&rt->box.generation);
    struct ft_image *im = ft_arena_ptr(&rt->arena, rt->image_off[slot]);
    ft_image_begin(im, version, r, n, s->messages, &c);
    im->engine_bytes = s->engine;
    ft_msg_pending_save(ft_image_messages(im), s->alone);
    char *state = (char *)(uintptr_t)ft_ckpt_engine_state(im);
    ft_rma_state_save(state);
    ft_sched_state_save(state + s->engine - s->setup - s->sched);
    if (s->setup)
        ft_homelog_setup_save(state + s->engine - s->setup);
    return im;
}

static struct ft_answer copy(struct ft_rt *rt, uint64_t version, uint64_t snapshot)
{
    struct ft_region *r;
    int n = ft_ckpt_regions(rt, snapshot != 0, &r), slot = ft_ckpt_slot_for(rt, version);
    FT_ASSERT(ft_replay == FT_LIVE);
    uint64_t t0 = ft_now_ns();
    struct ft_ckpt_sizes sizes = {0};
    uint32_t why = ft_ckpt_cannot(rt);
    if (why == FT_SKIP_NONE && snapshot && !ft_msg_settled())
        why = FT_SKIP_REQUESTS;
    if (why == FT_SKIP_NONE && snapshot)
        ft_failpoint(SNAPSHOT_LOOKED);
    if (why == FT_SKIP_NONE)
        sizes = ft_ckpt_measure(r, n,
                                snapshot !=
                                    /* all that has come is looked at: it may differ from what a
                                     * lost process had said */
                                    0);
    /* A synchronous message that has come meanwhile would be in the image, and its sender, before
     * its own, would be told once it is received (C9). */
    if (why == FT_SKIP_NONE && snapshot && !ft_msg_was_settled())
        why = FT_SKIP_REQUESTS;
    if (rt->diverged)
        why = FT_SKIP_DIVERGED;
    if (why !=
        FT_SKIP_NONE) { /* at FTRMA_Run's entry or end; at a safepoint it was reported on arrival */
        return (struct ft_answer){.reason = why};
    }
    uint64_t bytes = sizes.all;
    if (!ft_ckpt_room_in(rt, slot, bytes))
        return (struct ft_answer){.reason = FT_SKIP_NOMEM};
    if (atomic_load(&rt->arena.aside)) /* a replacement that is live had what it needed */
        (void)ft_arena_set_aside(&rt->arena, 0);
    uint64_t committed = atomic_load(&rt->box.committed);
    ft_homelog_trim(committed);
    ft_putlog_trim(committed);
    ft_rma_cut(version);
    struct ft_log_place home = ft_homelog_cut(version);
    char *im = (char *)ft_ckpt_begin_image(rt, slot, version, r, n, &sizes, &home);
    ft_msg_cut(version, snapshot != 0);
    ft_ckpt_note_covered(rt, version);
    for (int i = 0; i < n; i++) {
        if (i == n / 2)
            ft_failpoint(CKPT_COPY);
        ft_image_save_region(im, i, &r[i]);
    }
    ft_failpoint(CKPT_COPIED);
    if (snapshot)
        ft_rma_shadows(region_offset, im, rt->nregions);
    ft_ckpt_publish(rt, slot, version, bytes);
    if (snapshot)
        taken(rt, snapshot);
    ft_rt_event(rt, FT_EV_CKPT_COPY, ft_who(rt), (int64_t)bytes, (int64_t)version, 0,
                ft_now_ns() - t0);
    return (struct ft_answer){.bytes = bytes, .version = version};
}

struct ft_answer ft_ckpt_copy(struct ft_rt *rt, uint64_t version, uint64_t snapshot)
{
    struct ft_answer r;
    rt->copying = 1;
    if (ft_restart_wanted(rt) && atomic_load(&rt->box.committed) == 0)
        r = ft_restart_load(rt, version);
    else
        r = copy(rt, version, snapshot);
    rt->copying = 0;
    return r;
}

struct ft_answer ft_ckpt_parity(struct ft_rt *rt, uint64_t version)
{
    uint64_t t0 = ft_now_ns(), bytes = 0;
    int slot = ft_ckpt_slot_for(rt, version);
    enum ft_skip_reason bad = ft_ckpt_combine_own(rt, version, 1, slot, &bytes);
    if (bad != FT_SKIP_NONE)
        return (struct ft_answer){.reason = bad};
    ft_failpoint(CKPT_PARITY_DONE);
    ft_ckpt_publish(rt, slot, version, bytes);
    ft_rt_event(rt, FT_EV_CKPT_PARITY, ft_who(rt), (int64_t)bytes, (int64_t)version, 0,
                ft_now_ns() - t0);
    return (struct ft_answer){.version = version};
}
