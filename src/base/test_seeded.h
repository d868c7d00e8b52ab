/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_seeded.h - for tests that draw at random: the seed of this run, and a check that prints it.
 * Give `seeded` to cmocka as the group's setup.
 */
#ifndef FT_BASE_TEST_SEEDED_H
#define FT_BASE_TEST_SEEDED_H

#include "base/sim_seeds.h"

static uint64_t seed;

static int seeded(void **state)
{
    (void)state;
    seed = test_seed(1);
    return 0;
}

#define HOLDS(x)                                                                \
    do {                                                                        \
        if (!(x))                                                               \
            fail_msg("FTRMA_TEST_SEED=%llu: %s", (unsigned long long)seed, #x); \
    } while (0)

#endif
