/* SPDX-License-Identifier: BSD-3-Clause
 *
 * daly.c - Daly's interval and what it costs.
 */
#include "model/daly.h"

#include <math.h>

#include "base/base.h"

double ft_daly_interval(double delta, double mtbf)
{
    FT_ASSERT(delta >= 0 && isfinite(delta));
    FT_ASSERT(mtbf >= 0 && isfinite(mtbf));
    if (delta >= 2 * mtbf)
        return mtbf;
    double x = delta / (2 * mtbf);
    return sqrt(2 * delta * mtbf) * (1 + sqrt(x) / 3 + x / 9) - delta;
}

double ft_daly_lost_share(double delta, double mtbf, double restart, double interval)
{
    FT_ASSERT(delta >= 0 && restart >= 0);
    FT_ASSERT(mtbf > 0 && interval > 0);
    /* expm1: on a good machine (tau + delta)/M is small, and exp(...) - 1 would cancel. An overflow
     * means that all time is lost. */
    double wall_per_work = mtbf * exp(restart / mtbf) * expm1((interval + delta) / mtbf) / interval;
    return fmax(0, 1 - 1 / wall_per_work);
}
