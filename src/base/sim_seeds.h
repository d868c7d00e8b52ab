/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sim_seeds.h - for tests: the seed of a run, or a case with many seeds. FTRMA_TEST_SEED names one.
 */
#ifndef FT_BASE_SIM_SEEDS_H
#define FT_BASE_SIM_SEEDS_H

#include <stdlib.h>

#include "base/prng.h"

static inline uint64_t test_seed(uint64_t otherwise)
{
    const char *given = getenv("FTRMA_TEST_SEED");
    return given && *given ? strtoull(given, NULL, 0) : otherwise;
}

static inline void for_seeds(int count, void (*fn)(struct ft_prng *p, uint64_t seed))
{
    const char *given = getenv("FTRMA_TEST_SEED");
    uint64_t first = given && *given ? strtoull(given, NULL, 0) : 1;
    uint64_t last = given && *given ? first : (uint64_t)count;
    for (uint64_t seed = first; seed <= last; seed++)
        fn(&(struct ft_prng){seed}, seed);
}

#endif
