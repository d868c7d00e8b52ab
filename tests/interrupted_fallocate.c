/* SPDX-License-Identifier: BSD-3-Clause
 *
 * interrupted_fallocate.c - fallocate as a kernel before mid-2024 has it on a tmpfs for a process
 * that gets many signals: EINTR, and nothing has been taken. Here no call for more than 8 MiB ever
 * succeeds, and each third shorter one does not.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>

#define NEVER (8l << 20)

int __real_fallocate(int fd, int mode, off_t from, off_t bytes);
int __wrap_fallocate(int fd, int mode, off_t from, off_t bytes);

int __wrap_fallocate(int fd, int mode, off_t from, off_t bytes)
{
    static _Atomic unsigned calls;
    if (mode == 0 && (bytes > NEVER || atomic_fetch_add(&calls, 1) % 3 == 2)) {
        errno = EINTR;
        return -1;
    }
    return __real_fallocate(fd, mode, from, bytes);
}
