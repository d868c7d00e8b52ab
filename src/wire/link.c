/* SPDX-License-Identifier: BSD-3-Clause
 *
 * link.c - numbers of frames and connections. link.h explains the rules.
 */
#include "wire/link.h"

#include <string.h>

#include "base/base.h"

void ft_link_init(struct ft_link *l, int dials)
{
    memset(l, 0, sizeof *l);
    l->dials = dials;
    for (int c = 0; c < FT_WIRE_CLASSES; c++)
        l->way[c] = (struct ft_link_way){.next = 1,
                                         .at = 1,
                                         .acked = 1,
                                         .may = 1,
                                         .want = 1,
                                         .taken = 1,
                                         .granted = c == FT_WIRE_MSG ? 1 : 1 + FT_LINK_WINDOW};
}

void ft_link_say(const struct ft_link *l, struct ft_link_state *out)
{
    memset(out, 0, sizeof *out);
    out->conn = l->conn;
    for (int c = 0; c < FT_WIRE_CLASSES; c++) {
        out->want[c] = l->way[c].want;
        out->granted[c] = l->way[c].granted;
    }
}

void ft_link_dial(struct ft_link *l, struct ft_link_state *out)
{
    FT_ASSERT(l->dials);
    l->conn++;
    l->up = 0;
    ft_link_say(l, out);
}

/* Whether the other end's state is possible: it has nothing that was not sent, and takes nothing
 * back. */
static int is_possible(const struct ft_link *l, const struct ft_link_state *in)
{
    for (int c = 0; c < FT_WIRE_CLASSES; c++)
        if (in->want[c] < 1 || in->want[c] > l->way[c].next ||
            in->granted[c] > in->want[c] + FT_LINK_WINDOW)
            return 0;
    return 1;
}

/* The other end's state may be older than what is known. */
static void learn(struct ft_link *l, const struct ft_link_state *in)
{
    for (int c = 0; c < FT_WIRE_CLASSES; c++) {
        struct ft_link_way *w = &l->way[c];
        w->acked = ft_max_u64(w->acked, in->want[c]);
        w->may = ft_max_u64(w->may, in->granted[c]);
        w->at = ft_max_u64(w->at, w->acked);
    }
}

int ft_link_hello(struct ft_link *l, const struct ft_link_state *in)
{
    int is_new = l->dials ? in->conn == l->conn && !l->up : in->conn > l->conn;
    if (!is_new || !is_possible(l, in))
        return 0;
    l->conn = in->conn;
    l->up = 1;
    learn(l, in);
    for (int c = 0; c < FT_WIRE_CLASSES; c++)
        l->way[c].at = l->way[c].acked; /* what went over the old connection may be lost */
    return 1;
}

void ft_link_broken(struct ft_link *l, uint32_t conn)
{
    if (conn == l->conn)
        l->up = 0;
}

uint64_t ft_link_add(struct ft_link *l, enum ft_wire_class c)
{
    struct ft_link_way *w = &l->way[c];
    return w->next - w->acked < FT_LINK_WINDOW ? w->next++ : 0;
}

int ft_link_can_go(const struct ft_link *l, enum ft_wire_class c)
{
    const struct ft_link_way *w = &l->way[c];
    return l->up && w->at < w->next && w->at < w->may;
}

uint64_t ft_link_go(struct ft_link *l, enum ft_wire_class c)
{
    return ft_link_can_go(l, c) ? l->way[c].at++ : 0;
}

int ft_link_arrived(struct ft_link *l, uint32_t conn, enum ft_wire_class c, uint64_t number)
{
    struct ft_link_way *w = &l->way[c];
    if (conn != l->conn || number < w->want || number >= w->granted)
        return 0;
    uint64_t bit = 1ull << (number - w->want); /* granted <= taken + the window <= want + 64 */
    if (w->early & bit)
        return 0;
    for (w->early |= bit; w->early & 1; w->early >>= 1)
        w->want++;
    return 1;
}

uint64_t ft_link_take(struct ft_link *l, enum ft_wire_class c)
{
    struct ft_link_way *w = &l->way[c];
    if (w->taken == w->want)
        return 0;
    if (c != FT_WIRE_MSG)
        w->granted++;
    return w->taken++;
}

void ft_link_grant(struct ft_link *l, enum ft_wire_class c, uint64_t frames)
{
    struct ft_link_way *w = &l->way[c];
    uint64_t room = w->taken + FT_LINK_WINDOW - w->granted;
    w->granted += frames < room ? frames : room;
}

int ft_link_heard(struct ft_link *l, const struct ft_link_state *in)
{
    if (in->conn != l->conn || !is_possible(l, in))
        return 0;
    learn(l, in);
    return 1;
}

void ft_link_check(const struct ft_link *l)
{
    for (int c = 0; c < FT_WIRE_CLASSES; c++) {
        const struct ft_link_way *w = &l->way[c];
        FT_ASSERT(w->acked <= w->at && w->at <= w->next);
        FT_ASSERT(w->next - w->acked <= FT_LINK_WINDOW);
        FT_ASSERT(w->taken <= w->want && w->want <= w->granted);
        FT_ASSERT(w->granted <= w->taken + FT_LINK_WINDOW);
        FT_ASSERT(!(w->early & 1));
    }
}
