/* SPDX-License-Identifier: BSD-3-Clause
 *
 * arena.c - creates arenas and manages their heap by boundary tags and first fit. Blocks are few
 * and large (chunks, windows, images), so a list is fast enough, and its structure can be checked.
 */
#define _GNU_SOURCE
#include "transport/seen.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/filespace.h"

/* The header in front of each block. */
struct block {
    uint64_t bytes;      /* including this header */
    uint64_t prev_bytes; /* of the block before it; 0 for the first */
    uint64_t next, prev; /* free list, offsets; valid while free */
    uint32_t is_free, magic;
    uint64_t pad[3];
};
_Static_assert(sizeof(struct block) == FT_CACHE_LINE, "a block header is one line");
#define BLOCK_MAGIC 0x626c6f63u
#define MIN_SPLIT 256ull
/* File space is taken in steps: large enough for many small blocks, small enough not to delay an
 * agent. */
#define STEP (1ull << 20)
/* The largest step, with huge pages. An arena that has grown large takes an eighth of its size. */
#define STEP_MOST (16ull << 20)
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* Linux 6.1 */
#endif
#define HUGE_PAGE (2ull << 20)
#define HUGE_LEAST (8 * HUGE_PAGE) /* for less than this the search for huge pages does not pay */
#define HUGE_PAUSE (64ull << 20)
/* Fewer bytes of small pages than this do not show reliably what small pages cost. */
#define TIMED_FROM (256ull << 10)

static struct block *at(const struct ft_arena *a, uint64_t off)
{
    struct block *b = (struct block *)(a->base + off);
    FT_ASSERT(b->magic == BLOCK_MAGIC);
    return b;
}

void *ft_arena_map_hint(int index, uint64_t bytes)
{
#if defined(__SANITIZE_THREAD__)
    (void)index, (void)bytes;
    return NULL;
#else
    return (void *)(0x200000000000ull + (uint64_t)index * bytes);
#endif
}

int ft_arena_file(const char *dir)
{
    if (strcmp(dir, "memfd") == 0)
        return memfd_create("ftrma-arena", MFD_CLOEXEC);
    return open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

int ft_arena_homelogs(struct ft_board *b, const char *dir)
{
    int fd = ft_fd_keep(ft_arena_file(dir));
    if (fd >= 0)
        ft_homelogs_made(b, fd);
    return fd >= 0;
}

static uint64_t cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

/* Gives up to `bytes` of what was set aside back to the file system; any process may take them
 * first. Returns 0 if nothing is set aside. */
static int take_aside(struct ft_arena *a, uint64_t bytes)
{
    uint64_t have = atomic_load(&a->aside), n;
    do {
        n = ft_min_u64(have, ft_align_up(bytes, ft_page_bytes()));
        if (n == 0)
            return 0;
    } while (!atomic_compare_exchange_weak(&a->aside, &have, have - n));
    return ft_file_give_back(a->fd, FT_ASIDE + have - n, FT_ASIDE + have) == 0;
}

int ft_arena_set_aside(struct ft_arena *a, uint64_t bytes)
{
    uint64_t have = atomic_load(&a->aside), all = ft_align_up(bytes, ft_page_bytes());
    if (all < have)
        return take_aside(a, have - all);
    uint64_t got = ft_file_take(a->fd, FT_ASIDE + have, FT_ASIDE + all);
    if (got < FT_ASIDE + all) {
        (void)ft_file_give_back(a->fd, FT_ASIDE + have, got);
        return 0;
    }
    atomic_store(&a->aside, all);
    return 1;
}

static int is_full(void) { return errno == ENOSPC || errno == ENOMEM; }

/* Takes file space for [from, to). Returns 0 if there is no room; then a part of the space may have
 * been taken. */
static int fill(struct ft_arena *a, struct ft_fill *f, uint64_t from, uint64_t to)
{
    uint64_t t0 = cpu_ns(), bytes = to - from;
    for (uint64_t got = from; (got = ft_file_take(a->fd, got, to)) < to;)
        if (!is_full() || !take_aside(a, to - got))
            return 0;
#ifdef MADV_POPULATE_WRITE
    if (from < to)
        (void)madvise(a->base + from, to - from,
                      /* saves a fault for each page; if the kernel refuses, nothing is lost */
                      MADV_POPULATE_WRITE);
#endif
    if (from < to && bytes >= TIMED_FROM)
        f->small_ns = (cpu_ns() - t0) * HUGE_PAGE / bytes;
    return 1;
}

/* Does the same with huge pages, from a multiple of their size on, for as long as they come
 * quickly. Returns how far it got. The first touch of memory costs a microsecond or two for each
 * small page; huge pages cost a tenth of that. But a machine may have to search long for them, and
 * a virtual machine has to get unused memory from its host page by page. So this tries one huge
 * page, then twice as many each time. If they are refused, or slower than small pages were here, it
 * tries none for a while. */
static uint64_t fill_huge(struct ft_arena *a, struct ft_fill *f, uint64_t at, uint64_t to)
{
    for (uint64_t n = 1; at + HUGE_PAGE <= to && at >= f->huge_from; n *= 2) {
        uint64_t bytes = ft_min_u64(n * HUGE_PAGE, (to - at) & ~(HUGE_PAGE - 1)), t0 = cpu_ns();
        for (uint64_t o = 0; o < bytes;
             /* touch one small page of each: the kernel refuses to collapse holes only */
             o += HUGE_PAGE)
            if (ft_file_take(a->fd, at + o, at + o + ft_page_bytes()) < at + o + ft_page_bytes())
                return at;
        if (madvise(a->base + at, bytes, MADV_COLLAPSE) != 0) {
            f->huge_from = at + HUGE_PAUSE;
            return at;
        }
        if (ft_file_take(a->fd, at, at + bytes) <
            at + bytes) /* takes no memory; never a SIGBUS, whatever the kernel did */
            return at;
        at += bytes;
        if (cpu_ns() - t0 > bytes / HUGE_PAGE * f->small_ns)
            f->huge_from = at + HUGE_PAUSE;
    }
    return at;
}

int ft_arena_make_real(struct ft_arena *a, uint64_t from, uint64_t to)
{
    struct ft_fill *f = &a->seen_fill;
    uint64_t small = to - from >= HUGE_LEAST ? ft_min_u64(ft_align_up(from, HUGE_PAGE), to) : to;
    return fill(a, f, from, small) && fill(a, f, fill_huge(a, f, small, to), to);
}

/* Takes file space up to `end`. It grows in steps, so that not every small block enters the kernel.
 * */
static int back(struct ft_arena *a, uint64_t end)
{
    if (end <= a->backed)
        return 1;
    uint64_t most = ft_min_u64(a->seen.begin, a->bytes);
    if (end > most || !ft_fd_sound(a->fd, a->file))
        return 0;
    struct ft_fill *f = &a->heap_fill;
    uint64_t page = ft_page_bytes(), least = ft_align_up(end, page);
    uint64_t huge = end >= HUGE_LEAST && a->backed >= f->huge_from;
    uint64_t step = huge ? ft_min_u64(a->backed / 8, STEP_MOST) : STEP;
    uint64_t want = ft_align_up(ft_max_u64(end, a->backed + step), huge ? HUGE_PAGE : page);
    for (want = ft_min_u64(want, most);; want = least) {
        uint64_t first = huge ? ft_min_u64(ft_align_up(a->backed, HUGE_PAGE), want) : want;
        if (fill(a, f, a->backed, first) && fill(a, f, fill_huge(a, f, first, want), want))
            break;
        (void)ft_file_give_back(a->fd, a->backed, want); /* nothing lies there yet */
        if (want == least)
            return 0;
    }
    a->backed = want;
    return 1;
}

enum ft_status ft_arena_create(struct ft_arena *a, int slot, int nslots, uint64_t bytes,
                               const char *dir)
{
    memset(a, 0, sizeof *a);
    FT_ASSERT(nslots > 0 && slot >= 0 && slot < nslots);
    a->bytes = bytes;
    a->fd = ft_fd_keep(ft_arena_file(dir));
    if (a->fd < 0)
        return FT_ERR_SYS;
    a->file = ft_fd_file_of(a->fd);
    if (ftruncate(a->fd, (off_t)(FT_MIRROR * 2)) != 0)
        goto close_fd;
    a->base = mmap(ft_arena_map_hint(0, bytes), bytes, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_NORESERVE, a->fd, 0);
    if (a->base == MAP_FAILED)
        goto close_fd;
    (void)madvise(a->base, bytes,
                  /* a core dump would walk through all of these addresses, which takes minutes */
                  MADV_DONTDUMP);
    pthread_mutex_init(&a->lock, NULL);
    ft_arena_divide(a);
    a->heap_begin = ft_align_up(
        sizeof(struct ft_ctl) + (uint64_t)nslots * sizeof(struct ft_ctl_peer), ft_page_bytes());
    a->heap_top = a->heap_begin;
    if (!back(a, a->heap_begin)) {
        munmap(a->base, bytes);
        ft_fd_close(a->fd);
        return FT_ERR_NOMEM;
    }
    a->ctl = (struct ft_ctl *)a->base;
    a->ctl->slot = (uint32_t)slot;
    a->ctl->nslots = (uint32_t)nslots;
    a->ctl->arena_bytes = bytes;
    a->ctl->magic = FT_CTL_MAGIC;
    return FT_OK;
close_fd:;
    int e = errno;
    ft_fd_close(a->fd);
    errno = e;
    return FT_ERR_SYS;
}

void *ft_arena_reserve(void *hint, uint64_t bytes)
{
    void *p = mmap(hint, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

void ft_arena_unreserve(void *p, uint64_t bytes) { munmap(p, bytes); }

void ft_arena_destroy(struct ft_arena *a)
{
    ft_area_finish(&a->seen);
    munmap(a->base, a->bytes);
    ft_fd_close(a->fd);
    pthread_mutex_destroy(&a->lock);
}

void ft_arena_empty(struct ft_arena *a)
{
    (void)ft_file_give_back(a->fd, a->heap_begin, a->backed);
}

uint64_t ft_arena_left(const struct ft_arena *a)
{
    struct statvfs fs;
    return fstatvfs(a->fd, &fs) == 0 && fs.f_blocks > 0 ? (uint64_t)fs.f_bavail * fs.f_frsize
                                                        : UINT64_MAX;
}

uint64_t ft_arena_capacity(const char *dir)
{
    struct statvfs fs;
    if (strcmp(dir, "memfd") != 0 && statvfs(dir, &fs) == 0 && fs.f_blocks > 0)
        return (uint64_t)fs.f_blocks * fs.f_frsize;
    return (uint64_t)sysconf(_SC_PHYS_PAGES) / 2 * ft_page_bytes();
}

static void list_add(struct ft_arena *a, struct block *b)
{
    uint64_t off = ft_arena_off(a, b);
    b->is_free = 1;
    b->prev = 0;
    b->next = a->free_list;
    if (b->next)
        at(a, b->next)->prev = off;
    a->free_list = off;
}

static void list_remove(struct ft_arena *a, struct block *b)
{
    FT_ASSERT(b->is_free);
    if (b->prev)
        at(a, b->prev)->next = b->next;
    else
        a->free_list = b->next;
    if (b->next)
        at(a, b->next)->prev = b->prev;
    b->is_free = 0;
}

static struct block *after(struct ft_arena *a, struct block *b)
{
    uint64_t off = ft_arena_off(a, b) + b->bytes;
    return off < a->heap_top ? at(a, off) : NULL;
}

/* Cuts b (not in the list) down to `bytes`. The rest becomes a free block after it. */
static void split(struct ft_arena *a, struct block *b, uint64_t bytes)
{
    FT_ASSERT(b->bytes >= bytes);
    if (b->bytes - bytes < MIN_SPLIT)
        return;
    struct block *rest = (struct block *)((char *)b + bytes), *next = after(a, b);
    *rest = (struct block){.bytes = b->bytes - bytes, .prev_bytes = bytes, .magic = BLOCK_MAGIC};
    if (next)
        next->prev_bytes = rest->bytes;
    else
        a->last = ft_arena_off(a, rest);
    b->bytes = bytes;
    list_add(a, rest);
}

/* Returns the offset of a block's payload such that it is aligned, and the gap before it is empty
 * or large enough for a block. */
static uint64_t place(uint64_t block_off, uint64_t align)
{
    uint64_t p = ft_align_up(block_off + sizeof(struct block), align);
    while (p - sizeof(struct block) != block_off &&
           p - sizeof(struct block) - block_off < MIN_SPLIT)
        p += align;
    return p;
}

/* Makes the free (or fresh) block b, which is not in the list, begin right before payload p and
 * have `need` bytes. */
static struct block *carve(struct ft_arena *a, struct block *b, uint64_t p, uint64_t need)
{
    uint64_t gap = p - sizeof(struct block) - ft_arena_off(a, b);
    if (gap) {
        struct block *next = after(a, b), *c = (struct block *)((char *)b + gap);
        *c = (struct block){.bytes = b->bytes - gap, .prev_bytes = gap, .magic = BLOCK_MAGIC};
        if (next)
            next->prev_bytes = c->bytes;
        else
            a->last = ft_arena_off(a, c);
        b->bytes = gap;
        list_add(a, b);
        b = c;
    }
    split(a, b, need);
    return b;
}

/* Grows the last block if it is free; otherwise puts a new block after it. */
static struct block *extend(struct ft_arena *a, uint64_t bytes, uint64_t align)
{
    struct block *last = a->last ? at(a, a->last) : NULL, *b;
    int grow = last && last->is_free;
    uint64_t begin = grow ? a->last : a->heap_top;
    uint64_t p = place(begin, align), end = ft_align_up(p + bytes, FT_CACHE_LINE);
    if (!back(a, end))
        return NULL;
    b = (struct block *)(a->base + begin);
    if (grow)
        list_remove(a, b);
    else
        *b = (struct block){.prev_bytes = last ? last->bytes : 0, .magic = BLOCK_MAGIC};
    b->bytes = end - begin;
    a->heap_top = end;
    a->last = begin;
    return carve(a, b, p, end - p + sizeof(struct block));
}

uint64_t ft_arena_alloc(struct ft_arena *a, uint64_t bytes, uint64_t align)
{
    FT_ASSERT(align >= FT_CACHE_LINE && (align & (align - 1)) == 0);
    if (bytes > a->bytes)
        return 0;
    bytes = ft_align_up(bytes ? bytes : 1, FT_CACHE_LINE);
    struct block *found = NULL;
    pthread_mutex_lock(&a->lock);
    for (uint64_t off = a->free_list; off && !found; off = at(a, off)->next) {
        uint64_t p = place(off, align);
        if (p + bytes <= off + at(a, off)->bytes) {
            struct block *b = at(a, off);
            list_remove(a, b);
            found = carve(a, b, p, bytes + sizeof(struct block));
        }
    }
    if (!found)
        found = extend(a, bytes, align);
    if (found) {
        a->in_use += found->bytes;
        a->peak = ft_max_u64(a->peak, a->in_use);
    }
    pthread_mutex_unlock(&a->lock);
    return found ? ft_arena_off(a, found) + sizeof(struct block) : 0;
}

void ft_arena_free(struct ft_arena *a, uint64_t off)
{
    if (!off)
        return;
    pthread_mutex_lock(&a->lock);
    struct block *b = at(a, off - sizeof(struct block)), *next;
    FT_ASSERT(!b->is_free);
    a->in_use -= b->bytes;
    next = after(a, b);
    if (next && next->is_free) {
        list_remove(a, next);
        b->bytes += next->bytes;
        next->magic = 0;
    }
    if (b->prev_bytes) {
        struct block *before = at(a, ft_arena_off(a, b) - b->prev_bytes);
        if (before->is_free) {
            list_remove(a, before);
            before->bytes += b->bytes;
            b->magic = 0;
            b = before;
        }
    }
    if ((next = after(a, b)))
        next->prev_bytes = b->bytes;
    else
        a->last = ft_arena_off(a, b);
    list_add(a, b);
    pthread_mutex_unlock(&a->lock);
}

void ft_arena_put_by(struct ft_arena *a, int n)
{
    for (int i = 0; i < n && i < FT_RESERVES; i++)
        if (!a->reserve[i])
            a->reserve[i] = ft_arena_alloc(a, FT_RESERVE_BYTES, FT_CACHE_LINE);
}

int ft_arena_use_reserve(struct ft_arena *a)
{
    for (int i = 0; i < FT_RESERVES; i++)
        if (a->reserve[i]) {
            ft_arena_free(a, a->reserve[i]);
            a->reserve[i] = 0;
            return 1;
        }
    return 0;
}

static int nobody_gives(uint64_t bytes)
{
    (void)bytes;
    return 0;
}

FT_STATE(__typeof__(int (*)(uint64_t bytes)), ft_no_room) = nobody_gives;

uint64_t ft_arena_need(struct ft_arena *a, uint64_t bytes, uint64_t align)
{
    uint64_t off;
    while (!(off = ft_arena_alloc(a, bytes, align)) && ft_no_room(bytes))
        ;
    return off;
}

void ft_arena_check(struct ft_arena *a)
{
    pthread_mutex_lock(&a->lock);
    uint64_t off = a->heap_begin, prev = 0, used = 0, nfree = 0, nlist = 0;
    while (off < a->heap_top) {
        struct block *b = at(a, off);
        FT_ASSERT(b->prev_bytes == prev && b->bytes >= sizeof *b);
        used += b->is_free ? 0 : b->bytes;
        nfree += b->is_free;
        prev = b->bytes;
        off += b->bytes;
    }
    for (uint64_t f = a->free_list; f; f = at(a, f)->next)
        nlist += at(a, f)->is_free;
    FT_ASSERT(!a->last || a->last + at(a, a->last)->bytes == a->heap_top);
    FT_ASSERT(off == a->heap_top && used == a->in_use && nlist == nfree);
    pthread_mutex_unlock(&a->lock);
}
