/* SPDX-License-Identifier: BSD-3-Clause
 *
 * private.c - see private.h. Mappings are remembered, so that a scan of the program's memory can
 * tell them from it.
 */
#include "base/private.h"

#include <sys/mman.h>

#include "base/base.h"

#define MOST 1024

/* from == 0: the place is free; to == 0: it is being taken. Threads take places by
 * compare-and-swap. */
static struct {
    _Atomic uint64_t from, to;
} ours[MOST];

void ft_private_claim(const void *p, size_t bytes)
{
    uint64_t from = (uint64_t)(uintptr_t)p;
    for (int i = 0; i < MOST; i++) {
        uint64_t none = 0;
        if (atomic_load_explicit(&ours[i].from, memory_order_relaxed) == 0 &&
            atomic_compare_exchange_strong(&ours[i].from, &none, from)) {
            atomic_store(&ours[i].to, from + bytes);
            return;
        }
    }
}

void ft_private_disclaim(const void *p)
{
    for (int i = 0; p && i < MOST; i++)
        if (atomic_load_explicit(&ours[i].from, memory_order_relaxed) == (uint64_t)(uintptr_t)p) {
            atomic_store(&ours[i].to, 0);
            atomic_store(&ours[i].from, 0);
            return;
        }
}

void ft_private_each(void (*each)(void *arg, uint64_t from, uint64_t to), void *arg)
{
    for (int i = 0; i < MOST; i++) {
        uint64_t from = atomic_load(&ours[i].from), to = atomic_load(&ours[i].to);
        if (from && to > from)
            each(arg, from, to);
    }
}

void *ft_private_alloc(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    ft_private_claim(p, bytes);
    return p;
}

void ft_private_free(void *p, size_t bytes)
{
    if (!p)
        return;
    ft_private_disclaim(p); /* first: another thread may get these addresses at once */
    munmap(p, bytes);
}
