/* SPDX-License-Identifier: BSD-3-Clause
 *
 * fds.c - see fds.h. Descriptors are closed by the system call, because the C library's close is
 * one of the functions that the library replaces.
 */
#define _GNU_SOURCE
#include "base/fds.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"

#define WORD 64
#define SPARES 2
#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE 2u /* Linux 5.9 */
#endif
#ifndef SYS_close_range
#define SYS_close_range 436 /* the same on all architectures */
#endif

static _Atomic uint64_t ours[FT_FD_MOST / WORD]; /* of the program's table */
static _Atomic int owner; /* the process that owns them: a forked child has a table of its own */
static _Atomic int table; /* the thread that owns the agent's table */
static _Atomic int spare[SPARES] = {-1, -1};
static _Atomic int spent; /* one of the reserved descriptors is released */
static __attribute__((tls_model("initial-exec"))) _Thread_local int in_own_table;

int ft_fd_in_own_table(void) { return in_own_table; }
int ft_fd_table(void) { return atomic_load(&table); }

static void note(int fd)
{
    if (fd < 0 || fd >= FT_FD_MOST)
        return;
    atomic_store(&owner, (int)getpid());
    atomic_fetch_or(&ours[fd / WORD], 1ull << fd % WORD);
}

int ft_fd_is_ours(int fd)
{
    return fd >= 0 && fd < FT_FD_MOST && (atomic_load(&ours[fd / WORD]) >> fd % WORD & 1) &&
           !in_own_table && atomic_load(&owner) == (int)getpid();
}

int ft_fd_next_of_ours(int from)
{
    for (int fd = from < 0 ? 0 : from; fd < FT_FD_MOST; fd++) {
        if (fd % WORD == 0 && atomic_load(&ours[fd / WORD]) == 0)
            fd += WORD - 1;
        else if (ft_fd_is_ours(fd))
            return fd;
    }
    return -1;
}

/* A number above the range that loops over all descriptors and select commonly reach, but not so
 * high that the table grows large: fork copies it. */
static int high_number(void)
{
    struct rlimit l;
    rlim_t most = getrlimit(RLIMIT_NOFILE, &l) == 0 ? l.rlim_cur : 1024;
    return most >= 4096 ? 2048 : (int)(most / 4 * 3);
}

int ft_fd_keep(int fd)
{
    if (fd < 0 || in_own_table)
        return fd;
    int e = errno, high = fcntl(fd, F_DUPFD_CLOEXEC, high_number());
    if (high >= 0) {
        syscall(SYS_close, fd);
        fd = high;
    }
    note(fd);
    errno = e;
    return fd;
}

static void drop(int fd)
{
    if (ft_fd_is_ours(fd)) /* first: another thread may get the number as soon as it is free */
        atomic_fetch_and(&ours[fd / WORD], ~(1ull << fd % WORD));
    if (fd >= 0)
        syscall(SYS_close, fd);
}

void ft_fd_close(int fd)
{
    int e = errno;
    drop(fd);
    if (fd >= 0 && ft_fd_short())
        ft_fd_put_by();
    errno = e;
}

struct ft_fd_file ft_fd_file_of(int fd)
{
    struct stat sb;
    if (fstat(fd, &sb) != 0)
        return (struct ft_fd_file){0, 0};
    return (struct ft_fd_file){(uint64_t)sb.st_dev, (uint64_t)sb.st_ino};
}

static int is_file(int fd, struct ft_fd_file file)
{
    struct ft_fd_file now = ft_fd_file_of(fd);
    return now.ino && now.dev == file.dev && now.ino == file.ino;
}

static int is_lost(int fd)
{
    static _Atomic int said;
    char text[240];
    int n = snprintf(
        text, sizeof text,
        "ftrma: process %d: the program has closed descriptor %d of ftrma by a direct system call, "
        "and ftrma cannot open it "
        "again. No more memory can be shared. Call close, close_range or closefrom instead\n",
        (int)getpid(), fd);
    if (!atomic_exchange(&said, 1)) /* the descriptor of ft_print is probably gone as well */
        (void)!write(STDERR_FILENO, text, ft_min_u64((uint64_t)n, sizeof text - 1));
    return 0;
}

int ft_fd_sound(int fd, struct ft_fd_file file)
{
    char path[64];
    int e = errno;
    if (is_file(fd, file))
        return 1;
    if (in_own_table || !ft_fd_table() || fcntl(fd, F_GETFD) != -1)
        return is_lost(fd);
    snprintf(path, sizeof path, "/proc/self/task/%d/fd/%d", ft_fd_table(), fd);
    int again = ft_fd_open(path, O_RDWR), sound = again >= 0 && is_file(again, file);
    /* Not dup2: [the program opens something under this number meanwhile]. */
    int there = sound && again != fd ? fcntl(again, F_DUPFD_CLOEXEC, fd) : again;
    if (again != there)
        ft_fd_close(again);
    if (there != fd) {
        ft_fd_close(there);
        sound = 0;
    }
    errno = e;
    return sound ? 1 : is_lost(fd);
}

void ft_fd_put_by(void)
{
    int missing = 0;
    for (int i = 0; i < SPARES && !in_own_table; i++) {
        if (!ft_fd_is_ours(atomic_load(&spare[i])))
            atomic_store(&spare[i], ft_fd_keep(open("/dev/null", O_RDONLY | O_CLOEXEC)));
        missing |= atomic_load(&spare[i]) < 0;
    }
    if (!in_own_table)
        atomic_store(&spent, missing);
}

int ft_fd_short(void) { return !in_own_table && atomic_load(&spent); }

int ft_fd_open(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC);
    for (int i = 0; fd < 0 && errno == EMFILE && !in_own_table && i < SPARES; i++) {
        int one = atomic_exchange(&spare[i], -1);
        if (one < 0)
            continue;
        atomic_store(&spent, 1);
        drop(one);
        fd = open(path, flags | O_CLOEXEC);
    }
    return fd;
}

int ft_fd_open_of(int pid, int task, int theirs, int flags, struct ft_fd_file expected)
{
    char path[80];
    snprintf(path, sizeof path, "/proc/%d/task/%d/fd/%d", pid, task ? task : pid, theirs);
    int fd = ft_fd_open(path, flags);
    struct ft_fd_file file = fd >= 0 ? ft_fd_file_of(fd) : expected;
    if (file.dev == expected.dev && file.ino == expected.ino)
        return fd;
    ft_fd_close(fd);
    errno = EBADF;
    return -1;
}

static int by_number(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* Closes all descriptors but `keep`, which ascend, in a table of the thread's own. Returns 0 if the
 * kernel refuses. */
static int close_others(const int *keep, int n, unsigned flags)
{
    unsigned from = 0;
    for (int i = 0; i <= n; i++) {
        unsigned to = i < n ? (unsigned)keep[i] : UINT_MAX;
        if (from < to || i == n) {
            if (syscall(SYS_close_range, from, i < n ? to - 1 : to, flags) != 0)
                return 0;
            flags = 0; /* the table is separate after the first call */
        }
        from = to + 1;
    }
    return 1;
}

static void close_one_by_one(const int *keep, int n)
{
    struct rlimit l;
    int most = getrlimit(RLIMIT_NOFILE, &l) == 0 && l.rlim_cur < 65536 ? (int)l.rlim_cur : 65536;
    for (int fd = 0, i = 0; fd < most; fd++) {
        if (i < n && keep[i] == fd)
            i++;
        else
            syscall(SYS_close, fd);
    }
}

int ft_fd_own_table(const int *keep, int n)
{
    int list[8] = {STDERR_FILENO}, count = 1;
    FT_ASSERT(n < (int)FT_COUNTOF(list) && !in_own_table);
    for (int i = 0; i < n; i++)
        if (keep[i] > STDERR_FILENO)
            list[count++] = keep[i];
    qsort(list, (size_t)count, sizeof list[0], by_number);
    int k = 1;
    for (int i = 1; i < count; i++) /* removes duplicates */
        if (list[i] != list[k - 1])
            list[k++] = list[i];
    int unshared = close_others(list, k, CLOSE_RANGE_UNSHARE);
    if (!unshared && unshare(CLONE_FILES) == 0) {
        close_one_by_one(list, k);
        unshared = 1;
    }
    if (!unshared)
        return 0;
    in_own_table = 1;
    for (int fd = 0;
         /* a file that is opened later must not become a standard stream */
         fd >= 0 && fd < STDERR_FILENO;)
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    atomic_store(&table, (int)syscall(SYS_gettid));
    return 1;
}
