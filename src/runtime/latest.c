/* SPDX-License-Identifier: BSD-3-Clause
 *
 * latest.c - main's part in demand checkpoints (C8): an image that a rank takes alone while all
 * others go on, and the codewords over the latest images of a group, which follow it.
 *
 * Each image and each codeword of a version is found by its number. The checksum process's control
 * block says which ranks are in a codeword of the latest images, and with which versions
 * (covered[], by slot).
 */
#include <string.h>

#include "coll/sched.h"
#include "msg/channels.h"
#include "msg/wild.h"
#include "rma/rma.h"
#include "rma/windows.h"
#include "runtime/ckpt.h"
#include "runtime/combine.h"
#include "runtime/latest.h"
#include "runtime/output.h"

#define PIECE (256ull << 10)
/* number of safepoints at which no image could be taken before the wish is declined */
#define PATIENCE 64

uint64_t ft_latest_of(const struct ft_rt *rt, const struct ft_ctl *ctl)
{
    uint64_t v = atomic_load(&rt->box.committed),
             l = ctl ? atomic_load_explicit(&ctl->latest, memory_order_acquire) : 0;
    return l && FT_VERSION_BASE(l) == v ? l : v;
}

void ft_latest_set(struct ft_rt *rt, uint64_t version)
{
    atomic_store(&rt->me->testament.latest, version);
    atomic_store_explicit(&rt->arena.ctl->latest, version, memory_order_release);
}

int ft_latest_lead(const struct ft_rt *rt, int group, int *there)
{
    int lead = atomic_load(&rt->lead[group]);
    *there = lead >= 0;
    return ft_group_block(&rt->groups, group,
                          ft_group_size(&rt->groups, group) + (lead >= 0 ? lead : ~lead));
}

uint64_t ft_latest_tag(struct ft_rt *rt, int slot, int rank)
{
    const struct ft_ctl *ctl = ft_tp_ctl(&rt->tp, slot);
    uint64_t v = atomic_load(&rt->box.committed);
    for (;;) { /* the latest slot is not written to while it is the latest */
        uint64_t l = ft_latest_of(rt, ctl);
        int i = l != v ? ft_ckpt_slot_of(ctl, l) : -1;
        uint64_t tag =
            i >= 0 ? atomic_load_explicit(&ctl->peer[rank].covered[i], memory_order_acquire) : v;
        if (ft_latest_of(rt, ctl) == l)
            return tag;
    }
}

/* --- the image of a rank --- */

/* While a rank replays, it may still ask this one for what it had said before (proto/demand.c,
 * stale images). */
static int all_live(struct ft_rt *rt)
{
    for (int r = 0; r < rt->board->nranks; r++) {
        const struct ft_ctl *ctl = ft_tp_ctl(&rt->tp, rt->bound[r]);
        if (!ctl || !atomic_load_explicit(&ctl->live, memory_order_acquire))
            return 0;
    }
    return 1;
}

static int can_take(struct ft_rt *rt)
{
    return atomic_load(&rt->box.complete) <=
               atomic_load(&rt->box.committed) && /* else the slot is needed */
           !rt->diverged &&
           ft_ckpt_cannot(rt) == FT_SKIP_NONE && !ft_rma_epochs_open() && ft_msg_settled();
}

/* Stamps, and what was consumed: taken before the windows are copied. [p puts and closes between:
 * it would count as covered.] */
static void save_head(struct ft_rt *rt, int slot, uint64_t version, const struct ft_region *r,
                      int n, const struct ft_ckpt_sizes *s)
{
    struct ft_ctl *ctl = rt->arena.ctl;
    struct ft_log_place home = ft_homelog_place();
    const char *state =
        ft_ckpt_engine_state(ft_ckpt_begin_image(rt, slot, version, r, n, s, &home));
    atomic_store(&ctl->image[slot].stamp, ft_rma_state_stamp(state));
    for (int p = 0; p < rt->board->nranks; p++)
        atomic_store(&ctl->peer[p].covered[slot], ft_msg_position(p));
}

static void save_windows(struct ft_rt *rt, int slot, const struct ft_region *r, int n, int over)
{
    char *im = ft_arena_ptr(&rt->arena, rt->image_off[slot]);
    for (int i = 0; i < rt->nregions; i++)
        ft_image_save_region(im, i, &r[i]);
    if (over)
        ft_failpoint(DEMAND_OVER);
    for (int i = rt->nregions; i < n; i++)
        for (uint64_t at = 0; at < r[i].bytes; at += PIECE) {
            ft_rma_hold();
            ft_image_save_part(im, i, &r[i], at, ft_min_u64(PIECE, r[i].bytes - at));
            ft_rma_release();
        }
}

static void answer(struct ft_rt *rt, uint64_t version, uint32_t wish)
{
    ft_box_took_image(&rt->box, wish, version);
    ft_agent_nudge(rt);
}

/* Where the new image is to be built: over the latest one (*over) if there must be no third one and
 * it fits. */
static int slot_to_take(struct ft_rt *rt, uint64_t version, uint64_t bytes, int *over)
{
    const struct ft_ctl *ctl = rt->arena.ctl;
    uint64_t l = ft_latest_of(rt, ctl);
    ft_rebuild_settle(rt);
    int slot = rt->stream && FT_VERSION_ALONE(l) ? ft_ckpt_slot_of(ctl, l) : -1;
    *over = slot >= 0 && bytes <= rt->image_cap[slot] &&
            bytes <= atomic_load(&ctl->image[slot].bytes) + FT_ROOM_SLACK;
    return *over ? slot : ft_ckpt_slot_for(rt, version);
}

/* From here on the image counts as begun, and its slot is empty. Returns 0 if it is not wanted any
 * more; then the slot is unchanged. A replaced checksum process sees the latest image go before it
 * can have used it: the agent withdraws its wish before it votes. */
static int begin_take(struct ft_rt *rt, int slot, uint32_t want)
{
    _Atomic uint64_t *version = &rt->arena.ctl->image[slot].version;
    uint64_t was = atomic_exchange(version, 0);
    if (ft_box_begin_image(&rt->box, want))
        return 1;
    atomic_store(version, was);
    return 0;
}

FT_STATIC(int, in_vain); /* number of safepoints at which no image could be taken */
#define in_vain FT_MY(in_vain)

void ft_latest_take(struct ft_rt *rt)
{
    uint32_t want = ft_box_wished(&rt->box);
    if (!want)
        return;
    if (ft_whole_misses(FT_WHOLE_NEVER) ||
        in_vain > PATIENCE) { /* a coordinated checkpoint covers this rank */
        in_vain = 0;
        answer(rt, FT_TAKEN_NOT, want);
        return;
    }
    ft_rma_settle();
    ft_pass_door_uncounted(); /* losses in the generation that wants the image are then known */
    if (!all_live(rt))
        return;
    in_vain++;
    if (!can_take(rt))
        return; /* at a later safepoint */
    ft_failpoint(DEMAND_TAKE);
    struct ft_region *r;
    uint64_t t0 = ft_now_ns(), version = FT_VERSION_MAKE(atomic_load(&rt->box.committed), want - 1,
                                                         ++rt->latest.alone_n);
    int n = ft_ckpt_regions(rt, 1, &r), over;
    struct ft_ckpt_sizes sizes = ft_ckpt_measure(r, n, 1);
    uint64_t bytes = sizes.all;
    if (!ft_msg_was_settled()) /* a synchronous message has come meanwhile, and would be in it */
        return;
    in_vain = 0;
    int slot = slot_to_take(rt, version, bytes, &over);
    int anew = ft_homelog_begin_anew();
    if (anew && !begin_take(rt, slot, want))
        return;
    if (!anew ||
        !ft_ckpt_room_in(rt, slot, over ? bytes : bytes + (rt->stream ? FT_ROOM_SLACK : 0))) {
        answer(rt, FT_TAKEN_NOT, want);
        return;
    }
    save_head(rt, slot, version, r, n, &sizes);
    save_windows(rt, slot, r, n, over);
    ft_ckpt_publish(rt, slot, version, bytes);
    ft_failpoint(DEMAND_COPIED);
    ft_rt_event(rt, FT_EV_DEMAND_COPY, ft_who(rt), (int64_t)bytes,
                (int64_t)FT_VERSION_BASE(version), (int64_t)FT_VERSION_NUMBER(version),
                ft_now_ns() - t0);
    answer(rt, version, want);
}

void ft_latest_cover_own(struct ft_rt *rt)
{
    uint64_t v = atomic_load(&rt->box.committed), l = ft_latest_of(rt, rt->arena.ctl);
    if (l == rt->latest.covered_own || l == v)
        return;
    rt->latest.covered_own = l;
    const struct ft_image *im = ft_ckpt_own(rt, l);
    if (!im || !ft_homelog_cover(v, im->counters.home[0]) || ft_whole_misses_others())
        return;
    uint64_t ns = ft_whole_exposed_ns();
    if (ns)
        ft_rt_event(rt, FT_EV_EXPOSED, ft_who(rt), (int64_t)v, (int64_t)FT_VERSION_NUMBER(l), 0,
                    ns);
}

/* --- the codeword --- */

static void add_block(struct ft_recipe *r, const void *block, uint64_t bytes, uint8_t coef)
{
    r->src[r->n] = block;
    r->len[r->n] = bytes;
    r->coef[r->n++] = coef;
    r->longest = ft_max_u64(r->longest, bytes);
}

/* Which of its group's codewords this checksum process keeps. */
static int codeword_here(struct ft_rt *rt)
{
    const struct ft_groups *g = &rt->groups;
    int pos = atomic_load(&rt->pos);
    return ft_group_block_of_position(g, pos) - ft_group_size(g, ft_group_of_position(g, pos));
}

/* How rank's images lie in it. */
static uint8_t coefficient(struct ft_rt *rt, int rank)
{
    return ft_erasure_coefficient(codeword_here(rt), ft_group_index_of_rank(&rt->groups, rank));
}

/* Whether a block that was read is unchanged: its owner announces that it goes before it writes
 * there. */
static int still_there(struct ft_rt *rt, int slot, uint64_t version, const void *block)
{
    uint64_t bytes;
    atomic_thread_fence(memory_order_acquire);
    return ft_ckpt_image_of(rt, slot, version, &bytes) == block;
}

/* Records which ranks are in the codeword in `slot`, which is then complete. */
static void publish(struct ft_rt *rt, int slot, uint64_t made, int rank, uint64_t version,
                    uint64_t bytes)
{
    struct ft_ctl *ctl = rt->arena.ctl;
    int group = ft_group_of_rank(&rt->groups, rank);
    for (int i = 0; i < ft_group_size(&rt->groups, group); i++) {
        int m = ft_group_member(&rt->groups, group, i);
        atomic_store(&ctl->peer[m].covered[slot],
                     m == rank ? version : ft_latest_tag(rt, rt->self, m));
    }
    ft_ckpt_publish(rt, slot, made, bytes);
}

static uint64_t next_version(struct ft_rt *rt)
{
    return FT_VERSION_MAKE(atomic_load(&rt->box.committed), atomic_load(&rt->box.generation),
                           ++rt->latest.alone_n);
}

/* The staged block is not the lifted codeword of this image of rank: the old image is still in
 * place, and everything is one sum. */
static enum ft_skip_reason fold_whole(struct ft_rt *rt, int rank, uint64_t tag, uint64_t version,
                                      uint64_t *made)
{
    int member = ft_rt_slot_at(rt, rank);
    uint64_t old = ft_latest_of(rt, rt->arena.ctl), bytes[3] = {0}, all;
    const void *src[3] = {ft_ckpt_image_of(rt, rt->self, old, &bytes[0]),
                          ft_ckpt_image_of(rt, member, tag, &bytes[1]),
                          ft_ckpt_image_of(rt, member, version, &bytes[2])};
    if (!src[0] || !src[1] || !src[2])
        return FT_SKIP_FAILURE;
    *made = next_version(rt);
    int slot = ft_ckpt_slot_for(rt, *made);
    struct ft_recipe r = {0};
    for (int i = 0; i < 3; i++)
        add_block(&r, src[i], bytes[i], i == 0 ? 1 : coefficient(rt, rank));
    enum ft_skip_reason bad = ft_ckpt_combine(rt, slot, &r, FT_FP_DEMAND_PIECE, &all);
    if (bad != FT_SKIP_NONE)
        return bad;
    if (!still_there(rt, member, version, src[2]) || !still_there(rt, member, tag, src[1]))
        return FT_SKIP_FAILURE;
    publish(rt, slot, *made, rank, version, all);
    return FT_SKIP_NONE;
}

/* Adds the new image, piece by piece, to the codeword without the old one, in place of that. Beyond
 * that one's end it is zero. */
static enum ft_skip_reason fold_over(struct ft_rt *rt, int rank, uint64_t version, uint64_t *made)
{
    struct ft_ctl *ctl = rt->arena.ctl;
    int slot = ft_ckpt_slot_of(ctl, rt->latest.lifted);
    int row = codeword_here(rt), index = ft_group_index_of_rank(&rt->groups, rank);
    uint64_t b;
    const char *src = ft_ckpt_image_of(rt, ft_rt_slot_at(rt, rank), version, &b);
    if (slot < 0 || !src || b > rt->image_cap[slot])
        return FT_SKIP_FAILURE;
    char *out = ft_arena_ptr(&rt->arena, rt->image_off[slot]);
    uint64_t lifted = atomic_load(&ctl->image[slot].bytes), all = ft_max_u64(lifted, b);
    *made = next_version(rt);
    atomic_store(&ctl->image[slot].version, 0);
    atomic_thread_fence(memory_order_release); /* as in ft_ckpt_room_in */
    memset(out + lifted, 0, all - lifted);
    for (uint64_t at = 0; at < b; at += PIECE) {
        if (at == b / PIECE / 2 * PIECE)
            ft_failpoint(DEMAND_PIECE);
        ft_erasure_update((void *[]){out + at}, &row, 1, index, src + at,
                          ft_min_u64(PIECE, b - at));
    }
    if (!still_there(rt, ft_rt_slot_at(rt, rank), version, src))
        return FT_SKIP_FAILURE;
    publish(rt, slot, *made, rank, version, all);
    return FT_SKIP_NONE;
}

/* Checksum process: makes the latest codeword with `version` of rank's image in place of the
 * previous one. Nobody looks at it before the agent says that it is the latest. */
static enum ft_skip_reason fold(struct ft_rt *rt, int rank, uint64_t version, uint64_t *made)
{
    uint64_t tag = ft_latest_tag(rt, rt->self, rank), bytes;
    *made = rt->latest.folded_as;
    if (rank == rt->latest.folded_rank && version == rt->latest.folded_image &&
        ft_ckpt_slot_of(rt->arena.ctl, *made) >= 0)
        return FT_SKIP_NONE; /* in the previous generation */
    int over = rt->latest.lifted && rt->latest.lifted_rank == rank &&
               rt->latest.lifted_image == tag &&
               !ft_ckpt_image_of(rt, ft_rt_slot_at(rt, rank), tag, &bytes);
    enum ft_skip_reason bad =
        over ? fold_over(rt, rank, version, made) : fold_whole(rt, rank, tag, version, made);
    rt->latest.lifted = 0;
    if (bad == FT_SKIP_NONE) {
        rt->latest.folded_rank = rank;
        rt->latest.folded_image = version;
        rt->latest.folded_as = *made;
        ft_failpoint(DEMAND_STAGED);
    }
    return bad;
}

struct ft_answer ft_latest_fold(struct ft_rt *rt, int rank, uint64_t version)
{
    uint64_t made = 0;
    if (fold(rt, rank, version, &made) != FT_SKIP_NONE)
        made = 0;
    return (struct ft_answer){.version = made};
}

/* Returns 1 if it is done, or nothing has to be done: the rank has only the committed image, which
 * stays. */
static int lift(struct ft_rt *rt, int rank)
{
    int member = ft_rt_slot_at(rt, rank);
    uint64_t old = ft_latest_of(rt, rt->arena.ctl), tag = ft_latest_tag(rt, rt->self, rank),
             bytes[2] = {0}, all;
    rt->latest.lifted = 0;
    if (!FT_VERSION_ALONE(tag))
        return 1;
    const void *src[2] = {ft_ckpt_image_of(rt, rt->self, old, &bytes[0]),
                          ft_ckpt_image_of(rt, member, tag, &bytes[1])};
    if (!src[0] || !src[1])
        return 0;
    uint64_t version = next_version(rt);
    int slot = ft_ckpt_slot_for(rt, version);
    struct ft_recipe r = {0};
    for (int i = 0; i < 2; i++)
        add_block(&r, src[i], bytes[i], i == 0 ? 1 : coefficient(rt, rank));
    /* Room for a longer new image: ft_latest_take knows the bound. */
    if (!ft_ckpt_room_in(rt, slot, ft_max_u64(bytes[0], bytes[1]) + FT_ROOM_SLACK) ||
        ft_ckpt_combine(rt, slot, &r, FT_FP_DEMAND_LIFT, &all) != FT_SKIP_NONE ||
        !still_there(rt, member, tag, src[1]))
        return 0;
    rt->latest.lifted_rank = rank;
    rt->latest.lifted_image = tag;
    rt->latest.lifted = version;
    ft_ckpt_publish(rt, slot, version, all);
    return 1;
}

struct ft_answer ft_latest_lift(struct ft_rt *rt, int rank)
{
    return (struct ft_answer){.version = (uint64_t)lift(rt, rank)};
}

/* Collects the members' latest images except the own one: a checksum process those that the members
 * have named, a rank those that the lead's codeword holds. Returns 1 if all are there. Returns 0 if
 * that is perhaps not so yet: one is being overwritten, and the codeword will have the new one. */
static int latest_images(struct ft_rt *rt, int group, uint64_t version, uint64_t *tag,
                         const void **block, uint64_t *bytes)
{
    int pos = atomic_load(&rt->pos), nranks = rt->board->nranks, there;
    int lead = ft_rt_slot_at(rt, ft_latest_lead(rt, group, &there));
    for (int i = 0; i < ft_group_size(&rt->groups, group); i++) {
        int m = ft_group_member(&rt->groups, group, i);
        tag[i] = pos >= nranks ? atomic_load(&rt->latest_of[m]) : ft_latest_tag(rt, lead, m);
        block[i] = m == pos ? NULL : ft_ckpt_image_of(rt, ft_rt_slot_at(rt, m), tag[i], &bytes[i]);
        if (m == pos ? tag[i] != version : !block[i])
            return 0;
    }
    return 1;
}

enum ft_skip_reason ft_latest_rebuild(struct ft_rt *rt, int group, uint64_t version, int slot,
                                      uint64_t *bytes)
{
    const struct ft_groups *g = &rt->groups;
    int pos = atomic_load(&rt->pos), size = ft_group_size(g, group), nranks = rt->board->nranks,
        there;
    int lead = ft_latest_lead(rt, group, &there), at = ft_rt_slot_at(rt, lead);
    const struct ft_ctl *ctl = ft_tp_ctl(&rt->tp, at);
    uint64_t l = ft_latest_of(rt, ctl), tag[FT_ERASURE_MAX_MEMBERS] = {0},
             len[FT_ERASURE_MAX_BLOCKS];
    const void *block[FT_ERASURE_MAX_BLOCKS] = {NULL};
    struct ft_recipe r;
    if (pos < nranks && !there)
        return FT_SKIP_FAILURE;
    if (pos < nranks) /* of the codewords this one alone: the others may have other versions */
        block[ft_group_block_of_position(g, lead)] =
            ft_ckpt_image_of(rt, at, l, &len[ft_group_block_of_position(g, lead)]);
    if (!latest_images(rt, group, version, tag, block, len) ||
        !ft_ckpt_recipe(g, pos, block, len, &r))
        return FT_SKIP_FAILURE;
    enum ft_skip_reason bad = ft_ckpt_combine(rt, slot, &r, FT_FP_RESTORE_REBUILD, bytes);
    for (int i = 0; i < size; i++)
        if (block[i] &&
            !still_there(rt, ft_rt_slot_at(rt, ft_group_member(g, group, i)), tag[i], block[i]))
            return FT_SKIP_FAILURE;
    if (pos < nranks && ft_latest_of(rt, ctl) != l)
        /* tags may be partly of the old generation and partly of the new one */
        return FT_SKIP_FAILURE;
    for (int i = 0; bad == FT_SKIP_NONE && pos >= nranks && i < size; i++)
        atomic_store(&rt->arena.ctl->peer[ft_group_member(g, group, i)].covered[slot], tag[i]);
    rt->latest.alone_n = ft_max_u64(rt->latest.alone_n, FT_VERSION_NUMBER(version));
    return bad;
}
