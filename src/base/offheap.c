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
#define MAPPED_AT_ONCE ((size_t)256 << 10)
/* Of unused blocks that have mappings of their own, so many bytes stay mapped: a message that is
 * packed anew each time does not enter the kernel. */
#define KEPT_MOST ((size_t)64 << 20)

struct offheap_block {
    FT_ALIGNED_LINE int power;
    struct offheap_block *next;
};
_Static_assert(sizeof(struct offheap_block) == FT_CACHE_LINE, "what follows begins a line");

static struct offheap_block *unused[SIZES];
static size_t kept;     /* bytes of those with mappings of their own */
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

void *ft_offheap_try(size_t bytes)
{
    int power = SMALLEST;
    if (bytes >= (size_t)1 << (SIZES - 2))
        return NULL;
    while (((size_t)1 << power) < bytes + sizeof(struct offheap_block))
        power++;
    size_t whole = (size_t)1 << power;
    struct offheap_block *b = unused[power];
    if (b) {
        unused[power] = b->next;
        kept -= whole >= MAPPED_AT_ONCE ? whole : 0;
    } else if (!(b = fresh(whole))) {
        return NULL;
    }
    b->power = power;
    return b + 1;
}

void *ft_offheap_alloc(size_t bytes)
{
    return ft_need(ft_offheap_try(bytes), bytes, "the library's own lists");
}

void *ft_offheap_zeroed(size_t bytes) { return memset(ft_offheap_alloc(bytes), 0, bytes); }

/* Unmaps blocks of other sizes as long as one of this size cannot be kept: it was used last. */
static void make_room(int power)
{
    for (int i = SIZES - 1; i >= SMALLEST && (size_t)1 << i >= MAPPED_AT_ONCE; i--)
        while (i != power && unused[i] && ((size_t)1 << power) > KEPT_MOST - kept) {
            struct offheap_block *b = unused[i];
            unused[i] = b->next;
            kept -= (size_t)1 << i;
            ft_private_free(b, (size_t)1 << i);
        }
}

void ft_offheap_free(void *p)
{
    if (!p)
        return;
    struct offheap_block *b = (struct offheap_block *)p - 1;
    size_t bytes = (size_t)1 << b->power;
    if (bytes >= MAPPED_AT_ONCE) {
        make_room(b->power);
        if (bytes > KEPT_MOST - kept) {
            ft_private_free(b, bytes);
            return;
        }
        kept += bytes;
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
