/* SPDX-License-Identifier: BSD-3-Clause
 *
 * descriptors.c - functions of libc that close descriptors pass over the library's own
 * (base/fds.h). To the program these look like numbers that are not open. Children that the program
 * forks have none, and may close anything.
 *
 * No allocation and no lock: signal handlers call these, and so does code before any constructor
 * has run.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"
#include "base/fds.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC 4u
#endif

static int (*_Atomic libc_close)(int fd); /* NULL: not looked up yet */

__attribute__((constructor(101))) static void look_up(void)
{
    void *f = dlsym(
        /* a cancelled thread may leave libc's close, but not the system call */
        RTLD_NEXT, "close");
    int (*next)(int);
    __builtin_memcpy(&next, &f, sizeof next);
    atomic_store(&libc_close, next);
}

static int not_open(void)
{
    errno = EBADF;
    return -1;
}

FT_EXPORT int close(int fd)
{
    int (*next)(int) = atomic_load(&libc_close);
    if (FT_UNLIKELY(ft_fd_is_ours(fd)))
        return not_open();
    return next ? next(fd) : (int)syscall(SYS_close, fd);
}

FT_EXPORT int dup2(int from, int to)
{
    if (ft_fd_is_ours(to))
        return not_open();
    if (from == to)
        return fcntl(from, F_GETFD) == -1 ? -1 : to;
    return (int)syscall(SYS_dup3, from, to, 0);
}

FT_EXPORT int dup3(int from, int to, int flags)
{
    return ft_fd_is_ours(to) ? not_open() : (int)syscall(SYS_dup3, from, to, flags);
}

FT_EXPORT int close_range(unsigned first, unsigned last, int flags)
{
    int next = first <= INT_MAX ? ft_fd_next_of_ours((int)first) : -1;
    if (first > last || next < 0 || (unsigned)next > last || (flags & CLOSE_RANGE_CLOEXEC))
        return (int)syscall(SYS_close_range, first, last, flags);
    for (uint64_t at = first; at <= last; at = (uint64_t)next + 1) {
        next = at <= INT_MAX ? ft_fd_next_of_ours((int)at) : -1;
        if (next < 0 || (unsigned)next > last)
            return (int)syscall(SYS_close_range, (unsigned)at, last, flags);
        if ((uint64_t)next > at &&
            syscall(SYS_close_range, (unsigned)at, (unsigned)next - 1, flags) != 0)
            return -1;
    }
    return 0;
}

FT_EXPORT void closefrom(int low)
{
    struct rlimit l;
    if (low < 0)
        low = 0;
    if (close_range((unsigned)low, UINT_MAX, 0) == 0)
        return;
    /* before Linux 5.9 */
    int most =
        getrlimit(RLIMIT_NOFILE, &l) == 0 && l.rlim_cur < INT_MAX ? (int)l.rlim_cur : FT_FD_MOST;
    for (int fd = low; fd < most; fd++)
        close(fd);
}
