/* SPDX-License-Identifier: BSD-3-Clause
 *
 * cost.c - the snapshot algorithms side by side.
 */
#include "cost.h"

#include "model_snapshot.h"

static int find(struct sim *s, struct sim_options o, int property, uint64_t max, struct sim_explored *x)
{
    o.property = property;
    sim_init(s, &sim_model_snapshot, &o);
    return !sim_explore(s, max, x);
}

int sim_table(const struct sim_options *o, uint64_t max)
{
    static struct sim s;
    static const int promised[FT_SNAP_ALGS][2] = {{0, 0}, {0, 1}, {1, 1}, {1, 1}, {1, 1}};
    static const char *const word[2][2] = {{"no", "?"}, {"yes, in part of the orders", "yes, in all"}};
    int as_promised = 1;
    printf("kept out in every order of %d processes, %d ops each, %d starting:\n", o->n, o->ops, o->starters);
    printf("%-10s %-28s %-28s %s\n", "", "overlap", "cross", "states");
    for (int alg = 0; alg < FT_SNAP_ALGS; alg++) {
        struct sim_options mine = *o;
        struct sim_explored x[2];
        int found[2];
        mine.alg = alg;
        found[0] = find(&s, mine, 2, max, &x[0]);
        found[1] = find(&s, mine, 1, max, &x[1]);
        for (int i = 0; i < 2; i++)
            as_promised &= found[i] == !promised[alg][i];
        printf("%-10s %-28s %-28s %" PRIu64 "\n", ft_snap_name((enum ft_snap_alg)alg),
               word[!found[0]][!found[0] && x[0].complete], word[!found[1]][!found[1] && x[1].complete],
               ft_max_u64(x[0].states, x[1].states));
    }
    sim_finish(&s);
    return as_promised;
}

int sim_cost(const struct sim_options *o)
{
    static struct sim s;
    static const int sizes[] = {2, 4, 8, 16, 32, 64, 128, 256, 512, 1000};
    int ok = 1;
    printf("one wave, %d ops a process, latencies of 1 to 1000 ticks by channel, seed %" PRIu64 "\n", o->ops, o->seed);
    printf("%6s %-8s %9s %9s %9s %6s %8s %8s %8s %8s %8s\n", "n", "", "n(n-1)", "messages", "more", "2g", "ticks", "overlap",
           "cross", "put off", "held");
    for (size_t i = 0; i < FT_COUNTOF(sizes) && sizes[i] <= o->n; i++)
        for (int alg = 0; alg < FT_SNAP_ALGS; alg++) {
            struct sim_options mine = *o;
            mine.n = sizes[i];
            mine.alg = alg;
            mine.timed = 1;
            mine.starters = 1;
            mine.crashes = 0;
            sim_init(&s, &sim_model_snapshot, &mine);
            int fine = sim_random(&s, UINT64_MAX);
            const struct snap_world *w = snap_world(&s);
            uint64_t all = 0, base = (uint64_t)mine.n * (uint64_t)(mine.n - 1);
            for (int k = FT_SNAP_FIRST; k <= FT_SNAP_FLUSHED; k++)
                all += w->markers[k];
            uint64_t formula = base + (alg == FT_SNAP_DOUBLE ? base : 0) + (alg == FT_SNAP_PARTIAL ? 2 * w->pairs : 0);
            printf("%6d %-8s %9" PRIu64 " %9" PRIu64 " %9" PRIu64 " %6" PRIu64 " %8" PRIu64 " %8" PRIu64 " %8" PRIu64 " %8" PRIu64
                   " %8" PRIu64 "%s%s\n",
                   mine.n, ft_snap_name((enum ft_snap_alg)alg), base, all, all - base, 2 * w->pairs, w->ended - w->began,
                   w->overlaps, w->crosses, w->put_off, w->held, all == formula ? "" : "  NOT THE FORMULA'S",
                   fine ? "" : s.wrong);
            ok &= fine && all == formula;
        }
    sim_finish(&s);
    return ok;
}
