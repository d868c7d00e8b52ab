/* SPDX-License-Identifier: BSD-3-Clause
 *
 * counts.c - what an item is about, and how many there are of each kind.
 */
#include "gate/counts.h"

#include <string.h>

#include "base/mail_kind.h"
#include "gate/item.h"

static enum ft_link_kind kind_of_mail(const char *text, uint32_t bytes)
{
    uint32_t kind = 0;
    if (bytes >= sizeof kind)
        memcpy(&kind, text, sizeof kind);
    return kind == FT_MAIL_AGREE   ? FT_LINK_VOTES
           : kind == FT_MAIL_ORDER ? FT_LINK_ORDERS
                                   : FT_LINK_MAILS;
}

static enum ft_link_kind kind_of(const struct ft_item *item, const char *data)
{
    switch ((enum ft_item_kind)item->kind) {
    case FT_ITEM_CHUNK:
    case FT_ITEM_RECORDS:
    case FT_ITEM_WANTS:
    case FT_ITEM_ASKS:
    case FT_ITEM_RELEASED:
    case FT_ITEM_MATCHED:
    case FT_ITEM_PLACED:
    case FT_ITEM_STUCK:
    case FT_ITEM_LANE:
    case FT_ITEM_LANE_TAKEN:
    case FT_ITEM_SEEN: return FT_LINK_MESSAGES;
    case FT_ITEM_ACCESS:
    case FT_ITEM_ANSWER: return FT_LINK_ACCESSES;
    case FT_ITEM_FOLD:
    case FT_ITEM_PIECE: return FT_LINK_IMAGES;
    case FT_ITEM_MAIL: return kind_of_mail(data, item->bytes);
    case FT_ITEM_CLOSED:
    case FT_ITEM_ARRIVED:
    case FT_ITEM_WORDS: break;
    }
    return FT_LINK_WORDS;
}

static void add(_Atomic uint64_t *to, uint64_t n)
{
    atomic_store_explicit(to, atomic_load_explicit(to, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

void ft_counts_frame(struct ft_link_counts *c, const char *data, uint32_t bytes)
{
    struct ft_item item;
    add(&c->frames, 1);
    for (uint32_t at = 0; at < bytes; at += (uint32_t)ft_item_size(item.bytes)) {
        memcpy(&item, data + at, sizeof item);
        struct ft_link_count *of = &c->of[kind_of(&item, data + at + sizeof item)];
        add(&of->items, 1);
        add(&of->bytes, ft_item_size(item.bytes));
    }
}
