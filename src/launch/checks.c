/* SPDX-License-Identifier: BSD-3-Clause
 *
 * checks.c - what ftrun checks before it starts anything.
 */
#define _GNU_SOURCE 1
#include "launch/checks.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/space.h"
#include "base/textfile.h"
#include "launch/nodes.h"
#include "launch/survival.h"
#include "transport/arena.h"

/* What one process's arena takes before the program has allocated anything. */
#define FT_ARENA_MIN_BYTES (4ull << 20)

__attribute__((format(printf, 2, 3))) static void tell(ft_check_say *say, const char *fmt, ...)
{
    char text[1000];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    say(text);
}

/* A mistyped name would otherwise be a setting without effect. */
void ft_check_names(ft_check_say *say)
{
    const char *name, *nearest;
    for (int k = 0; (k = ft_setting_unknown(k, &name, &nearest)) > 0;)
        tell(say, "warning: there is no setting %.*s%s%s%s ('ftrun --help-settings' lists all)",
            (int)strcspn(name, "="), name, nearest ? "; did you mean " : "",
            nearest ? nearest : "", nearest ? "?" : "");
}

/* Each arena must have room at least for its first contents; how much more the run takes only the
 * program knows. */
int ft_check_room(int nprocs, ft_check_say *say)
{
    const char *dir = ft_setting_str(FT_SET_ARENA_DIR);
    struct statvfs fs;
    if (strcmp(dir, "memfd") == 0)
        return 1;
    int probe = ft_arena_file(dir);
    if (probe < 0 || statvfs(dir, &fs) != 0) {
        tell(say, "FTRMA_ARENA_DIR=%s: %s. Name a directory on a tmpfs, or set FTRMA_ARENA_DIR=memfd",
            dir, strerror(errno));
        return 0;
    }
    close(probe);
    unsigned long long have = (unsigned long long)fs.f_bavail * fs.f_frsize,
                       need = FT_ARENA_MIN_BYTES * (unsigned)nprocs;
    if (have >= need)
        return 1;
    tell(say, "too little room in %s: %d process%s at least %llu bytes, and %llu are free. Enlarge it, "
        "or set FTRMA_ARENA_DIR=memfd",
        dir, nprocs, nprocs == 1 ? " needs" : "es need", need, have);
    return 0;
}

/* The processes inherit this limit. */
int ft_check_space(int nprocs, ft_check_say *say)
{
    int64_t arena;
    char why[400];
    if (ft_setting_i64(FT_SET_ARENA_SIZE, &arena, NULL, 0) != FT_OK ||
        ft_space_suffices(nprocs, (uint64_t)arena, why, sizeof why))
        return 1;
    tell(say, "%s", why);
    return 0;
}

/* As far as it is known before there are processes. If there are other hosts than this one, the
 * processes decide for themselves. */
int ft_check_layout(const struct ft_options *o, struct ft_job_layout *l, int *placed,
                    ft_check_say *say)
{
    struct ft_job_layout_ask ask = {.nranks = o->nranks,
                                    .nchecksums = o->nchecksums,
                                    .parity = o->parity,
                                    .nspares = o->nspares,
                                    .file = ft_setting_str(FT_SET_DOMAINS),
                                    .aware = ft_setting_str(FT_SET_AWARE),
                                    .nnodes = o->virtual_nodes};
    char here[HOST_NAME_MAX + 1] = "", why[600] = "out of memory", full[PATH_MAX], *text = NULL;
    const char *host[FT_MAX_SLOTS] = {0};
    if (*ask.file) {
        if (ft_read_text(ask.file, &text, &ask.len) != FT_OK || !realpath(ask.file, full)) {
            tell(say, "%s: cannot be read: %s", ask.file, strerror(errno));
            free(text);
            return 0;
        }
        ask.text = text;
    }
    if (!o->hosts && !o->hostfile && !o->host_args && !o->host_decides &&
        gethostname(here, sizeof here) == 0)
        for (int i = 0; i < FT_MAX_SLOTS; i++)
            host[i] = here;
    struct ft_spread_ask cut = ft_survival_spread(o);
    ft_nodes_hosts(&cut, o->nhosts ? o->host : NULL, host);
    enum ft_status st = ft_job_layout_make(&ask, host, l, why, sizeof why);
    *placed = st == FT_OK;
    if (st != FT_OK && st != FT_ERR_AGAIN)
        tell(say, "%s", why);
    if (text)
        setenv(ft_settings_table[FT_SET_DOMAINS].env, full,
               1); /* processes may be started elsewhere */
    free(text);
    return st == FT_OK || st == FT_ERR_AGAIN;
}
