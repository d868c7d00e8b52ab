/* SPDX-License-Identifier: BSD-3-Clause
 *
 * combine.c - makes a block of a group, a codeword or a lost image, from the others (C5), which lie
 * on this node or come from others by pieces.
 */
#include "base/near.h"
#include "runtime/far_image.h"
#include "runtime/rt.h"

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
    out->longest = 0;
    for (int i = 0; i < k; i++) {
        out->src[i] = block[source[i]];
        out->len[i] = bytes[source[i]];
        out->longest =
            ft_max_u64(out->longest, out->len[i]); /* a codeword is as long as the longest image */
    }
    return 1;
}

/* How position pos's block of this version is made of the available ones; only of members' images
 * if images_only. Returns 0 if too many are missing. All blocks are of one version, which nobody
 * overwrites meanwhile: the group is frozen as long as one of its blocks is missing (C5a). */
static int find_recipe(struct ft_rt *rt, int pos, uint64_t version, int images_only,
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
    for (int i = 0; i < k; i++)
        for (int b = 0; b < k + g->parity; b++)
            if (out->src[i] == &far_blocks[b]) {
                out->src[i] = NULL;
                out->slot[i] = ft_rt_slot_at(rt, ft_group_block(g, group, b));
                out->nfar++;
            }
    return 1;
}

/* [at, at + bytes) of the block. 0: a source has gone. */
static int combine_piece(struct ft_rt *rt, char *out, const struct ft_recipe *r, uint64_t at,
                         uint64_t bytes)
{
    const void *src[FT_ERASURE_MAX_MEMBERS];
    size_t len[FT_ERASURE_MAX_MEMBERS];
    if (r->nfar == 0) {
        ft_erasure_combine(out + at, r->src, r->len, r->coef, r->n, at, bytes);
        return 1;
    }
    if (!ft_far_pieces(rt, r, at, bytes, src, len))
        return 0;
    ft_erasure_combine(out + at, src, len, r->coef, r->n, 0, bytes);
    return 1;
}

enum ft_skip_reason ft_ckpt_combine(struct ft_rt *rt, int slot, const struct ft_recipe *r,
                                    enum ft_failpoint_id half, uint64_t *bytes)
{
    if (!ft_ckpt_room_in(rt, slot, r->longest))
        return FT_SKIP_NOMEM;
    char *out = ft_arena_ptr(&rt->arena, rt->image_off[slot]);
    int passed_half = 0, there = 1;
    size_t piece = r->nfar ? FT_IMAGE_PIECE : PIECE;
    for (size_t at = 0; at < r->longest && there; at += piece) {
        if ((at >= r->longest / 2 || r->longest <= piece) && !passed_half) {
            passed_half = 1;
            if (FT_UNLIKELY(__atomic_load_n(&ft_fp_armed[half], __ATOMIC_RELAXED)))
                ft_fp_hit(half);
        }
        there = combine_piece(rt, out, r, at, ft_min_u64(r->longest - at, piece));
    }
    if (r->nfar)
        ft_far_end(rt);
    *bytes = r->longest;
    return there ? FT_SKIP_NONE : FT_SKIP_FAILURE;
}

/* Sources go away only by a failure, which brings a new generation. */
enum ft_skip_reason ft_ckpt_combine_own(struct ft_rt *rt, uint64_t version, int is_parity, int slot,
                                        uint64_t *bytes)
{
    struct ft_recipe r;
    if (!find_recipe(rt, atomic_load(&rt->pos), version, is_parity, &r))
        return FT_SKIP_FAILURE;
    return ft_ckpt_combine(rt, slot, &r,
                           is_parity ? FT_FP_CKPT_PARITY_PIECE : FT_FP_RESTORE_REBUILD, bytes);
}
