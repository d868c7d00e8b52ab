/* SPDX-License-Identifier: BSD-3-Clause
 *
 * hash.h - hashes of messages and actions.
 */
#ifndef FT_ALOG_HASH_H
#define FT_ALOG_HASH_H

#include "base/base.h"
#include "base/engine.h"

/* 1 if FTRMA_CHECK=data. Where the records themselves died with their writer, a replay is compared
 * with a running hash (R0): of envelopes, or also of the data. */
extern FT_STATE(int, ft_check_data);
#define ft_check_data FT_MY(ft_check_data)
static inline uint64_t ft_hash_word(uint64_t h, uint64_t word)
{
    h = (h ^ word) * 0x9E3779B97F4A7C15ull;
    return h ^ h >> 29;
}
uint64_t ft_hash_bytes(uint64_t h, const void *data, size_t bytes);
/* The inverse: h is the hash of one word, or of at most 8 bytes, alone. */
uint64_t ft_unhash_word(uint64_t h);
void ft_unhash_bytes(uint64_t h, void *data, size_t bytes);

#endif
