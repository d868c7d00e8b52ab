/* SPDX-License-Identifier: BSD-3-Clause
 *
 * lock_words.h - the steps of rma/sync.c at the lock words of a part, in the name of a rank of
 * another node.
 */
#ifndef FT_GATE_LOCK_WORDS_H
#define FT_GATE_LOCK_WORDS_H

#include "rma/winpart.h"

/* 1: it has the lock. */
static inline int ft_lock_words_try(struct ft_win_locks *l, uint32_t rank, int exclusive,
                                    int long_ago)
{
    uint64_t me = (uint64_t)rank + 1, who = 0, was = 0;
    if (!atomic_compare_exchange_strong(&l->claimant, &who, me) && who != me) {
        if (long_ago) /* the claimant must be gone */
            atomic_compare_exchange_strong(&l->claimant, &who, 0);
        return 0;
    }
    if (exclusive) {
        if (!atomic_compare_exchange_strong(&l->excl, &was, me) && was != me)
            return 0;
        for (uint32_t r = 0; r < l->nshared; r++)
            if (r != rank && atomic_load_explicit(&l->shared[r], memory_order_seq_cst))
                return 0;
    } else {
        atomic_store_explicit(&l->shared[rank], 1, memory_order_seq_cst);
        uint64_t excl = atomic_load_explicit(&l->excl, memory_order_seq_cst);
        if (excl != 0 && excl != me) {
            atomic_store_explicit(&l->shared[rank], 0, memory_order_release);
            return 0;
        }
    }
    atomic_store_explicit(&l->claimant, 0, memory_order_relaxed);
    return 1;
}

static inline void ft_lock_words_free(struct ft_win_locks *l, uint32_t rank, int exclusive)
{
    uint64_t me = (uint64_t)rank + 1;
    if (exclusive)
        atomic_compare_exchange_strong(&l->excl, &me, 0);
    else
        atomic_store_explicit(&l->shared[rank], 0, memory_order_release);
}

#endif
