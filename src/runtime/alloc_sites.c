/* SPDX-License-Identifier: BSD-3-Clause
 *
 * alloc_sites.c - see alloc_sites.h. The table has a fixed size and lies in static memory, so
 * nothing here allocates from the heap. A freed block stays in the table until another one takes
 * its place. This does no harm, because the caller knows that the block is in use.
 */
#define _GNU_SOURCE
#include "runtime/alloc_sites.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define EXPORT __attribute__((visibility("default")))
#define CALLER ((uint64_t)(uintptr_t)__builtin_return_address(0))
#define BUCKETS 1024
#define WAYS 8
#define PATIENCE 10000 /* attempts to get the lock */

struct site {
    uint64_t addr, bytes, caller, number;
};

static struct site table[BUCKETS][WAYS];
static uint64_t newest;
static atomic_flag locked = ATOMIC_FLAG_INIT;

/* Never waits long: [a child is forked while another thread has the lock]. */
static int lock(void)
{
    for (int i = 0; i < PATIENCE; i++)
        if (!atomic_flag_test_and_set_explicit(&locked, memory_order_acquire))
            return 1;
    return 0;
}

static void unlock(void) { atomic_flag_clear_explicit(&locked, memory_order_release); }

static void note(const void *p, size_t bytes, uint64_t caller)
{
    uint64_t addr = (uint64_t)(uintptr_t)p;
    if (!p || bytes < FT_ALLOC_LEAST || !lock())
        return;
    struct site *s = table[(addr >> 4) * 0x9e3779b97f4a7c15ull >> 54], *to = s;
    _Static_assert(BUCKETS == 1 << (64 - 54), "the hash has a bucket");
    for (int i = 0; i < WAYS; i++) {
        if (s[i].addr == addr) {
            to = &s[i];
            break;
        }
        if (s[i].number < to->number)
            to = &s[i];
    }
    *to = (struct site){addr, bytes, caller, ++newest};
    unlock();
}

/* ---- what the C library has ---- */

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);

/* Finds the next function of that name. The lookup may allocate memory itself, from the C
 * library. */
static _Thread_local int looking __attribute__((tls_model("initial-exec")));

static void *find_next(const char *name)
{
    looking++;
    void *f = dlsym(RTLD_NEXT, name);
    looking--;
    return f;
}

/* NEXT(name, type, ...): calls the next function of that name with these arguments. */
#define NEXT(name, type, ...)                                     \
    ({                                                            \
        static type(*next);                                       \
        if (!next)                                                \
            next = (__typeof__(next))(uintptr_t)find_next(#name); \
        next(__VA_ARGS__);                                        \
    })

typedef void *malloc_type(size_t);
typedef void *calloc_type(size_t, size_t);
typedef void *realloc_type(void *, size_t);
typedef int memalign_type(void **, size_t, size_t);
typedef void *mmap_type(void *, size_t, int, int, int, off_t);

EXPORT void *malloc(size_t bytes)
{
    if (looking)
        return __libc_malloc(bytes);
    void *p = NEXT(malloc, malloc_type, bytes);
    note(p, bytes, CALLER);
    return p;
}

EXPORT void *calloc(size_t n, size_t each)
{
    size_t bytes;
    if (looking)
        return __libc_calloc(n, each);
    void *p = NEXT(calloc, calloc_type, n, each);
    if (!__builtin_mul_overflow(n, each, &bytes))
        note(p, bytes, CALLER);
    return p;
}

EXPORT void *realloc(void *old, size_t bytes)
{
    void *p = NEXT(realloc, realloc_type, old, bytes);
    note(p, bytes, CALLER);
    return p;
}

EXPORT void *aligned_alloc(size_t align, size_t bytes)
{
    void *p = NEXT(aligned_alloc, calloc_type, align, bytes);
    note(p, bytes, CALLER);
    return p;
}

EXPORT int posix_memalign(void **out, size_t align, size_t bytes)
{
    int e = NEXT(posix_memalign, memalign_type, out, align, bytes);
    if (e == 0)
        note(*out, bytes, CALLER);
    return e;
}

/* operator new and new[]; otherwise they would be recorded as the callers of malloc. */
EXPORT void *_Znwm(size_t bytes);
EXPORT void *_Znam(size_t bytes);

/* [A C program opens a C++ library with local scope: its calls come here, and no next function can
 * be found.] */
static void *new_block(malloc_type *next, size_t bytes, uint64_t caller)
{
    void *p = next ? next(bytes) : __libc_malloc(bytes ? bytes : 1);
    if (!p)
        abort();
    note(p, bytes, caller);
    return p;
}

EXPORT void *_Znwm(size_t bytes)
{
    return new_block((malloc_type *)(uintptr_t)find_next("_Znwm"), bytes, CALLER);
}

EXPORT void *_Znam(size_t bytes)
{
    return new_block((malloc_type *)(uintptr_t)find_next("_Znam"), bytes, CALLER);
}

EXPORT void *mmap(void *at, size_t bytes, int rights, int flags, int fd, off_t off)
{
    void *p = NEXT(mmap, mmap_type, at, bytes, rights, flags, fd, off);
    if (p != MAP_FAILED)
        note(p, bytes, CALLER);
    return p;
}

EXPORT void *mmap64(void *at, size_t bytes, int rights, int flags, int fd, off_t off)
{
    void *p = NEXT(mmap64, mmap_type, at, bytes, rights, flags, fd, off);
    if (p != MAP_FAILED)
        note(p, bytes, CALLER);
    return p;
}

/* ---- who asks ---- */

static struct site find(uint64_t addr, uint64_t bytes)
{
    struct site begins = {0}, holds = {0};
    for (int i = 0; i < BUCKETS * WAYS; i++) {
        const struct site *s = &table[i / WAYS][i % WAYS];
        if (s->number > begins.number && s->addr >= addr && s->addr < addr + bytes)
            begins = *s;
        if (s->number > holds.number && s->addr <= addr && addr - s->addr < s->bytes)
            holds = *s;
    }
    return begins.number ? begins : holds;
}

EXPORT ft_alloc_site_fn ftrma_alloc_site;

EXPORT int ftrma_alloc_site(uint64_t addr, uint64_t bytes, char *out, size_t size)
{
    Dl_info d;
    if (!lock())
        return 0;
    struct site s = find(addr, bytes);
    unlock();
    if (!s.number || !dladdr((void *)(uintptr_t)s.caller, &d) || !d.dli_fname)
        return 0;
    const Elf64_Ehdr *e = d.dli_fbase;
    uint64_t base = e->e_type == ET_EXEC ? 0 : (uint64_t)(uintptr_t)d.dli_fbase;
    const char *slash = strrchr(d.dli_fname, '/'), *object = slash ? slash + 1 : d.dli_fname;
    /* the call itself lies before its return address */
    unsigned long long at = s.caller - 1 - base;
    if (d.dli_sname)
        snprintf(out, size, "%.30s (%.30s+0x%llx)", d.dli_sname, object, at);
    else
        snprintf(out, size, "%.40s+0x%llx", object, at);
    return 1;
}
