/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pages.c - what memory costs that nobody has used before: processor time for each page of an
 * arena's file, in the ways in which it can be had; and for a copy into it, the first and the
 * second one. It is not an MPI program.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define BYTES ((size_t)128 << 20)
#define STEP ((size_t)4 << 20)
#define PAGES (BYTES / 4096)
enum way { TOUCH, PLACE, POPULATE, BOTH, WRITE, WAYS };
static const char *const name[WAYS] = {"touch", "fallocate", "populate", "fallocate+populate",
                                       "pwrite"};
static char from[STEP];

static double spent_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static double copy_us(char *to)
{
    double t0 = spent_us();
    for (size_t at = 0; at < BYTES; at += STEP)
        memcpy(to + at, from, STEP);
    return (spent_us() - t0) / PAGES;
}

/* Returns 0 if the kernel refuses. */
static int measure(enum way way)
{
    int fd = memfd_create("pages", MFD_CLOEXEC), ok = fd >= 0 && ftruncate(fd, BYTES) == 0;
    char *p = ok ? mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (p == MAP_FAILED)
        return 0;
    double t0 = spent_us();
    for (size_t at = 0; ok && at < BYTES; at += STEP) {
        if (way == PLACE || way == BOTH)
            ok = posix_fallocate(fd, (off_t)at, (off_t)STEP) == 0;
#ifdef MADV_POPULATE_WRITE
        if (way == POPULATE || way == BOTH)
            ok = ok && madvise(p + at, STEP, MADV_POPULATE_WRITE) == 0;
#endif
        if (way == WRITE)
            ok = pwrite(fd, from, STEP, (off_t)at) == (ssize_t)STEP;
    }
    double made = (spent_us() - t0) / PAGES, first = copy_us(p), second = copy_us(p);
    if (ok)
        printf("%-20s made %.2f, first copy %.2f, second copy %.2f us for 4 KiB\n", name[way], made,
               first, second);
    munmap(p, BYTES);
    close(fd);
    return ok;
}

int main(void)
{
    int ok = 1;
    memset(from, 1, sizeof from);
    for (int run = 0; run < 3; run++)
        for (int way = 0; way < WAYS; way++)
            ok &= measure((enum way)way);
    return !ok;
}
