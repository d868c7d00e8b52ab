/* SPDX-License-Identifier: BSD-3-Clause
 *
 * blocks.c - blocks of three sizes, and the queue of events. The program's heap is not used: the
 * helper thread takes blocks, too.
 */
#include <string.h>

#include "base/private.h"
#include "ftt/progress.h"

static const uint32_t room[3] = {192, 2048, 17408};
#define BATCH 16
#define SMALL 384
_Static_assert(sizeof(struct ft_waiting) <= SMALL && sizeof(struct ft_shelf) <= SMALL &&
                   sizeof(struct ft_wanting) <= SMALL && sizeof(struct ft_pending) <= SMALL,
               "small things are small");

struct ft_parcel *ft_block_get(struct ft_endpoint *e, size_t bytes)
{
    uint32_t c = bytes <= room[0] ? 0 : bytes <= room[1] ? 1 : 2;
    FT_ASSERT(bytes <= room[2]);
    size_t one = ft_align_up(sizeof(struct ft_parcel) + room[c], FT_CACHE_LINE);
    if (!e->free[c]) {
        char *more = ft_need(ft_private_alloc(BATCH * one), BATCH * one, "messages");
        for (int i = 0; i < BATCH; i++) {
            struct ft_parcel *b = (struct ft_parcel *)(void *)(more + (size_t)i * one);
            b->size_class = c;
            b->next = e->free[c];
            e->free[c] = b;
        }
    }
    struct ft_parcel *b = e->free[c];
    e->free[c] = b->next;
    memset(b, 0, sizeof *b);
    b->size_class = c;
    b->bytes = (uint32_t)bytes;
    return b;
}

void ft_block_put(struct ft_endpoint *e, struct ft_parcel *b)
{
    b->next = e->free[b->size_class];
    e->free[b->size_class] = b;
}

void *ft_small_get(struct ft_endpoint *e)
{
    if (!e->free_small) {
        size_t bytes = 64 * SMALL;
        char *more = ft_need(ft_private_alloc(bytes), bytes, "messages");
        for (int i = 0; i < 64; i++)
            ft_small_put(e, more + (size_t)i * SMALL);
    }
    void *p = e->free_small;
    memcpy(&e->free_small, p, sizeof p);
    memset(p, 0, SMALL);
    return p;
}

void ft_small_put(struct ft_endpoint *e, void *p)
{
    memcpy(p, &e->free_small, sizeof p);
    e->free_small = p;
}

void ft_event_add(struct ft_endpoint *e, struct ft_parcel *b)
{
    b->next = NULL;
    e->told++;
    if (e->events)
        e->events_last->next = b;
    else
        e->events = b;
    e->events_last = b;
}

struct ft_parcel *ft_event_new(struct ft_endpoint *e, enum FTT_Kind kind, int rank, size_t bytes)
{
    struct ft_parcel *b = ft_block_get(e, bytes);
    b->ev = (FTT_Event){.kind = kind,
                        .rank = rank,
                        .incarnation = rank >= 0 ? e->incarnation[rank] : 0,
                        .generation = e->generation,
                        .data = bytes ? b->data : NULL,
                        .bytes = bytes};
    ft_event_add(e, b);
    return b;
}
