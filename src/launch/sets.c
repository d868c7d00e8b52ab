/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sets.c - see sets.h.
 */
#define _GNU_SOURCE 1
#include "launch/sets.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/textfile.h"
#include "launch/children.h"
#include "save/saved.h"

#define TRIES 100 /* 5 s in all */

int ft_sets_hold(const char *dir, int alone, char *why, size_t size)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.4000s/lock", dir);
    int fd = open(path, alone ? O_RDWR | O_CREAT | O_CLOEXEC : O_RDONLY | O_CLOEXEC, 0666);
    if (fd < 0 && !alone &&
        (errno == ENOENT || errno == EACCES)) /* whoever copied the sets did not copy this file */
        fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        snprintf(why, size, "%s", strerror(errno));
        return -1;
    }
    /* The writer of an ftrun that was killed may hold it until it has ended, too. */
    for (int i = 0; i < TRIES; i++) {
        if (flock(fd, (alone ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0 ||
            errno != EWOULDBLOCK) /* some file systems have no locks */
            return fd;
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    }
    snprintf(why, size, "another job saves there%s", alone ? ", or reads from there" : "");
    close(fd);
    return -1;
}

/* The number in a name; part: the name is of no set. 0: it is another name. */
static unsigned number_of(const char *name, int *part)
{
    char *end;
    if (strncmp(name, "set.", 4) != 0 || name[4] < '1' || name[4] > '9')
        return 0;
    unsigned long n = strtoul(name + 4, &end, 10);
    *part = strcmp(end, ".part") == 0;
    return (*end == '\0' || *part) && n < UINT_MAX ? (unsigned)n : 0;
}

static int newest_first(const void *a, const void *b)
{
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
    return (x < y) - (x > y);
}

/* The numbers of sets (part 0) or of incomplete ones (1), the newest first. malloc'ed. */
static unsigned *list(const char *dir, int part, size_t *count)
{
    unsigned *all = NULL, n;
    size_t room = 0;
    int is_part;
    DIR *d = opendir(dir);
    *count = 0;
    for (struct dirent *e; d && (e = readdir(d));) {
        if ((n = number_of(e->d_name, &is_part)) == 0 || is_part != part)
            continue;
        if (*count == room) {
            room = room ? 2 * room : 16;
            all = ft_need(reallocarray(all, room, sizeof *all), room * sizeof *all,
                          "the list of sets");
        }
        all[(*count)++] = n;
    }
    if (d)
        closedir(d);
    if (*count)
        qsort(all, *count, sizeof *all, newest_first);
    return all;
}

unsigned ft_sets_newest(const char *dir)
{
    unsigned most = 0;
    for (int part = 0; part < 2; part++) {
        size_t n;
        unsigned *all = list(dir, part, &n);
        most = n && all[0] > most ? all[0] : most;
        free(all);
    }
    return most;
}

void ft_sets_tidy(const char *dir)
{
    char path[PATH_MAX + 40];
    size_t n;
    unsigned *all = list(dir, 1, &n);
    for (size_t i = 0; i < n; i++) {
        ft_set_path(dir, all[i], 1, path, sizeof path);
        ft_remove_tree(path);
    }
    free(all);
}

void ft_sets_drop_old(const char *dir, void (*removing)(void))
{
    char from[PATH_MAX + 40], to[PATH_MAX + 40];
    size_t n;
    unsigned *all = list(dir, 0, &n);
    for (size_t i = FT_SETS_KEPT; i < n; i++) {
        ft_set_path(dir, all[i], 0, from, sizeof from);
        ft_set_path(dir, all[i], 1, to, sizeof to);
        if (rename(from, to) != 0)
            continue; /* it still counts */
        if (removing)
            removing();
        ft_remove_tree(to);
    }
    free(all);
}

/* ---- choosing one ---- */

static enum ft_status read_manifest(const char *dir, unsigned number, struct ft_set *set, char *why,
                                    size_t size)
{
    char path[PATH_MAX + 40], *text = NULL;
    size_t len;
    set->number = number;
    ft_set_path(dir, number, 0, set->path, sizeof set->path);
    snprintf(path, sizeof path, "%s/" FT_MANIFEST_NAME, set->path);
    enum ft_status st = ft_read_text(path, &text, &len);
    if (st != FT_OK)
        snprintf(why, size, "its manifest cannot be read: %s", strerror(errno));
    else
        st = ft_manifest_parse(text, &set->m, why, size);
    free(text);
    return st;
}

static enum ft_status check_file(const struct ft_set *set, int rank, char *why, size_t size)
{
    char path[PATH_MAX + 40], name[32], what[300] = "";
    struct ft_saved_head h;
    struct ft_saved_tail t;
    const struct ft_manifest_rank *r = &set->m.rank[rank];
    ft_saved_name(rank, name, sizeof name);
    snprintf(path, sizeof path, "%s/%s", set->path, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        snprintf(why, size, "%s cannot be read: %s", name, strerror(errno));
        return FT_ERR_SYS;
    }
    enum ft_status st = ft_saved_begin(fd, &h, what, sizeof what);
    if (st == FT_OK && (h.job != set->m.job || h.version != set->m.version ||
                        h.rank != (uint32_t)rank || h.nranks != (uint32_t)set->m.nranks)) {
        snprintf(what, sizeof what, "it is rank %u of %u of checkpoint %llu%s: sets were mixed",
                 (unsigned)h.rank, (unsigned)h.nranks, (unsigned long long)h.version,
                 h.job != set->m.job ? " of another job" : "");
        st = FT_ERR_ARG;
    }
    if (st == FT_OK)
        st = ft_saved_image(fd, &h, NULL, &t, what, sizeof what);
    if (st == FT_OK && (h.bytes != r->bytes || t.low != r->sum[0] || t.high != r->sum[1])) {
        snprintf(what, sizeof what, "it is not the file that the manifest names");
        st = FT_ERR_ARG;
    }
    close(fd);
    if (st != FT_OK)
        snprintf(why, size, "%s: %s", name, what);
    return st;
}

enum ft_status ft_sets_choose(const char *dir, unsigned above, struct ft_set *out,
                              void (*say)(const char *line))
{
    char why[400], line[500];
    size_t n;
    unsigned *all = list(dir, 0, &n);
    enum ft_status st = FT_ERR_ARG;
    for (size_t i = 0; i < n && all[i] > above && st != FT_OK; i++) {
        st = read_manifest(dir, all[i], out, why, sizeof why);
        for (int r = 0; st == FT_OK && r < out->m.nranks; r++)
            st = check_file(out, r, why, sizeof why);
        if (st == FT_OK)
            break;
        snprintf(line, sizeof line, "set.%u is not used: %s", all[i], why);
        say(line);
        ft_manifest_finish(&out->m);
    }
    free(all);
    return st == FT_OK ? FT_OK : FT_ERR_ARG;
}

int ft_sets_ranks(const char *dir)
{
    struct ft_set set;
    char why[400];
    size_t n;
    unsigned *all = list(dir, 0, &n);
    int ranks = 0;
    for (size_t i = 0; i < n && ranks == 0; i++)
        if (read_manifest(dir, all[i], &set, why, sizeof why) == FT_OK) {
            ranks = set.m.nranks;
            ft_manifest_finish(&set.m);
        }
    free(all);
    return ranks;
}
