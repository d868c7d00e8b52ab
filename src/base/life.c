/* SPDX-License-Identifier: BSD-3-Clause
 *
 * life.c - robust futexes without the C library, and which threads of a process still have memory.
 */
#define _GNU_SOURCE
#include "base/life.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct {
    struct robust_list_head head;
    struct robust_list entry; /* private: the kernel finds the word at futex_offset from here */
} held;

static void futex(ft_life *w, int op, uint32_t v) { syscall(SYS_futex, w, op, v, NULL, NULL, 0); }

void ft_life_hold(ft_life *w)
{
    held.entry.next = &held.head.list;
    held.head.list.next = &held.entry;
    held.head.futex_offset = (long)((intptr_t)w - (intptr_t)&held.entry);
    if (syscall(SYS_set_robust_list, &held.head, sizeof held.head) != 0)
        return; /* the word stays 0, and no watcher is told early */
    atomic_store(w, (uint32_t)syscall(SYS_gettid));
    futex(w, FUTEX_WAKE, INT_MAX);
}

int ft_life_over(ft_life *w) { return (atomic_load(w) & FUTEX_OWNER_DIED) != 0; }

int ft_life_await(ft_life *w)
{
    const struct timespec limit = {.tv_nsec = 200000000};
    for (int looks = 0;;) {
        uint32_t v = atomic_load(w);
        if (v & FUTEX_OWNER_DIED)
            return 1;
        if (v == 0 && looks++ > 0)
            return 0;
        if (v && !(v & FUTEX_WAITERS)) { /* without this bit the kernel wakes nobody */
            atomic_compare_exchange_strong(w, &v, v | FUTEX_WAITERS);
            continue;
        }
        syscall(SYS_futex, w, FUTEX_WAIT, v, v ? NULL : &limit, NULL, 0);
    }
}

void ft_life_close(ft_life *w)
{
    atomic_fetch_or(w, FUTEX_OWNER_DIED);
    futex(w, FUTEX_WAKE, INT_MAX);
}

/* A thread gives its memory back in the kernel, on its way out, and never returns to the program
 * from there. By then its link to the executed file, which belongs to the memory, is gone. Reading
 * this link does not keep the memory alive, as reading most other files of /proc would. [The
 * watcher would hold the last reference, and would have to free all of it.] */
static int has_memory(int tasks, const char *tid)
{
    char name[32], file[8];
    snprintf(name, sizeof name, "%s/exe", tid);
    return readlinkat(tasks, name, file, sizeof file) >= 0 || errno != ENOENT;
}

struct dir_entry { /* the kernel's struct linux_dirent64 */
    uint64_t ino;
    int64_t off;
    uint16_t bytes;
    uint8_t type;
    char name[];
};

/* Returns how many threads are listed if none of them has memory; -1: one has. */
static int64_t count_ended(int tasks)
{
    _Alignas(struct dir_entry) char room[2048];
    int64_t n = 0;
    long got;
    while ((got = syscall(SYS_getdents64, tasks, room, sizeof room)) > 0)
        for (long at = 0; at < got;) {
            const struct dir_entry *e = (const struct dir_entry *)(room + at);
            at += e->bytes;
            if (e->name[0] == '.')
                continue;
            if (has_memory(tasks, e->name))
                return -1;
            n++;
        }
    return got == 0 ? n : -1;
}

int ft_proc_threads_ended(int pid)
{
    char path[32];
    struct stat st;
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    int tasks = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (tasks < 0)
        return 0;
    /* A list that is read while threads vanish may lack living ones. But if it is as long as the
     * number of threads before, it lacks none. */
    int64_t all = fstat(tasks, &st) == 0 ? (int64_t)st.st_nlink - 2 : 0;
    int spent = all > 0 && count_ended(tasks) == all;
    close(tasks);
    return spent;
}
