/* SPDX-License-Identifier: BSD-3-Clause
 *
 * unused.c - finds and reuses pages in the file of a home log that no log holds.
 */
#include "alog/unused.h"

#include "base/offheap.h"

static int is_used(const struct ft_unused *u, uint64_t page)
{
    return (int)(u->used[page >> 6] >> (page & 63)) & 1;
}

static void use(struct ft_unused *u, uint64_t off, uint64_t bytes)
{
    uint64_t page = ft_page_bytes();
    for (uint64_t i = off / page; i < ft_align_up(off + bytes, page) / page && i < u->npages; i++)
        u->used[i >> 6] |= 1ull << (i & 63);
}

void ft_unused_find(struct ft_unused *u, char *base, uint64_t end, const struct ft_log_hdr *hdr,
                    int n)
{
    uint64_t page = ft_page_bytes();
    ft_offheap_free(u->used);
    u->npages = end / page;
    u->used = ft_offheap_zeroed((u->npages / 64 + 1) * sizeof *u->used);
    FT_ASSERT(u->used);
    use(u, 0, page);
    for (int i = 0; i < n; i++) {
        uint64_t off = atomic_load_explicit(&hdr[i].chunk, memory_order_acquire);
        while (off) {
            struct ft_log_chunk *c = (struct ft_log_chunk *)(void *)(base + off);
            use(u, off, c->bytes);
            off = atomic_load_explicit(&c->next, memory_order_acquire);
        }
    }
}

/* The smallest place that is large enough, so that small ones do not break large ones up. */
uint64_t ft_unused_take(struct ft_unused *u, uint64_t bytes)
{
    uint64_t page = ft_page_bytes(), need = bytes / page, best = 0, best_pages = UINT64_MAX;
    if (!u->used)
        return 0;
    for (uint64_t i = 0, from = 0; i <= u->npages; i++) {
        if (i < u->npages && !is_used(u, i))
            continue;
        if (i - from >= need && i - from < best_pages) {
            best = from;
            best_pages = i - from;
        }
        from = i + 1;
    }
    if (best)
        use(u, best * page, bytes);
    return best * page;
}
