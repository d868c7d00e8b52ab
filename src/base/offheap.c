/* SPDX-License-Identifier: BSD-3-Clause
 *
 * offheap.c - see offheap.h. A line in front of each block holds its size; in a free block it holds
 * the next free one of that size.
 */
#include "base/offheap.h"

#include <string.h>

#include "base/base.h"
#include "base/private.h"

#define SMALLEST 6 /* powers of two; includes the line in front */
#define SIZES 48
#define MAPPED_AT_ONCE (256u << 10)

struct offheap_block {
    FT_ALIGNED_LINE int power;
    struct offheap_block *next;
};
_Static_assert(sizeof(struct offheap_block) == FT_CACHE_LINE, "what follows begins a line");

static struct offheap_block *unused[SIZES];
static char *pos, *end; /* of the mapping from which small blocks are cut */

static struct offheap_block *fresh(size_t bytes)
{
    if (bytes >= MAPPED_AT_ONCE)
        return ft_private_alloc(bytes);
    if ((size_t)(end - pos) <
        /* what is left of the last mapping is smaller than such a block, and is abandoned */
        bytes) {
        pos = ft_private_alloc(MAPPED_AT_ONCE);
        end = pos ? pos + MAPPED_AT_ONCE : NULL;
    }
    struct offheap_block *b = (struct offheap_block *)(void *)pos;
    if (b)
        pos += bytes;
    return b;
}

void *ft_offheap_alloc(size_t bytes)
{
    int power = SMALLEST;
    FT_ASSERT(bytes < (size_t)1 << (SIZES - 2));
    while (((size_t)1 << power) < bytes + sizeof(struct offheap_block))
        power++;
    struct offheap_block *b = unused[power];
    if (b)
        unused[power] = b->next;
    else
        b = fresh((size_t)1 << power);
    b = ft_need(b, (size_t)1 << power, "the library's own lists");
    b->power = power;
    return b + 1;
}

void *ft_offheap_zeroed(size_t bytes) { return memset(ft_offheap_alloc(bytes), 0, bytes); }

void ft_offheap_free(void *p)
{
    if (!p)
        return;
    struct offheap_block *b = (struct offheap_block *)p - 1;
    size_t bytes = (size_t)1 << b->power;
    if (bytes >= MAPPED_AT_ONCE) {
        ft_private_free(b, bytes);
        return;
    }
    b->next = unused[b->power];
    unused[b->power] = b;
}

void *ft_offheap_realloc(void *p, size_t bytes)
{
    size_t room =
        p ? ((size_t)1 << ((struct offheap_block *)p - 1)->power) - sizeof(struct offheap_block)
          : 0;
    if (p && bytes <= room)
        return p;
    void *to = ft_offheap_alloc(bytes);
    if (p)
        memcpy(to, p, room);
    ft_offheap_free(p);
    return to;
}
