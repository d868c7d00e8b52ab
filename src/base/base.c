/* SPDX-License-Identifier: BSD-3-Clause
 *
 * base.c - assertions, status names, sets of slots.
 */
#include "base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int words_fd = STDERR_FILENO;
static struct stat words_file;

void ft_words_to(int fd)
{
    if (fstat(fd, &words_file) == 0)
        words_fd = fd;
}

int ft_words_where(void) { return words_fd; }

void ft_words(const char *text, size_t bytes)
{
    struct stat sb;
    if (words_fd != STDERR_FILENO &&
        (fstat(words_fd, &sb) != 0 || sb.st_dev != words_file.st_dev || sb.st_ino != words_file.st_ino))
        return;
    ssize_t written = write(words_fd, text, bytes);
    (void)written; /* nobody to tell */
}

_Noreturn void ft_assert_fail(const char *expr, const char *file, int line)
{
    char text[600];
    int n = snprintf(text, sizeof text,
                     "ftrma: internal error: assertion '%s' failed at %s:%d (pid %d). This is a bug in ftrma: please report "
                     "it.\n",
                     expr, file, line, (int)getpid());
    ft_words(text, ft_min_u64((uint64_t)n, sizeof text - 1));
    abort();
}

void (*ft_give_up_by)(const char *why);

_Noreturn void ft_give_up(const char *why)
{
    char text[600];
    if (ft_give_up_by)
        ft_give_up_by(why);
    int n = snprintf(text, sizeof text, "ftrma: %s (pid %d)\n", why, (int)getpid());
    ft_words(text, ft_min_u64((uint64_t)n, sizeof text - 1));
    _exit(FT_EXIT_LOST);
}

void *ft_need(void *mem, size_t bytes, const char *what)
{
    char why[300];
    if (FT_LIKELY(mem != NULL))
        return mem;
    snprintf(why, sizeof why, "no memory for %s (%zu bytes): give the node more memory, or put fewer processes on it",
             what, bytes);
    ft_give_up(why);
}

uint64_t ft_page_bytes(void) { return (uint64_t)sysconf(_SC_PAGESIZE); }

const char *ft_status_string(enum ft_status st)
{
    switch (st) {
    case FT_OK: return "ok";
    case FT_ERR_NOMEM: return "no memory";
    case FT_ERR_ARG: return "bad argument";
    case FT_ERR_SYS: return "system call failed";
    case FT_ERR_DEAD: return "peer is dead";
    case FT_ERR_RANGE: return "out of range";
    case FT_ERR_TRUNC: return "truncated";
    case FT_ERR_AGAIN: return "not now";
    }
    return "unknown status";
}

int ft_bitset_count(const struct ft_bitset *b)
{
    int n = 0;
    for (size_t i = 0; i < FT_COUNTOF(b->w); i++)
        n += __builtin_popcountll(b->w[i]);
    return n;
}

int ft_bitset_equal(const struct ft_bitset *a, const struct ft_bitset *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

int ft_bitset_empty(const struct ft_bitset *b)
{
    for (size_t i = 0; i < FT_COUNTOF(b->w); i++)
        if (b->w[i])
            return 0;
    return 1;
}

int ft_bitset_merge(struct ft_bitset *a, const struct ft_bitset *b)
{
    uint64_t grew = 0;
    for (size_t i = 0; i < FT_COUNTOF(a->w); i++) {
        grew |= b->w[i] & ~a->w[i];
        a->w[i] |= b->w[i];
    }
    return grew != 0;
}
