/* SPDX-License-Identifier: BSD-3-Clause
 *
 * model_plan.c - ftrma-model daly and plan: what protection costs.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "model/advice.h"
#include "model/daly.h"
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
        fail(
            "--delta must be above 0: a checkpoint that costs nothing may be taken at each chance");
    double tau = ft_daly_interval(opt.delta, opt.mtbf);
    if (opt.json) {
        printf("{\"delta\": %.9g, \"mtbf\": %.9g, \"restart\": %.9g, \"interval\": %.9g, "
               "\"lost_share\": %.9g}\n",
               opt.delta, opt.mtbf, restart, tau,
               ft_daly_lost_share(opt.delta, opt.mtbf, restart, tau));
        return;
    }
    printf("a checkpoint costs %g s, failures come every %g s, a restart takes %g s\n\n%12s %12s\n",
           opt.delta, opt.mtbf, restart, "interval, s", "time lost, %");
    static const double around[] = {0.5, 1, 2};
    for (size_t i = 0; i < FT_COUNTOF(around); i++)
        printf("%12.6g %12.4f%s\n", tau * around[i],
               100 * ft_daly_lost_share(opt.delta, opt.mtbf, restart, tau * around[i]),
               around[i] == 1 ? "  Daly's" : "");
}

/* --- plan --- */

static void print_json(const struct ft_machine *mc, const struct ft_advice *p)
{
    const struct ft_protection *s = &p->protection;
    printf("{\"checksums\": %d, \"parity\": %d, \"spares\": %d, \"aware\": ", s->checksums, s->m,
           p->spares);
    json_text(aware_name(mc, s->aware));
    printf(", \"group\": %d, \"mtbf\": %.9g, \"machine_time\": %.9g, \"wall\": %.9g, \"loss\": "
           "%.9g,\n   \"bytes_rank\": "
           "%.9g, "
           "\"bytes_checksum\": %.9g, \"bytes_total\": %.9g, \"pause\": %.9g, \"parity_time\": "
           "%.9g, \"interval\": %.9g, "
           "\"lost_share\": %.9g}",
           ft_protection_group_size(s), p->mtbf, p->machine, p->wall, p->lost_job, p->per_rank,
           p->per_checksum, p->in_total, p->pause, p->parity, p->interval, p->lost_share);
}

static void print_plan(const struct ft_machine *mc, const struct ft_advice *p, int chosen)
{
    const struct ft_protection *s = &p->protection;
    printf("%s %7d %3d %-10s %5d %6d %10.3e %10.4g %9.3g %9.3g %9.4g %8.3f %9.4f\n",
           chosen ? "*" : " ", s->checksums, s->m, aware_name(mc, s->aware),
           ft_protection_group_size(s), p->spares, p->lost_job, p->in_total / 0x1p30, p->pause,
           p->parity, p->interval, 100 * p->lost_share, p->machine);
}

/* 5400: "1.5 h" */
static const char *said(double seconds, char *out, size_t size)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"y", 31557600}, {"d", DAY}, {"h", 3600}, {"min", 60}, {"s", 0}};
    size_t i = 0;
    while (seconds < units[i].seconds)
        i++;
    snprintf(out, size, "%.4g %s", units[i].seconds > 0 ? seconds / units[i].seconds : seconds,
             units[i].unit);
    return out;
}

static void print_head(const struct ft_machine *mc, const struct ft_advice *best)
{
    char work[32], mtbf[32], rates[32];
    printf("%s: ", opt.domains);
    print_machine(mc);
    printf("\nN = %d of %.4g bytes each, a job of %s; one failure in %s", opt.ranks, opt.bytes,
           said(opt.work, work, sizeof work), said(best->mtbf, mtbf, sizeof mtbf));
    if (opt.mtbf < 0)
        printf(" by the machine's rates\n");
    else if (isfinite(best->mtbf_rates) && best->mtbf < 0.9 * best->mtbf_rates)
        printf("; the machine's rates explain one in %s,\nthe others are taken to be deaths of "
               "single processes\n",
               said(best->mtbf_rates, rates, sizeof rates));
    else
        printf(", as by the machine's rates\n");
    printf("The best for each m, and of these (*): least expected machine time, as a multiple of "
           "what the ranks' work "
           "takes alone.\n\n");
    printf("  %7s %3s %-10s %5s %6s %10s %10s %9s %9s %9s %8s %9s\n", "|CH|", "m", "aware of",
           "|G|", "spares", "lost job <", "all: GiB", "pause, s", "parity, s", "every, s",
           "lost, %", "machine");
}

/* A shell splits what --as-options prints into words, and no more. */
static int is_one_word(const char *text)
{
    for (; *text; text++)
        if (!isalnum((unsigned char)*text) && !strchr("/._-+=,:@%", *text))
            return 0;
    return 1;
}

static void print_options(const struct ft_machine *mc, const struct ft_advice *p)
{
    const struct ft_protection *s = &p->protection;
    const char *quote = is_one_word(opt.domains) ? "" : "'";
    printf("-n %d --checksums %d --parity %d --spares %d --domains %s%s%s --aware %s --mtbf %.0fs",
           s->ranks, s->checksums, s->m, p->spares, quote, opt.domains, quote,
           aware_name(mc, s->aware), fmax(1, p->mtbf));
}

static void print_all(const struct ft_machine *mc, const struct ft_advice *best,
                      const struct ft_advice *each)
{
    int some = 0;
    if (opt.json) {
        printf("{\"plan\":\n  ");
        print_json(mc, best);
        printf(",\n \"mtbf_rates\": ");
        json_number(best->mtbf_rates);
        printf(",\n \"best_by_parity\": [");
    } else {
        print_head(mc, best);
    }
    for (int m = 0; m < FT_MODEL_CODEWORDS; m++) {
        if (!each[m].protection.m)
            continue;
        if (opt.json) {
            printf("%s\n  ", some++ ? "," : "");
            print_json(mc, &each[m]);
        } else {
            print_plan(mc, &each[m], m + 1 == best->protection.m);
        }
    }
    if (opt.json) {
        printf("\n]}\n");
        return;
    }
    printf("\n  ftrun ");
    print_options(mc, best);
    int all = best->protection.ranks + best->protection.checksums + best->spares;
    if (all > FT_MAX_SLOTS)
        printf("\n\nThese are %d processes, and ftrun starts %d at the most: --processes %d plans "
               "for these.",
               all, FT_MAX_SLOTS, FT_MAX_SLOTS);
    printf("\n");
}

void command_plan(void)
{
    struct ft_domains d;
    struct ft_machine mc;
    struct ft_advice best, each[FT_MODEL_CODEWORDS];
    char why[512];
    if (opt.bytes < 0)
        fail("plan needs --bytes");
    if (opt.json && opt.as_options)
        fail("--json and --as-options exclude each other");
    if (opt.as_options && !is_one_word(opt.domains))
        fail("--as-options: a shell would split '%s' into words: rename the file", opt.domains);
    load_machine(&d, &mc);
    struct ft_advice_ask ask = {.ranks = opt.ranks,
                                .per_node = d.per_node,
                                .most_processes = opt.processes,
                                .bytes = opt.bytes,
                                .images = opt.images,
                                .mtbf = opt.mtbf,
                                .work = opt.work,
                                .loss = opt.loss,
                                .copy_rate = opt.copy_rate,
                                .parity_rate = opt.parity_rate,
                                .restart = opt.restart < 0 ? 1 : opt.restart,
                                .most_m = opt.parity};
    if (opt.as_options && (!ask.most_processes || ask.most_processes > FT_MAX_SLOTS))
        ask.most_processes = FT_MAX_SLOTS; /* ftrun must take them */
    if (ft_advice(&mc, &ask, &best, each, why, sizeof why))
        fail("%s", why);
    if (opt.as_options) {
        print_options(&mc, &best);
        printf("\n");
    } else {
        print_all(&mc, &best, each);
    }
    ft_domains_finish(&d);
}
