/* SPDX-License-Identifier: BSD-3-Clause
 *
 * slow_disk.c - to be preloaded to ftrun: each request of a set's writer to the disk takes
 * SLOW_DISK_MS longer. All other processes keep their speed. The file SLOW_DISK_LOG gets a byte for
 * each call, so a test can see that there were some.
 */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

static void wait_for_disk(void)
{
    char name[16] = "";
    const char *ms = getenv("SLOW_DISK_MS"), *log = getenv("SLOW_DISK_LOG");
    prctl(PR_GET_NAME, name, 0, 0, 0);
    if (strcmp(name, "ftrun-writer") != 0 || !ms || !log)
        return;
    int fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd >= 0 && REAL(write)(fd, "x", 1) == 1)
        close(fd);
    long n = atol(ms);
    nanosleep(&(struct timespec){.tv_sec = n / 1000, .tv_nsec = n % 1000 * 1000000}, NULL);
}

ssize_t write(int fd, const void *data, size_t bytes)
{
    wait_for_disk();
    return REAL(write)(fd, data, bytes);
}

int fsync(int fd)
{
    wait_for_disk();
    return REAL(fsync)(fd);
}

int sync_file_range(int fd, off_t from, off_t bytes, unsigned flags)
{
    wait_for_disk();
    return REAL(sync_file_range)(fd, from, bytes, flags);
}

int rename(const char *from, const char *to)
{
    wait_for_disk();
    return REAL(rename)(from, to);
}
