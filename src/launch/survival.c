/* SPDX-License-Identifier: BSD-3-Clause
 *
 * survival.c - says what a job on several nodes would not survive.
 */
#define _GNU_SOURCE 1 /* memmem */
#include "launch/survival.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/join.h"
#include "base/settings.h"

struct ft_spread_ask ft_survival_spread(const struct ft_options *o)
{
    return (struct ft_spread_ask){.nranks = o->nranks,
                                  .nchecksums = o->nchecksums,
                                  .parity = o->parity,
                                  .nspares = o->nspares,
                                  .nnodes = o->virtual_nodes};
}

/* ---- the program ---- */

/* As one of the words of a table of symbols. */
static int has_word(const char *data, size_t size, const char *word)
{
    return memmem(data, size, word, strlen(word) + 1) != NULL;
}

enum ft_survival_run ft_survival_run(const char *path)
{
    /* the names that C and Fortran compilers give them */
    static const char *const run[] = {"FTRMA_Run", "FTRMA_Run_local", "ftrma_run_", "ftrma_run"};
    static const char *const init[] = {"MPI_Init",      "MPI_Init_thread",
                                       "mpi_init_",     "mpi_init_thread_",
                                       "mpi_init_f08_", "mpi_init_thread_f08_"};
    enum ft_survival_run found = FT_RUN_UNKNOWN;
    struct stat sb;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &sb) != 0 || sb.st_size < 64) {
        if (fd >= 0)
            close(fd);
        return FT_RUN_UNKNOWN;
    }
    size_t size = (size_t)sb.st_size;
    char *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (data == MAP_FAILED)
        return FT_RUN_UNKNOWN;
    int is_elf = memcmp(data, "\177ELF", 4) == 0;
    if (is_elf && has_word(data, size, "FTT_Open"))
        found = FT_RUN_PLAIN;
    for (size_t i = 0; is_elf && i < FT_COUNTOF(init); i++)
        if (has_word(data, size, init[i]))
            found = FT_RUN_NOT;
    for (size_t i = 0; is_elf && i < FT_COUNTOF(run); i++)
        if (has_word(data, size, run[i]))
            found = FT_RUN_CALLED;
    munmap(data, size);
    return found;
}

/* ---- the line ---- */

/* "; '--checksums 4 --spares 8' would survive it" */
static void add_advice(struct ft_joined *t, const struct ft_spread_ask *a)
{
    struct ft_spread_ask e = *a;
    if (a->plain) {
        ft_join(t, "; '--spares %d' would survive it", ft_spread_spares(a));
        return;
    }
    if (ft_spread_enough(a, &e) != 1) {
        ft_join(t, "; with %d ranks on %d nodes no options change that", a->nranks, a->nnodes);
        return;
    }
    ft_join(t, "; '");
    if (e.parity != a->parity)
        ft_join(t, "--parity %d ", e.parity);
    if (e.nchecksums != a->nchecksums)
        ft_join(t, "--checksums %d ", e.nchecksums);
    ft_join(t, "--spares %d' would survive it", e.nspares);
}

static void add_gap(struct ft_joined *t, const struct ft_spread_ask *a,
                    const struct ft_spread_gap *gap)
{
    int all = gap->nodes == a->nnodes;
    char it[24] = "it";
    if (gap->why == FT_SPREAD_NO_CHECKSUMS) {
        ft_join(t, "the loss of any process or node would end this job: it takes no checkpoints");
        return;
    }
    if (all)
        snprintf(it, sizeof it, "node%d", gap->node);
    ft_join(t, "the loss of ");
    if (all)
        ft_join(t, "any node");
    else
        ft_join(t, "node%d", gap->node);
    if (!all && gap->nodes > 1)
        ft_join(t, ", or of %d other%s,", gap->nodes - 1, gap->nodes > 2 ? "s" : "");
    ft_join(t, " would end this job: ");
    if (gap->why == FT_SPREAD_GROUP)
        ft_join(t, "%s holds %d members of group %d, whose parity rebuilds %d", it, gap->members,
                gap->group, a->parity);
    else
        ft_join(t, "%s carries %d ranks%s, and the other nodes have %d spare%s", it, gap->carries,
                a->nchecksums ? " and checksum processes" : "", gap->spares,
                gap->spares == 1 ? "" : "s");
}

int ft_survival_line(const struct ft_spread_ask *a, enum ft_survival_run run, char *line,
                     size_t size)
{
    struct ft_joined t = {.out = line, .size = size};
    struct ft_spread_gap gap = {.why = FT_SPREAD_SURVIVED};
    struct ft_placement p = {0};
    if (run == FT_RUN_NOT) {
        ft_join(&t,
                "the loss of a node would end this job: the program does not call FTRMA_Run "
                "itself, and unless a library of its own does, there is no checkpoint to go back "
                "to");
        return 1;
    }
    if (a->nchecksums > 0 && ft_spread(a, &p) != FT_OK)
        return 0; /* whoever places the job says so */
    ft_spread_gap(a, a->nchecksums > 0 ? &p : NULL, &gap);
    ft_placement_finish(&p);
    if (gap.why == FT_SPREAD_SURVIVED)
        return 0;
    add_gap(&t, a, &gap);
    add_advice(&t, a);
    return 1;
}

void ft_survival_say(const struct ft_options *o, const char *path, void (*say)(const char *line))
{
    struct ft_spread_ask a = ft_survival_spread(o);
    enum ft_survival_run run = ft_survival_run(path);
    char line[600];
    if (a.nnodes < 2)
        return;
    a.plain = run == FT_RUN_PLAIN && a.nchecksums == 0 &&
              strcmp(ft_setting_str(FT_SET_RECOVERY), "program") == 0;
    if (ft_survival_line(&a, run, line, sizeof line))
        say(line);
    else if (o->verbose && a.plain)
        say("the loss of any one node is survived");
    else if (o->verbose)
        say(o->nhosts ? "the loss of any one node but ftrun's own is survived from the first "
                        "checkpoint, which FTRMA_Run begins with, until FTRMA_Run ends"
                      : "the loss of any one node is survived from the first checkpoint, which "
                        "FTRMA_Run begins with, until FTRMA_Run ends");
}
