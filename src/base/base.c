/* SPDX-License-Identifier: BSD-3-Clause
 *
 * base.c - assertions, status names, sets of slots.
 */
#include "base/base.h"

#include "base/reason.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int words_fd = STDERR_FILENO;
static struct stat words_file;

void ft_print_to(int fd)
{
    if (fstat(fd, &words_file) == 0)
        words_fd = fd;
}

int ft_print_where(void) { return words_fd; }

void ft_print(const char *text, size_t bytes)
{
    struct stat sb;
    if (words_fd != STDERR_FILENO && (fstat(words_fd, &sb) != 0 || sb.st_dev != words_file.st_dev ||
                                      sb.st_ino != words_file.st_ino))
        return;
    ssize_t written = write(words_fd, text, bytes);
    (void)written; /* nobody to tell */
}

_Noreturn void ft_assert_fail(const char *expr, const char *file, int line)
{
    char text[600];
    int n = snprintf(text, sizeof text,
                     "ftrma: internal error: assertion '%s' failed at %s:%d (pid %d). This is a "
                     "bug in ftrma: please report "
                     "it.\n",
                     expr, file, line, (int)getpid());
    ft_print(text, ft_min_u64((uint64_t)n, sizeof text - 1));
    abort();
}

void *ft_need(void *mem, size_t bytes, const char *what)
{
    if (FT_LIKELY(mem != NULL))
        return mem;
    ft_no_memory(what, bytes, NULL, 0);
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
