/* SPDX-License-Identifier: BSD-3-Clause
 *
 * model_plan.c - ftrma-model daly and plan: what protection costs.
 */
#include <stdio.h>

#include "base/base.h"
#include "model/daly.h"
#include "model/plan.h"
#include "tools/model.h"

/* --- daly --- */

void command_daly(void)
{
    double restart = opt.restart < 0 ? 0 : opt.restart;
    if (opt.delta < 0 || opt.mtbf < 0)
        fail("daly needs --delta and --mtbf");
    if (opt.mtbf == 0)
        fail("--mtbf must be above 0");
    if (opt.delta == 0)
        fail("--delta must be above 0: a checkpoint that costs nothing may be taken at each chance");
    double tau = ft_daly_interval(opt.delta, opt.mtbf);
    if (opt.json) {
        printf("{\"delta\": %.9g, \"mtbf\": %.9g, \"restart\": %.9g, \"interval\": %.9g, \"lost_share\": %.9g}\n", opt.delta,
               opt.mtbf, restart, tau, ft_daly_lost_share(opt.delta, opt.mtbf, restart, tau));
        return;
    }
    printf("a checkpoint costs %g s, failures come every %g s, a restart takes %g s\n\n%12s %12s\n", opt.delta, opt.mtbf, restart,
           "interval, s", "time lost, %");
    static const double around[] = {0.5, 1, 2};
    for (size_t i = 0; i < FT_COUNTOF(around); i++)
        printf("%12.6g %12.4f%s\n", tau * around[i], 100 * ft_daly_lost_share(opt.delta, opt.mtbf, restart, tau * around[i]),
               around[i] == 1 ? "  Daly's" : "");
}

/* --- plan --- */

static void print_plan(const struct ft_machine *mc, const struct ft_plan *p, int chosen)
{
    const struct ft_protection *s = &p->protection;
    if (opt.json) {
        printf("{\"checksums\": %d, \"parity\": %d, \"aware\": ", s->checksums, s->m);
        json_text(aware_name(mc, s->aware));
        printf(", \"group\": %d, \"loss\": %.9g, \"bytes_rank\": %.9g, \"bytes_checksum\": %.9g, \"bytes_total\": %.9g, "
               "\"pause\": %.9g, "
               "\"parity_time\": %.9g, \"interval\": %.9g, \"lost_share\": %.9g}",
               ft_protection_group_size(s), p->lost_job, p->per_rank, p->per_checksum, p->in_total, p->pause, p->parity,
               p->interval, p->lost_share);
        return;
    }
    printf("%s %7d %3d %-10s %5d %10.3e %11.4g %11.4g %9.3g %9.3g %9.4g %8.4f\n", chosen ? "*" : " ", s->checksums, s->m,
           aware_name(mc, s->aware), ft_protection_group_size(s), p->lost_job, p->per_checksum * s->checksums / 0x1p30,
           p->in_total / 0x1p30, p->pause, p->parity, p->interval, 100 * p->lost_share);
}

void command_plan(void)
{
    struct ft_domains d;
    struct ft_machine mc;
    struct ft_plan best, each[FT_MODEL_CODEWORDS];
    char why[512];
    if (opt.mtbf < 0 || opt.bytes < 0 || opt.loss < 0)
        fail("plan needs --mtbf, --bytes and --loss");
    struct ft_plan_ask ask = {opt.ranks,        0,
                              opt.bytes,        opt.images,
                              opt.mtbf,         opt.loss,
                              opt.within / DAY, opt.copy_rate,
                              opt.parity_rate,  opt.restart < 0 ? 1 : opt.restart,
                              opt.parity};
    load_machine(&d, &mc);
    ask.per_node = d.per_node;
    if (ft_plan(&mc, &ask, &best, each, why, sizeof why))
        fail("%s", why);
    if (opt.json) {
        printf("{\"plan\": ");
        print_plan(&mc, &best, 1);
        printf(",\n \"cheapest_by_parity\": [");
    } else {
        printf("%s: ", opt.domains);
        print_machine(&mc);
        printf("\nN = %d of %.4g bytes; lost within %g days with %g at the most; failures every %g s\n", ask.ranks, ask.bytes,
               ask.days, ask.loss, ask.mtbf);
        printf("The cheapest for each m, and of these (*): fewest checksum processes, then lowest m, then lowest level.\n\n");
        printf("  %7s %3s %-10s %5s %10s %11s %11s %9s %9s %9s %8s\n", "|CH|", "m", "aware of", "|G|", "lost job <", "|CH|: GiB",
               "all: GiB", "pause, s", "parity, s", "every, s", "time, %");
    }
    for (int m = 0, some = 0; m < FT_MODEL_CODEWORDS; m++)
        if (each[m].protection.m) {
            fputs(!opt.json ? "" : some ? ",\n  " : "\n  ", stdout);
            print_plan(&mc, &each[m], each[m].protection.m == best.protection.m);
            some = 1;
        }
    if (opt.json)
        printf("\n]}\n");
    else
        printf("\n  ftrun --checksums %d --parity %d --domains %s --aware %s\n", best.protection.checksums, best.protection.m,
               opt.domains, aware_name(&mc, best.protection.aware));
    ft_domains_finish(&d);
}
