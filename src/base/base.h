/* SPDX-License-Identifier: BSD-3-Clause
 *
 * base.h - macros and inline helpers that every room uses.
 */
#ifndef FT_BASE_BASE_H
#define FT_BASE_BASE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define FT_CACHE_LINE 64
#define FT_ALIGNED_LINE _Alignas(FT_CACHE_LINE)
/* Pages of this size or a smaller one can be mapped apart. */
#define FT_ALIGNED_PAGE _Alignas(4096)
#define FT_LIKELY(x) __builtin_expect(!!(x), 1)
#define FT_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define FT_EXPORT __attribute__((visibility("default")))
#define FT_COUNTOF(a) (sizeof(a) / sizeof((a)[0]))

#ifndef FT_MAX_SLOTS /* the simulator has its own */
/* The largest number of processes in one job. It bounds bitmaps on the stack and costs no memory.
 * */
#define FT_MAX_SLOTS 4096
#endif

_Noreturn void ft_assert_fail(const char *expr, const char *file, int line);
/* Prints a message of the library in one write: to descriptor 2, or to the one that ft_print_to
 * named. (What appears on a rank's stderr is counted and must repeat itself in a replay.) Prints
 * nothing when that descriptor is no longer the original file, since a program may close every
 * descriptor it does not know. Any thread. */
void ft_print(const char *text, size_t bytes);
void ft_print_to(int fd); /* call once, before there is another thread */
int ft_print_where(void);
/* Assertions are always compiled in. One that holds costs a predictable branch; a wrong result
 * costs a user's week. */
#define FT_ASSERT(x) (FT_LIKELY(x) ? (void)0 : ft_assert_fail(#x, __FILE__, __LINE__))

/* Returns mem. If mem is NULL the job is given up (ft_no_memory, base/reason.h). Use it for memory
 * without which nothing can go on; `what` names its purpose. Any thread. */
void *ft_need(void *mem, size_t bytes, const char *what);

/* The page size in bytes: 4 KiB on x86-64; 4, 16 or 64 KiB on arm64, depending on the kernel's
 * configuration. Every address or offset for a mapping must be a multiple of it. Any thread. */
uint64_t ft_page_bytes(void);

static inline uint64_t ft_align_up(uint64_t v, uint64_t a) { return (v + a - 1) & ~(a - 1); }
static inline uint64_t ft_min_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }
static inline uint64_t ft_max_u64(uint64_t a, uint64_t b) { return a > b ? a : b; }

static inline void ft_cpu_relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield" ::: "memory");
#endif
}

/* A set of slots: a value type with FT_MAX_SLOTS bits, 512 bytes. */
struct ft_bitset {
    uint64_t w[FT_MAX_SLOTS / 64];
};
static inline int ft_bit_get(const struct ft_bitset *b, int i)
{
    return (int)(b->w[i >> 6] >> (i & 63)) & 1;
}
static inline void ft_bit_set(struct ft_bitset *b, int i) { b->w[i >> 6] |= 1ull << (i & 63); }
static inline void ft_bit_clear(struct ft_bitset *b, int i) { b->w[i >> 6] &= ~(1ull << (i & 63)); }
int ft_bitset_count(const struct ft_bitset *b);
int ft_bitset_equal(const struct ft_bitset *a, const struct ft_bitset *b);
int ft_bitset_empty(const struct ft_bitset *b);
/* a |= b; returns 1 when a grew */
int ft_bitset_merge(struct ft_bitset *a, const struct ft_bitset *b);

#endif
