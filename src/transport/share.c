/* SPDX-License-Identifier: BSD-3-Clause
 *
 * share.c - turns private pages into shared ones in place, for as long as a window lies on them.
 *
 * A page is copied into the file, and then the file is mapped over it. Between the two nobody may
 * write to the page. So main runs on another stack meanwhile (the pages may be those of its own
 * stack), and the agent never touches the program's memory. The first and the last page may also
 * hold others' data, so they are handled one at a time, which keeps the moment short.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/filespace.h"
#include "transport/share.h"

struct job {
    ucontext_t back, there;
    struct ft_arena *arena;
    uint64_t begin, end;
    int (*move)(int fd, uint64_t begin, uint64_t end);
    int failed;
    char stack[128 << 10];
};
FT_STATIC(struct job, job);
#define job FT_MY(job)

/* How many ranges lie on each page: disjoint pieces in ascending order; adjacent pieces differ in
 * their count. */
struct cover {
    uint64_t begin, end, count;
};
FT_STATIC(struct cover *, covers);
FT_STATIC(size_t, ncovers);
FT_STATIC(size_t, cap_covers);
#define covers FT_MY(covers)
#define ncovers FT_MY(ncovers)
#define cap_covers FT_MY(cap_covers)

/* Uses the system call. Open MPI puts functions of its own into libc's, and these would run on the
 * heap that is just being moved. */
static void *map_pages(void *at, uint64_t bytes, int flags, int fd, uint64_t off)
{
    return (void *)syscall(SYS_mmap, at, bytes, PROT_READ | PROT_WRITE, flags, fd, off);
}

static int make_shared(int fd, uint64_t begin, uint64_t end)
{
    for (uint64_t at = begin; at < end;) {
        /* Not by pwrite: a sanitizer would object to the bytes between the program's variables. */
        ssize_t n = syscall(SYS_pwrite64, fd, at, end - at, FT_MIRROR + at);
        if (n <= 0 && errno != EINTR)
            return errno ? errno : EIO;
        at += n > 0 ? (uint64_t)n : 0;
    }
    void *p = map_pages((void *)(uintptr_t)begin, end - begin, MAP_SHARED | MAP_FIXED, fd,
                        FT_MIRROR + begin);
    return p == MAP_FAILED ? errno : 0;
}

/* Not by memcpy, for the same reason. */
__attribute__((no_sanitize("address"))) static void
copy_pages(uint64_t *to, const volatile uint64_t *from, uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes / sizeof *to; i++)
        to[i] = from[i];
}

/* File space whose pages nobody here maps. */
static int give_back(int fd, uint64_t begin, uint64_t end)
{
    return ft_file_give_back(fd, FT_MIRROR + begin, FT_MIRROR + end);
}

/* How much of this the program still has: 1 all, 0 nothing, -1 a part. */
static int is_mapped(uint64_t begin, uint64_t end)
{
    unsigned char there[64];
    uint64_t page = ft_page_bytes(), step = sizeof there * page;
    int has = 0, lacks = 0;
    for (uint64_t at = begin; at < end; at += step) {
        uint64_t stop = ft_min_u64(at + step, end);
        if (syscall(SYS_mincore, at, stop - at, there) == 0) {
            has = 1;
            continue;
        }
        lacks = 1;
        for (uint64_t one = at; one < stop; one += page)
            has |= syscall(SYS_mincore, one, page, there) == 0;
    }
    return has && lacks ? -1 : has;
}

/* Puts a private copy over these pages. */
static int copy_over(uint64_t begin, uint64_t end)
{
    void *p = map_pages(NULL, end - begin, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return errno;
    copy_pages(p, (const void *)(uintptr_t)begin, end - begin);
    if (syscall(SYS_mremap, p, end - begin, end - begin, MREMAP_MAYMOVE | MREMAP_FIXED, begin) ==
        -1) {
        int e = errno;
        syscall(SYS_munmap, p, end - begin);
        return e;
    }
    return 0;
}

/* Turns shared pages into private ones. [Memory is freed and grown while it is still a part of the
 * file.] */
static int make_private(int fd, uint64_t begin, uint64_t end)
{
    int mapped = is_mapped(begin, end); /* a program may have given it back before the window */
    if (mapped < 0)
        return EFAULT; /* the rest stays shared */
    int e = mapped ? copy_over(begin, end) : 0;
    return e ? e : give_back(fd, begin, end);
}

/* The same in a forked child, to which the file does not belong. */
static int make_private_here(uint64_t begin, uint64_t end)
{
    uint64_t page = ft_page_bytes(), half = begin + (end - begin) / page / 2 * page;
    int mapped = is_mapped(begin, end);
    if (mapped >= 0)
        return mapped ? copy_over(begin, end) : 0;
    int e = make_private_here(begin, half);
    return e ? e : make_private_here(half, end);
}

static void run_job(void)
{
    uint64_t page = ft_page_bytes(), begin = job.begin, end = job.end, inner_end = end - page;
    int fd = job.arena->fd;
    errno = 0;
    job.failed = job.move(fd, begin, begin + page);
    if (!job.failed && end - begin > 2 * page)
        job.failed = job.move(fd, begin + page, inner_end);
    if (!job.failed && end - begin > page)
        job.failed = job.move(fd, inner_end, end);
}

static enum ft_status on_own_stack(struct ft_arena *a, int (*how)(int, uint64_t, uint64_t),
                                   uint64_t begin, uint64_t end)
{
    job.arena = a;
    job.begin = begin;
    job.end = end;
    job.move = how;
    if (getcontext(&job.there) != 0)
        return FT_ERR_SYS;
    job.there.uc_stack.ss_sp = job.stack;
    job.there.uc_stack.ss_size = sizeof job.stack;
    job.there.uc_link = &job.back;
    makecontext(&job.there, run_job, 0);
    if (swapcontext(&job.back, &job.there) != 0)
        return FT_ERR_SYS;
    if (job.failed) {
        errno = job.failed;
        return job.failed == ENOMEM || job.failed == ENOSPC ? FT_ERR_NOMEM : FT_ERR_SYS;
    }
    return FT_OK;
}

/* fresh: none of these pages is shared. Else one may still be, from an unshare that found no
 * memory, and its contents are what the file has. */
static enum ft_status share_run(struct ft_arena *a, uint64_t begin, uint64_t end, int fresh)
{
    uint64_t got = ft_file_take(a->fd, FT_MIRROR + begin, FT_MIRROR + end);
    if (got < FT_MIRROR + end) {
        int e = errno;
        if (fresh)
            (void)ft_file_give_back(a->fd, FT_MIRROR + begin, got);
        errno = e;
        return e == ENOSPC || e == ENOMEM ? FT_ERR_NOMEM : FT_ERR_SYS;
    }
    return on_own_stack(a, make_shared, begin, end);
}

/* Goes through the process's mappings and shares those parts of [begin, end) that are not shared
 * yet. */
static enum ft_status share_rest(struct ft_arena *a, FILE *maps, const struct stat *self,
                                 uint64_t begin, uint64_t end)
{
    char line[512];
    uint64_t at = begin;
    while (at < end && fgets(line, sizeof line, maps)) {
        unsigned long long from, to, off, inode;
        if (sscanf(line, "%llx-%llx %*s %llx %*s %llu", &from, &to, &off, &inode) != 4 || to <= at)
            continue;
        if (from > at)
            break; /* a hole: there is no memory where the program says */
        uint64_t stop = ft_min_u64(to, end);
        int ours = inode == self->st_ino && off == FT_MIRROR + from;
        if (!ours) {
            enum ft_status st = share_run(a, at, stop, 1);
            if (st != FT_OK)
                return st;
        }
        at = stop;
    }
    return at >= end ? FT_OK : FT_ERR_RANGE;
}

/* Only the lowest mapping of a stack grows, and only if it is private. So this touches some pages
 * below all that may now be shared. */
static __attribute__((noinline)) void lengthen_stack(void)
{
    char room[64 << 10];
    *(volatile char *)room = 0;
}

/* Counts one range more, or one less, on [begin, end). Returns 0 if there is no memory. */
static int cover(uint64_t begin, uint64_t end, int more)
{
    if (ncovers + 3 > cap_covers / 2) { /* the new list is made in the second half */
        size_t cap = 4 * (ncovers + 8);
        struct cover *c = realloc(covers, cap * sizeof *c);
        if (!c)
            return 0;
        covers = c;
        cap_covers = cap;
    }
    struct cover *to = covers + cap_covers / 2;
    size_t n = 0, i = 0;
    for (uint64_t at = 0;
         at < UINT64_MAX;) { /* from one bound to the next, of the old ranges and the new one */
        while (i < ncovers && covers[i].end <= at)
            i++;
        int in = i < ncovers && covers[i].begin <= at;
        uint64_t next = i < ncovers ? in ? covers[i].end : covers[i].begin : UINT64_MAX,
                 count = in ? covers[i].count : 0;
        if (at < begin)
            next = ft_min_u64(next, begin);
        else if (at < end)
            next = ft_min_u64(next, end);
        if (at >= begin && at < end)
            count = more ? count + 1 : count - 1;
        if (count && n && to[n - 1].end == at && to[n - 1].count == count)
            to[n - 1].end = next;
        else if (count)
            to[n++] = (struct cover){at, next, count};
        at = next;
    }
    memmove(covers, to, n * sizeof *to);
    ncovers = n;
    return 1;
}

/* Finds the first page at or after `at` that no range covers (or `end`), and where the uncovered
 * stretch ends. */
static uint64_t uncovered(uint64_t at, uint64_t end, uint64_t *stop)
{
    size_t low = 0, high = ncovers;
    while (low < high) { /* the first range that ends after `at` */
        size_t mid = (low + high) / 2;
        if (covers[mid].end <= at)
            low = mid + 1;
        else
            high = mid;
    }
    while (low < ncovers && covers[low].begin <= at)
        at = covers[low++].end;
    *stop = low < ncovers ? ft_min_u64(covers[low].begin, end) : end;
    return at < end ? at : end;
}

FT_STATIC(__typeof__(char[1 << 16]), maps_buffer); /* so that reading the map does not change it */
#define maps_buffer FT_MY(maps_buffer)

static enum ft_status share_by_maps(struct ft_arena *a, uint64_t begin, uint64_t end)
{
    struct stat self;
    int fd = ft_fd_open("/proc/self/maps", O_RDONLY);
    FILE *maps = fd < 0 ? NULL : fdopen(fd, "r");
    if (!maps) {
        ft_fd_close(fd);
        return FT_ERR_SYS;
    }
    setvbuf(maps, maps_buffer, _IOFBF, sizeof maps_buffer);
    enum ft_status st = FT_ERR_SYS;
    if (fstat(a->fd, &self) == 0)
        st = share_rest(a, maps, &self, begin, end);
    fclose(maps);
    ft_fd_put_by();
    return st;
}

static enum ft_status share_uncovered(struct ft_arena *a, uint64_t begin, uint64_t end)
{
    enum ft_status st = FT_OK;
    uint64_t stop;
    for (uint64_t at = uncovered(begin, end, &stop); at < end && st == FT_OK;
         at = uncovered(stop, end, &stop)) {
        st = share_run(a, at, stop, 0);
        if (st == FT_ERR_SYS && errno == EFAULT)
            st = FT_ERR_RANGE;
    }
    return st;
}

int ft_share_any(void) { return ncovers > 0; }

int ft_share_copy(void)
{
    for (size_t i = 0, next; i < ncovers; i = next) {
        for (next = i + 1; next < ncovers && covers[next].begin == covers[next - 1].end;)
            next++;
        if (make_private_here(covers[i].begin, covers[next - 1].end) != 0)
            return 0;
    }
    ncovers = 0;
    return 1;
}

/* Blocks all signals while pages are moved. [A handler stores something on a page that has just
 * been copied, or forks while the list of ranges changes.] */
static void block_signals(sigset_t *was)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, was);
}

static void unblock_signals(const sigset_t *was) { pthread_sigmask(SIG_SETMASK, was, NULL); }

static enum ft_status share(struct ft_arena *a, void *addr, uint64_t bytes, uint64_t *off,
                            enum ft_status (*pages)(struct ft_arena *a, uint64_t begin,
                                                    uint64_t end))
{
    uint64_t p = (uint64_t)(uintptr_t)addr, base = (uint64_t)(uintptr_t)a->base;
    if (bytes == 0) {
        *off = FT_MIRROR + p;
        return FT_OK;
    }
    if (p >= base && p < base + a->bytes) { /* memory of MPI_Win_allocate is shared already */
        *off = p - base;
        return p + bytes <= base + a->bytes ? FT_OK : FT_ERR_RANGE;
    }
    if (!ft_fd_sound(a->fd, a->file)) {
        errno = EBADF;
        return FT_ERR_SYS;
    }
    lengthen_stack();
    uint64_t page = ft_page_bytes(), begin = p & ~(page - 1), end = ft_align_up(p + bytes, page);
    sigset_t was;
    block_signals(&was);
    enum ft_status st = pages(a, begin, end);
    if (st == FT_OK && !cover(begin, end, 1))
        st = FT_ERR_NOMEM;
    unblock_signals(&was);
    if (st == FT_OK)
        *off = FT_MIRROR + p;
    return st;
}

enum ft_status ft_arena_share(struct ft_arena *a, void *addr, uint64_t bytes, uint64_t *off)
{
    return share(a, addr, bytes, off, share_by_maps);
}

enum ft_status ft_arena_share_one_of_many(struct ft_arena *a, void *addr, uint64_t bytes,
                                          uint64_t *off)
{
    return share(a, addr, bytes, off, share_uncovered);
}

void ft_arena_unshare(struct ft_arena *a, void *addr, uint64_t bytes)
{
    uint64_t p = (uint64_t)(uintptr_t)addr, page = ft_page_bytes(), begin = p & ~(page - 1),
             end = ft_align_up(p + bytes, page), stop;
    uint64_t base = (uint64_t)(uintptr_t)a->base;
    if (bytes == 0 || (p >= base && p < base + a->bytes) || !ft_share_any())
        return; /* nothing was shared: an empty window, memory of the arena's, a forked child */
    sigset_t was;
    block_signals(&was);
    /* what stays shared, for want of memory or of the file, does no harm here */
    if (cover(begin, end, 0) && ft_fd_sound(a->fd, a->file))
        for (uint64_t at = uncovered(begin, end, &stop); at < end; at = uncovered(stop, end, &stop))
            (void)on_own_stack(a, make_private, at, stop);
    unblock_signals(&was);
}
