/* SPDX-License-Identifier: BSD-3-Clause
 *
 * image.c - lays out an image, fills it, and copies out of it.
 */
#include "image/image.h"

#include <string.h>

#include "base/copy.h"

#define STREAM_FROM (256ull << 10)

/* A long copy is not looked at again soon. */
static void copy(void *dst, const void *src, uint64_t n)
{
    if (n >= STREAM_FROM)
        ft_copy_past(dst, src, n);
    else
        memcpy(dst, src, n);
}

struct region_entry {
    uint64_t addr, bytes, at; /* at: offset of its contents in the image; 0: left out */
    uint64_t unprotected;
};

static struct region_entry *entries(void *image)
{
    return (struct region_entry *)((char *)image + sizeof(struct ft_image));
}

static uint64_t messages_at(int n)
{
    return ft_align_up(sizeof(struct ft_image) + (uint64_t)n * sizeof(struct region_entry),
                       FT_CACHE_LINE);
}

static uint64_t room_of(const struct ft_region *r)
{
    return r->left_out ? 0 : ft_align_up(r->bytes, FT_CACHE_LINE);
}

uint64_t ft_image_measure(const struct ft_region *r, int n, uint64_t message_bytes)
{
    uint64_t at = messages_at(n) + ft_align_up(message_bytes, FT_CACHE_LINE);
    for (int i = 0; i < n; i++)
        at += room_of(&r[i]);
    return at;
}

void ft_image_begin(void *out, uint64_t version, const struct ft_region *r, int n,
                    uint64_t message_bytes, const struct ft_image_counters *c)
{
    struct ft_image *im = out;
    uint64_t at = messages_at(n) + ft_align_up(message_bytes, FT_CACHE_LINE);
    FT_ASSERT(n >= 0 && version > 0);
    *im = (struct ft_image){.magic = FT_IMAGE_MAGIC,
                            .version = version,
                            .nregions = (uint64_t)n,
                            .message_bytes = message_bytes,
                            .counters = *c};
    for (int i = 0; i < n; i++) {
        entries(out)[i] = (struct region_entry){.addr = (uint64_t)(uintptr_t)r[i].addr,
                                                .bytes = r[i].bytes,
                                                .at = r[i].left_out ? 0 : at,
                                                .unprotected = (uint64_t)r[i].unprotected};
        at += room_of(&r[i]);
    }
    im->bytes = at;
}

void *ft_image_messages(void *image)
{
    return (char *)image + messages_at((int)((struct ft_image *)image)->nregions);
}

uint64_t ft_image_head_bytes(const void *image)
{
    const struct ft_image *im = image;
    return messages_at((int)im->nregions) + ft_align_up(im->message_bytes, FT_CACHE_LINE);
}

uint64_t ft_image_region_at(const void *image, int i)
{
    return entries((void *)(uintptr_t)image)[i].at;
}

void ft_image_resize_setup(void *image, uint64_t setup_bytes)
{
    struct ft_image *im = image;
    uint64_t less = im->counters.setup_bytes, head = messages_at((int)im->nregions);
    FT_ASSERT(less <= im->engine_bytes && im->engine_bytes <= im->message_bytes);
    uint64_t from = head + ft_align_up(im->message_bytes, FT_CACHE_LINE);
    im->message_bytes += setup_bytes - less;
    im->engine_bytes += setup_bytes - less;
    im->counters.setup_bytes = setup_bytes;
    uint64_t to = head + ft_align_up(im->message_bytes, FT_CACHE_LINE);
    memmove((char *)image + to, (const char *)image + from, im->bytes - from);
    for (uint64_t i = 0; i < im->nregions; i++)
        if (entries(image)[i].at)
            entries(image)[i].at += to - from;
    im->bytes += to - from;
}

void ft_image_save_region(void *image, int i, const struct ft_region *r)
{
    struct region_entry *e = &entries(image)[i];
    FT_ASSERT(e->bytes == r->bytes);
    if (r->bytes && e->at)
        copy((char *)image + e->at, r->addr, r->bytes);
}

void ft_image_save_part(void *image, int i, const struct ft_region *r, uint64_t at, uint64_t bytes)
{
    struct region_entry *e = &entries(image)[i];
    FT_ASSERT(e->bytes == r->bytes && e->at && at <= r->bytes && bytes <= r->bytes - at);
    copy((char *)image + e->at + at, (const char *)r->addr + at, bytes);
}

void ft_image_load_region(const void *image, int i, const struct ft_region *r)
{
    const struct region_entry *e = &entries((void *)(uintptr_t)image)[i];
    FT_ASSERT(e->bytes == r->bytes);
    if (r->bytes && e->at)
        copy(r->addr, (const char *)image + e->at, r->bytes);
}

void *ft_image_region_address(const void *image, int i)
{
    return (void *)(uintptr_t)entries((void *)(uintptr_t)image)[i].addr;
}

int ft_image_region_unprotected(const void *image, int i)
{
    return entries((void *)(uintptr_t)image)[i].unprotected != 0;
}

enum ft_status ft_image_matches(const void *image, uint64_t version, const struct ft_region *r,
                                int n, int *bad)
{
    const struct ft_image *im = image;
    *bad = -1;
    if (im->magic != FT_IMAGE_MAGIC || im->version != version || im->nregions != (uint64_t)n)
        return FT_ERR_RANGE;
    for (int i = 0; i < n; i++)
        if (entries((void *)(uintptr_t)image)[i].bytes != r[i].bytes) {
            *bad = i;
            return FT_ERR_RANGE;
        }
    return FT_OK;
}
