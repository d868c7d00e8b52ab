/* SPDX-License-Identifier: BSD-3-Clause
 *
 * combine.h - makes a block of a group, a codeword or a lost image, from the others (C5). Main
 * only, except where it says so.
 */
#ifndef FT_RUNTIME_COMBINE_H
#define FT_RUNTIME_COMBINE_H

#include "erasure/erasure.h"
#include "runtime/rt.h"

/* The blocks of a group (images and codewords) from which another block is made. All have the same
 * version (erasure.h). */
struct ft_recipe {
    int n;
    const void *src[FT_ERASURE_MAX_MEMBERS];
    size_t len[FT_ERASURE_MAX_MEMBERS], longest; /* longest: of all */
    uint8_t coef[FT_ERASURE_MAX_MEMBERS];
    /* what is on other nodes (far_image.h), in the order in which nodes pass it on */
    int nfar;
    uint64_t version;
    size_t far_longest;
    struct ft_term far[FT_ERASURE_MAX_MEMBERS];
};

/* A block that is being made in a slot, piece by piece. */
struct ft_making {
    struct ft_recipe r;
    char *out;
    uint64_t at; /* what is before is made */
    enum ft_failpoint_id half;
    int passed_half;
};

/* How position pos's block is a sum of the available blocks of its group (erasure.h); block[] of
 * others is NULL. Returns 0 if there are too few. */
int ft_ckpt_recipe(const struct ft_groups *g, int pos, const void *const *block,
                   const uint64_t *bytes, struct ft_recipe *out);
/* How position pos's block of this version is made of the blocks that are available now; only of
 * members' images if images_only. Returns 0 if there are too few. */
int ft_ckpt_find_recipe(struct ft_rt *rt, int pos, uint64_t version, int images_only,
                        struct ft_recipe *out);

/* Takes room in the slot for what m->r makes; 0: there is none. */
int ft_making_begin(struct ft_rt *rt, int slot, enum ft_failpoint_id half, struct ft_making *m);
/* Makes it up to this byte at least, or until *called_off (NULL: never). Passes the failpoint
 * `half` half-way. Any thread, one at a time, if nothing of it is on other nodes; then it cannot
 * fail. */
enum ft_skip_reason ft_making_go_on(struct ft_rt *rt, struct ft_making *m, uint64_t upto,
                                    const _Atomic int *called_off);
/* All of it, in the own slot. */
enum ft_skip_reason ft_ckpt_combine(struct ft_rt *rt, int slot, const struct ft_recipe *r,
                                    enum ft_failpoint_id half, uint64_t *bytes);
/* Makes the own block in the own slot, and reports why if it cannot. */
enum ft_skip_reason ft_ckpt_combine_own(struct ft_rt *rt, uint64_t version, int is_parity, int slot,
                                        uint64_t *bytes);

#endif
