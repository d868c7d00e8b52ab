/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mock_tsubame.h - for tests, the machine of the paper's 7.1 as numbers: 1408 nodes, 4 to a power
 * supply, 16 to an edge switch, 32 to a rack. tests/cli/model.sh compares it with the file that is
 * shipped.
 */
#ifndef FT_MODEL_MOCK_TSUBAME_H
#define FT_MODEL_MOCK_TSUBAME_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/prng.h"
#include "model/pcf.h"

enum { NO_TOPO, NODES, PSUS, SWITCHES, RACKS };

static const struct ft_machine tsubame = {4,
                                          {{"node", 1408, 0.30142e-2, 1.3567},
                                           {"psu", 352, 1.1836e-4, 1.4831},
                                           {"switch", 88, 3.9249e-5, 1.5902},
                                           {"rack", 44, 3.2257e-5, 1.5488}},
                                          0};

static inline struct ft_prng test_random(uint64_t otherwise)
{
    const char *seed = getenv("FTRMA_TEST_SEED");
    struct ft_prng random = {seed ? strtoull(seed, NULL, 0) : otherwise};
    printf("FTRMA_TEST_SEED=%" PRIu64 "\n", random.s);
    return random;
}

#endif
