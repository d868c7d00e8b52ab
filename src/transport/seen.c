/* SPDX-License-Identifier: BSD-3-Clause
 *
 * seen.c - windows in arenas, views of shared windows, memory of MPI_Alloc_mem.
 */
#define _GNU_SOURCE
#include "transport/seen.h"

#include <string.h>
#include <sys/mman.h>

#include "base/filespace.h"
#include "base/private.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000 /* Linux 4.17; on older kernels it is only a hint */
#endif

FT_STATE(struct ft_seen_place, ft_seen);

/* Below the arenas (ft_arena_map_hint), and far from where the kernel puts mappings without an
 * address. */
#define AREA_BYTES (1ull << 40)
#define VIEWS (0x200000000000ull - AREA_BYTES)
#define MEMORY (VIEWS - AREA_BYTES)
FT_STATIC(struct ft_area, views) = {.begin = VIEWS, .end = VIEWS + AREA_BYTES};
FT_STATIC(struct ft_area, memory) = {.begin = MEMORY, .end = MEMORY + AREA_BYTES};
FT_STATIC(pthread_mutex_t, memory_lock) = PTHREAD_MUTEX_INITIALIZER;
#define views FT_MY(views)
#define memory FT_MY(memory)
#define memory_lock FT_MY(memory_lock)

static void refused(const char *what, uint64_t bytes, uint64_t want, uint64_t have)
{
    if (ft_seen.refused)
        ft_seen.refused(what, bytes, want, have);
}

int ft_seen_has(const struct ft_arena *a, const void *p)
{
    uint64_t at = (uint64_t)(uintptr_t)p, base = (uint64_t)(uintptr_t)a->base;
    return (at >= base && ft_area_has(&a->seen, at - base)) || ft_area_has(&views, at) ||
           ft_area_has(&memory, at);
}

/* ---- windows ---- */

void ft_arena_divide(struct ft_arena *a)
{
    uint64_t end = a->bytes & ~(FT_AREA_COARSE - 1),
             half = ft_align_up(a->bytes / 2, FT_AREA_COARSE);
    if (half >= end) { /* too small to be divided: the heap gets all of it */
        ft_area_init(&a->seen, ft_align_up(a->bytes, FT_AREA_COARSE),
                     ft_align_up(a->bytes, FT_AREA_COARSE));
        return;
    }
    ft_area_init(&a->seen, half, end);
    /* if the kernel refuses there are no guards */
    (void)mprotect(a->base + half, end - half, PROT_NONE);
}

static void close_block(struct ft_arena *a, struct ft_area_block *b)
{
    (void)mprotect(a->base + b->at, b->bytes, PROT_NONE);
    (void)ft_file_give_back(a->fd, b->at, b->at + b->bytes);
    ft_area_give_back(&a->seen, b);
}

uint64_t ft_arena_take(struct ft_arena *a, uint64_t bytes)
{
    struct ft_area_block *b = ft_area_take(&a->seen, bytes);
    uint64_t base = (uint64_t)(uintptr_t)a->base, at = b ? b->at : 0;
    if (b && ft_seen.lost_arena && ft_seen.lost_arena != base)
        refused("a window", bytes, ft_seen.lost_arena + at, base + at);
    if (b && (mprotect(a->base + at, b->bytes, PROT_READ | PROT_WRITE) != 0 ||
              !ft_arena_make_real(a, at, at + b->bytes))) {
        close_block(a, b);
        refused("a window", bytes, 0, 0);
        return 0;
    }
    return at;
}

void ft_arena_give_back(struct ft_arena *a, uint64_t off)
{
    struct ft_area_block *b = off ? ft_area_block_at(&a->seen, off) : NULL;
    FT_ASSERT(b || !off);
    if (b)
        close_block(a, b);
}

/* ---- fixed addresses ---- */

/* Maps pages there, or NULL. */
static void *map_there(uint64_t at, uint64_t bytes, int prot)
{
#if defined(__SANITIZE_THREAD__)
    (void)at, (void)bytes, (void)prot;
    return NULL; /* this machine cannot map memory there */
#else
    void *want = (void *)(uintptr_t)at,
         *p = mmap(want, bytes, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (p == want)
        return p;
    if (p != MAP_FAILED)
        munmap(p, bytes);
    return NULL;
#endif
}

static void note_strayed(const char *what, const struct ft_area_block *b)
{
    refused(what, b->bytes, b->at, b->real);
    uint64_t none = 0;
    if (ft_seen.strayed)
        atomic_compare_exchange_strong(ft_seen.strayed, &none, b->at);
}

static void *take_fixed(struct ft_area *a, const char *what, uint64_t bytes, int prot,
                        uint64_t mark)
{
    struct ft_area_block *b = ft_area_take(a, bytes);
    void *p = b ? map_there(b->at, b->bytes, prot) : NULL;
    if (b && !p) {
        p = mmap(NULL, b->bytes, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED) {
            p = NULL;
            ft_area_give_back(a, b);
        }
    }
    if (!p)
        return NULL;
    b->real = (uint64_t)(uintptr_t)p;
    b->mark = mark;
    if (b->real != b->at)
        note_strayed(what, b);
    else if (b->at == ft_seen.lost_strayed)
        refused(what, bytes, 0, b->real);
    return p;
}

static void drop(struct ft_area *a, struct ft_area_block *b)
{
    munmap((void *)(uintptr_t)b->real, b->bytes);
    ft_area_give_back(a, b);
}

static struct ft_area_block *find(const struct ft_area *a, const void *p)
{
    uint64_t real = (uint64_t)(uintptr_t)p;
    if (ft_area_has(a, real))
        return ft_area_block_at(a, real);
    for (size_t i = 0; i < a->n; i++) /* few blocks have strayed */
        if (a->block[i].real == real)
            return &a->block[i];
    return NULL;
}

void *ft_view_take(uint64_t bytes)
{
    return take_fixed(&views, "a shared window", bytes, PROT_NONE, 0);
}

void ft_view_give_back(void *p)
{
    struct ft_area_block *b = find(&views, p);
    FT_ASSERT(b);
    drop(&views, b);
}

/* ---- memory of MPI_Alloc_mem ---- */

void *ft_mem_take(uint64_t bytes, int in_body)
{
    pthread_mutex_lock(&memory_lock);
    void *p =
        take_fixed(&memory, "memory of MPI_Alloc_mem", bytes, PROT_READ | PROT_WRITE, in_body != 0);
    pthread_mutex_unlock(&memory_lock);
    return p;
}

int ft_mem_give_back(void *p)
{
    pthread_mutex_lock(&memory_lock);
    struct ft_area_block *b = find(&memory, p);
    if (b)
        drop(&memory, b);
    pthread_mutex_unlock(&memory_lock);
    return b != NULL;
}

/* The state at the last ft_mem_state_bytes: other threads may go on to take memory. */
FT_STATIC(struct ft_area_block *, snapped);
FT_STATIC(size_t, nsnapped);
FT_STATIC(size_t, cap_snapped);
#define snapped FT_MY(snapped)
#define nsnapped FT_MY(nsnapped)
#define cap_snapped FT_MY(cap_snapped)

size_t ft_mem_state_bytes(void)
{
    pthread_mutex_lock(&memory_lock);
    if (memory.n > cap_snapped) {
        ft_private_free(snapped, cap_snapped * sizeof *snapped);
        cap_snapped = memory.cap;
        snapped = ft_private_alloc(cap_snapped * sizeof *snapped);
        FT_ASSERT(snapped);
    }
    nsnapped = memory.n;
    if (nsnapped)
        memcpy(snapped, memory.block, nsnapped * sizeof *snapped);
    pthread_mutex_unlock(&memory_lock);
    return sizeof(uint64_t) + nsnapped * sizeof *snapped;
}

void ft_mem_state_save(char *out)
{
    uint64_t n = nsnapped;
    memcpy(out, &n, sizeof n);
    if (n)
        memcpy(out + sizeof n, snapped, n * sizeof *snapped);
}

static uint64_t saved_blocks(const char **saved)
{
    uint64_t n;
    memcpy(&n, *saved, sizeof n);
    *saved += sizeof n;
    return n;
}

static int same(const struct ft_area_block *b, const struct ft_area_block *s)
{
    return b && b->bytes == s->bytes && b->real == s->real;
}

static enum ft_status put_back(const struct ft_area_block *s)
{
    struct ft_area_block *b = ft_area_block_at(&memory, s->at);
    if (same(b, s))
        return FT_OK;
    while ((b = ft_area_first_in(&memory, s->at, s->bytes)))
        drop(&memory, b);
    if (!map_there(s->real, s->bytes, PROT_READ | PROT_WRITE))
        return FT_ERR_RANGE;
    if (!(b = ft_area_take_at(&memory, s->at, s->bytes))) {
        munmap((void *)(uintptr_t)s->real, s->bytes);
        return FT_ERR_NOMEM;
    }
    b->real = s->real;
    b->mark = s->mark;
    return FT_OK;
}

enum ft_status ft_mem_state_load(const char *saved, uint64_t *want)
{
    enum ft_status st = FT_OK;
    uint64_t n = saved_blocks(&saved);
    pthread_mutex_lock(&memory_lock);
    for (uint64_t i = 0; i < n && st == FT_OK; i++, saved += sizeof(struct ft_area_block)) {
        struct ft_area_block s;
        memcpy(&s, saved, sizeof s);
        st = put_back(&s);
        if (st != FT_OK)
            *want = st == FT_ERR_NOMEM ? s.bytes : s.real;
    }
    pthread_mutex_unlock(&memory_lock);
    return st;
}

void ft_mem_state_settle(const char *saved)
{
    uint64_t n = saved_blocks(&saved), i = 0;
    pthread_mutex_lock(&memory_lock);
    for (size_t k = 0; k < memory.n;) { /* both are sorted */
        struct ft_area_block *b = &memory.block[k], s = {.at = 0};
        for (; i < n; i++) {
            memcpy(&s, saved + i * sizeof s, sizeof s);
            if (s.at >= b->at)
                break;
        }
        if (b->mark == 0 && !(i < n && s.at == b->at))
            drop(&memory, b);
        else
            k++;
    }
    pthread_mutex_unlock(&memory_lock);
}
