/* SPDX-License-Identifier: BSD-3-Clause
 *
 * klog_figures - the figures of "Implementing Efficient Message Logging Protocols as MPI
 * Application Extensions" that need no clock, played in one process: who stands where after a loss
 * (4), the iterations that all ranks do together over the place of the crash (6), and the choice of
 * the hybrid (8). Prints tables for bench/plot.sh.
 */
#include "play.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 64, ITERATIONS = 75, VICTIM = 21 };

static struct play *make(enum play_kernel kernel, int ranks, int cp_int, int log_size)
{
    struct play *p = play_create(kernel, ranks, cp_int, log_size, ITERATIONS);
    if (!p) {
        fprintf(stderr, "klog_figures: no memory\n");
        exit(EXIT_FAILURE);
    }
    return p;
}

/* All ranks' iterations when VICTIM is lost after i iterations, before anybody begins the next. */
static unsigned long long work(enum play_kernel kernel, int cp_int, int log_size, int i,
                               enum klog_way *way)
{
    struct play *p = make(kernel, RANKS, cp_int, log_size);
    uint64_t seed = 1;

    play_lockstep(p, i);
    play_lose(p, VICTIM);
    *way = play_tell(p, NULL);
    if (!play_run(p, &seed, 0)) {
        fprintf(stderr, "klog_figures: the ranks stand still\n");
        exit(EXIT_FAILURE);
    }
    unsigned long long sum = play_work(p);
    play_destroy(p);
    return sum;
}

static void crashes(const char *name, enum play_kernel kernel, int cp_int)
{
    printf("# %s: %d ranks, %d iterations, a checkpoint every %d, rank %d is lost\n", name, RANKS,
           ITERATIONS, cp_int, VICTIM);
    printf("# hybrid: messages of the first %d iterations after a checkpoint are logged\n",
           cp_int / 2);
    printf("%-9s %9s %9s %9s  %s\n", "iteration", "local", "global", "hybrid", "its choice");
    for (int i = 0; i < cp_int; i++) {
        enum klog_way way;
        unsigned long long one = work(kernel, cp_int, cp_int, i, &way);
        unsigned long long all = work(kernel, cp_int, 0, i, &way);
        unsigned long long either = work(kernel, cp_int, cp_int / 2, i, &way);
        printf("%-9d %9llu %9llu %9llu  %s\n", i, one, all, either,
               way == KLOG_LOCAL ? "local" : "global");
    }
}

/* cg.16, a checkpoint every 10; iterations count from 1, as there. Rank 3 has not yet sent to its
 * transpose partner 12 when rank 2 is lost, after its own exchange with 8. */
static void wave(void)
{
    enum { LOST = 2, HELD = 3, TRANSPOSE = 2 };
    struct play *p = make(PLAY_CG, 16, 10, 10);
    int front[16];
    bool moved = true;

    play_lockstep(p, 12);
    for (bool lost = false; moved || !lost;) {
        if (!moved) {
            play_lose(p, LOST);
            lost = true;
        }
        moved = false;
        for (int r = 0; r < 16; r++) {
            if (r == LOST && (lost || play_at(p, r).phase > TRANSPOSE))
                continue;
            if (r == HELD && play_at(p, r).phase == TRANSPOSE)
                continue;
            moved = play_step(p, r) || moved;
        }
    }
    enum klog_way way = play_tell(p, front);
    printf("# cg.16, a checkpoint every 10 iterations; rank 2 is lost in iteration 13\n");
    printf("%-6s %s\n", "rank", "iteration");
    for (int r = 0; r < 16; r++)
        printf("%-6d %d\n", r, front[r] + 1);
    printf("# rollback: %s\n", way == KLOG_LOCAL ? "local" : "global");
    play_destroy(p);
}

int main(int argc, char **argv)
{
    const char *what = argc == 2 ? argv[1] : "";

    if (!strcmp(what, "wave"))
        wave();
    else if (!strcmp(what, "cg"))
        crashes("CG", PLAY_CG, 25);
    else if (!strcmp(what, "lulesh"))
        crashes("LULESH", PLAY_STENCIL, 20);
    else {
        fprintf(stderr, "usage: klog_figures wave|cg|lulesh\n");
        return 2;
    }
    return EXIT_SUCCESS;
}
