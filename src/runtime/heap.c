/* SPDX-License-Identifier: BSD-3-Clause
 *
 * heap.c - makes the program's heap begin at the same address in a replacement, and in a job that
 * goes on from a set, so that equal allocations get equal addresses. This concerns pointers in
 * protected memory, and memory that is attached to a window, which the others know by its address.
 *
 * What the host has allocated and freed inside MPI_Init differs between processes. So the break is
 * moved to an address that is on the board, or in the set, all that malloc has left below it is
 * used up, and everything else comes from there, also large blocks, because the places of mappings
 * depend on all that was ever mapped. From then on main takes no memory from this heap whose size
 * or moment could differ in the lost process (base/offheap.h).
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/rt.h"

#define STEP (2ull << 20)
#define TRIM (32 << 20)
/* Free memory that may remain below: glibc's chunks, which hold one word of its own each. */
#define LARGEST (1u << 20)
#define LEAST 32
#define MOST (1 << 20) /* pieces of a size */

#if defined(__GLIBC__)
/* Allocates until malloc uses the new part. What it gives from elsewhere is used up as well: memory
 * of another thread that main has freed also waits for main, and the next call of that size would
 * get it. */
static void use_up(uintptr_t below)
{
    for (size_t chunk = LARGEST; chunk >= LEAST; chunk = chunk > 2048 ? chunk / 2 : chunk - 16) {
        for (int i = 0; i < MOST; i++) {
            void *volatile p = malloc(chunk - sizeof(size_t)); /* the most that fits */
            if (!p || ((uintptr_t)p >= below && (uintptr_t)p < (uintptr_t)sbrk(0)))
                break;
        }
    }
}

void ft_runtime_begin_heap(void)
{
    struct ft_rt *rt = ft_own_rt;
    uintptr_t now = (uintptr_t)sbrk(0);
    uint64_t from = rt->lost_heap ? rt->lost_heap : ft_align_up(now + STEP / 2, STEP);
    if (from < now || sbrk((intptr_t)(from - now)) == (void *)-1)
        return; /* addresses may differ then, as they do without ftrun */
    mallopt(M_MMAP_MAX, 0);
    /* As much stays as glibc would leave in the long run. And no top may be cut when the rest of
     * the former one is freed, which glibc 2.36 cannot handle. */
    mallopt(M_TRIM_THRESHOLD, TRIM);
    use_up(from);
    atomic_store(&rt->me->testament.heap_from, from);
}
#else
void ft_runtime_begin_heap(void) {}
#endif
