/* SPDX-License-Identifier: BSD-3-Clause
 *
 * area.c - a sorted list of blocks with first fit. Blocks are few and large, and their order is the
 * only state.
 */
#include "transport/area.h"

#include <string.h>

#include "base/private.h"

void ft_area_init(struct ft_area *a, uint64_t begin, uint64_t end)
{
    FT_ASSERT(begin <= end && begin % FT_AREA_COARSE == 0 && end % FT_AREA_COARSE == 0);
    *a = (struct ft_area){.begin = begin, .end = end};
}

void ft_area_finish(struct ft_area *a)
{
    ft_private_free(a->block, a->cap * sizeof *a->block);
    a->block = NULL;
    a->n = a->cap = 0;
}

/* Index of the first block that begins at `at` or later. */
static size_t place_of(const struct ft_area *a, uint64_t at)
{
    size_t low = 0, high = a->n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (a->block[mid].at < at)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static struct ft_area_block *insert(struct ft_area *a, size_t i, uint64_t at, uint64_t bytes)
{
    if (a->n == a->cap) { /* not the program's heap, whose addresses must not depend on this */
        size_t cap = a->cap ? 2 * a->cap : ft_page_bytes() / sizeof *a->block;
        struct ft_area_block *b = ft_private_alloc(cap * sizeof *b);
        if (!b)
            return NULL;
        if (a->n)
            memcpy(b, a->block, a->n * sizeof *b);
        ft_private_free(a->block, a->cap * sizeof *b);
        a->block = b;
        a->cap = cap;
    }
    memmove(a->block + i + 1, a->block + i, (a->n - i) * sizeof *a->block);
    a->n++;
    a->block[i] = (struct ft_area_block){.at = at, .bytes = bytes, .real = at};
    return &a->block[i];
}

struct ft_area_block *ft_area_take(struct ft_area *a, uint64_t bytes)
{
    uint64_t page = ft_page_bytes(), align = bytes >= FT_AREA_COARSE ? FT_AREA_COARSE : page,
             from = a->begin;
    if (bytes > a->end - a->begin)
        return NULL;
    bytes = ft_align_up(bytes ? bytes : 1, page);
    for (size_t i = 0;; i++) { /* the gap before block i, or before the end */
        uint64_t at = ft_align_up(from + page, align), to = i < a->n ? a->block[i].at : a->end;
        if (at + bytes + page <= to)
            return insert(a, i, at, bytes);
        if (i == a->n)
            return NULL;
        from = a->block[i].at + a->block[i].bytes;
    }
}

struct ft_area_block *ft_area_take_at(struct ft_area *a, uint64_t at, uint64_t bytes)
{
    FT_ASSERT(!ft_area_first_in(a, at, bytes) && at > a->begin && at + bytes < a->end);
    return insert(a, place_of(a, at), at, bytes);
}

struct ft_area_block *ft_area_block_at(const struct ft_area *a, uint64_t at)
{
    size_t i = place_of(a, at);
    return i < a->n && a->block[i].at == at ? &a->block[i] : NULL;
}

struct ft_area_block *ft_area_first_in(const struct ft_area *a, uint64_t at, uint64_t bytes)
{
    uint64_t page = ft_page_bytes();
    size_t i = place_of(a, at);
    if (i > 0 && a->block[i - 1].at + a->block[i - 1].bytes + page > at)
        return &a->block[i - 1];
    return i < a->n && a->block[i].at < at + bytes + page ? &a->block[i] : NULL;
}

void ft_area_give_back(struct ft_area *a, struct ft_area_block *b)
{
    size_t i = (size_t)(b - a->block);
    FT_ASSERT(i < a->n);
    memmove(a->block + i, a->block + i + 1, (a->n - i - 1) * sizeof *a->block);
    a->n--;
}

void ft_area_check(const struct ft_area *a)
{
    uint64_t page = ft_page_bytes(), from = a->begin;
    FT_ASSERT(a->n <= a->cap);
    for (size_t i = 0; i < a->n; i++) {
        const struct ft_area_block *b = &a->block[i];
        FT_ASSERT(b->at % page == 0 && b->bytes % page == 0 && b->bytes > 0);
        FT_ASSERT(b->bytes < FT_AREA_COARSE || b->at % FT_AREA_COARSE == 0);
        FT_ASSERT(b->at >= from + page);
        from = b->at + b->bytes;
    }
    FT_ASSERT(a->n == 0 || from + page <= a->end);
}
