/* SPDX-License-Identifier: BSD-3-Clause
 *
 * combine.c - makes a block of a group, a codeword or a lost image, from the others (C5). The sum
 * of those on other nodes comes by pieces (C5b).
 */
#include "runtime/combine.h"
#include "base/near.h"
#include "runtime/ckpt.h"
#include "runtime/far_image.h"
#include "runtime/rt.h"
#include "transport/wait.h"

#define PIECE (256ull << 10)

int ft_ckpt_recipe(const struct ft_groups *g, int pos, const void *const *block,
                   const uint64_t *bytes, struct ft_recipe *out)
{
    int k = ft_group_size(g, ft_group_of_position(g, pos)), source[FT_ERASURE_MAX_MEMBERS];
    uint8_t have[FT_ERASURE_MAX_BLOCKS];
    for (int b = 0; b < k + g->parity; b++)
        have[b] = block[b] != NULL;
    if (ft_erasure_solve(k, g->parity, have, ft_group_block_of_position(g, pos), source,
                         out->coef) != FT_OK)
        return 0;
    out->n = k;
    out->nfar = 0;
    out->far_longest = out->longest = 0;
    for (int i = 0; i < k; i++) {
        out->src[i] = block[source[i]];
        out->len[i] = bytes[source[i]];
        out->longest =
            ft_max_u64(out->longest, out->len[i]); /* a codeword is as long as the longest image */
    }
    return 1;
}

/* How far node k is from this one, going round: the pieces of a sum pass the nodes in this order,
 * and come here after the last. So all links carry as much, whoever makes a codeword. */
static int way_to(const struct ft_rt *rt, int slot)
{
    const struct ft_board *b = rt->board;
    int n = b->nodes.n;
    return (ft_board_node_of(b, slot) - ft_board_node_of(b, rt->self) + n) % n;
}

/* Moves source i of the recipe to those on other nodes. */
static void move_far(struct ft_rt *rt, struct ft_recipe *r, int i, int slot)
{
    int at = r->nfar++;
    for (; at > 0 && way_to(rt, r->far[at - 1].slot) > way_to(rt, slot); at--)
        r->far[at] = r->far[at - 1];
    r->far[at] = (struct ft_term){.slot = (uint16_t)slot, .coef = r->coef[i]};
    r->far_longest = ft_max_u64(r->far_longest, r->len[i]);
}

/* Takes those that are not here out of the list of sources; `far_blocks` stand for them. */
static void split(struct ft_rt *rt, int group, const char *far_blocks, struct ft_recipe *r)
{
    const struct ft_groups *g = &rt->groups;
    int n = r->n, nblocks = ft_group_size(g, group) + g->parity;
    r->n = 0;
    for (int i = 0; i < n; i++) {
        int far = -1;
        for (int b = 0; b < nblocks; b++)
            if (r->src[i] == &far_blocks[b])
                far = b;
        if (far >= 0) {
            move_far(rt, r, i, ft_rt_slot_at(rt, ft_group_block(g, group, far)));
            continue;
        }
        r->src[r->n] = r->src[i];
        r->len[r->n] = r->len[i];
        r->coef[r->n++] = r->coef[i];
    }
}

/* All blocks are of one version, which nobody overwrites meanwhile: the group is frozen as long as
 * one of its blocks is missing (C5a). */
int ft_ckpt_find_recipe(struct ft_rt *rt, int pos, uint64_t version, int images_only,
                        struct ft_recipe *out)
{
    const struct ft_groups *g = &rt->groups;
    int group = ft_group_of_position(g, pos), k = ft_group_size(g, group);
    static const char far_blocks[FT_ERASURE_MAX_BLOCKS]; /* an address stands for each */
    const void *block[FT_ERASURE_MAX_BLOCKS] = {NULL};
    uint64_t bytes[FT_ERASURE_MAX_BLOCKS];
    for (int b = 0; b < k + g->parity; b++) {
        int p = ft_group_block(g, group, b), slot = ft_rt_slot_at(rt, p);
        if (p == pos || (images_only && b >= k))
            continue;
        if (ft_board_near(rt->board, slot))
            block[b] = ft_ckpt_image_of(rt, slot, version, &bytes[b]);
        else if ((bytes[b] = ft_ckpt_image_bytes(rt, slot, version)) > 0)
            block[b] = &far_blocks[b];
    }
    if (!ft_ckpt_recipe(g, pos, block, bytes, out))
        return 0;
    out->version = version;
    split(rt, group, far_blocks, out);
    return 1;
}

/* [at, at + bytes) of the block. */
static enum ft_skip_reason combine_piece(struct ft_rt *rt, char *out, const struct ft_recipe *r,
                                         uint64_t at, uint64_t bytes)
{
    const void *src[FT_ERASURE_MAX_MEMBERS];
    size_t len[FT_ERASURE_MAX_MEMBERS];
    uint8_t coef[FT_ERASURE_MAX_MEMBERS];
    int n = r->n;
    if (r->nfar == 0) {
        ft_erasure_combine(out + at, r->src, r->len, r->coef, r->n, at, bytes);
        return FT_SKIP_NONE;
    }
    for (int i = 0; i < n; i++) {
        len[i] = r->len[i] > at ? ft_min_u64(r->len[i] - at, bytes) : 0;
        src[i] = len[i] ? (const char *)r->src[i] + at : "";
        coef[i] = r->coef[i];
    }
    enum ft_skip_reason bad = ft_far_piece(rt, r, at, &src[n], &len[n]);
    if (bad != FT_SKIP_NONE)
        return bad;
    coef[n++] = 1;
    ft_erasure_combine(out + at, src, len, coef, n, 0, bytes);
    return FT_SKIP_NONE;
}

int ft_making_begin(struct ft_rt *rt, int slot, enum ft_failpoint_id half, struct ft_making *m)
{
    if (!ft_ckpt_room_in(rt, slot, m->r.longest))
        return 0;
    m->out = ft_arena_ptr(&rt->arena, rt->image_off[slot]);
    m->at = 0;
    m->half = half;
    m->passed_half = 0;
    return 1;
}

enum ft_skip_reason ft_making_go_on(struct ft_rt *rt, struct ft_making *m, uint64_t upto,
                                    const _Atomic int *called_off)
{
    enum ft_skip_reason bad = FT_SKIP_NONE;
    size_t piece = m->r.nfar ? FT_IMAGE_PIECE : PIECE, whole = m->r.longest;
    for (; m->at < ft_min_u64(upto, whole) && bad == FT_SKIP_NONE; m->at += piece) {
        if (called_off && atomic_load_explicit(called_off, memory_order_relaxed))
            break;
        if ((m->at >= whole / 2 || whole <= piece) && !m->passed_half) {
            m->passed_half = 1;
            if (FT_UNLIKELY(__atomic_load_n(&ft_fp_armed[m->half], __ATOMIC_RELAXED)))
                ft_fp_hit(m->half);
        }
        bad = combine_piece(rt, m->out, &m->r, m->at, ft_min_u64(whole - m->at, piece));
    }
    return bad;
}

enum ft_skip_reason ft_ckpt_combine(struct ft_rt *rt, int slot, const struct ft_recipe *r,
                                    enum ft_failpoint_id half, uint64_t *bytes)
{
    struct ft_making m = {.r = *r};
    if (!ft_making_begin(rt, slot, half, &m))
        return FT_SKIP_NOMEM;
    if (r->nfar)
        ft_far_begin(rt);
    enum ft_skip_reason bad = ft_making_go_on(rt, &m, r->longest, NULL);
    if (r->nfar)
        ft_far_end(rt);
    *bytes = r->longest;
    return bad;
}

/* Sources go away only by a failure, which brings a new generation. On several nodes it is done
 * again until then: what this node knows of the others' images comes on another way than the order
 * (C5b). */
enum ft_skip_reason ft_ckpt_combine_own(struct ft_rt *rt, uint64_t version, int is_parity, int slot,
                                        uint64_t *bytes)
{
    enum ft_failpoint_id half = is_parity ? FT_FP_CKPT_PARITY_PIECE : FT_FP_RESTORE_REBUILD;
    uint32_t generation = atomic_load(&rt->box.generation);
    enum ft_skip_reason bad = FT_SKIP_FAILURE;
    struct ft_waiter w = FT_WAITER_UNRUNG;
    struct ft_recipe r;
    do {
        if (ft_ckpt_find_recipe(rt, atomic_load(&rt->pos), version, is_parity, &r))
            bad = ft_ckpt_combine(rt, slot, &r, half, bytes);
        if (bad != FT_SKIP_FAILURE || rt->board->nodes.n == 0)
            break;
        ft_wait(&w);
    } while (atomic_load(&rt->box.generation) == generation);
    ft_wait_end(&w);
    return bad;
}
