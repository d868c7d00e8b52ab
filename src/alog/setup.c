/* SPDX-License-Identifier: BSD-3-Clause
 *
 * setup.c - see setup.h.
 */
#include "alog/setup.h"

#include <string.h>

#include "alog/said.h"

struct setup_walk {
    const char *at, *end;
};

/* Passes and returns the next action that tells something about setup's outcome. */
static const struct ft_act *next(struct setup_walk *w)
{
    while (w->at < w->end) {
        const struct ft_act *a = (const struct ft_act *)(const void *)w->at;
        w->at += ft_align_up(sizeof *a + a->bytes, 8);
        if (a->kind != FT_ACT_TIME && a->kind != FT_ACT_ADVANCE && a->kind != FT_ACT_REACHED)
            return a;
    }
    return NULL;
}

/* Compares the result, if it was wanted, then lo, then the value left behind. */
static int same_atomic(const struct ft_act *a, const struct ft_act *b)
{
    const size_t lo = sizeof(uint64_t);
    if (a->count != b->count || a->bytes != b->bytes)
        return 0;
    if (!(a->flags & FT_ACT_LEFT))
        return memcmp(a->data, b->data, a->bytes) == 0;
    size_t each = (a->bytes - lo) / (a->flags & FT_ACT_RESULT ? 2 : 1),
           result = a->bytes - lo - each;
    return memcmp(a->data, b->data, result) == 0 &&
           memcmp(a->data + result + lo, b->data + result + lo, each) == 0;
}

static struct ft_said said(const struct ft_act *a)
{
    struct ft_said s;
    FT_ASSERT(a->bytes == sizeof s);
    memcpy(&s, a->data, sizeof s);
    return s;
}

static int same_messages(const struct ft_act *a, const struct ft_act *b)
{
    struct ft_said x = said(a), y = said(b);
    return x.messages == UINT64_MAX || y.messages == UINT64_MAX ||
           (x.messages == y.messages && x.envelopes == y.envelopes);
}

static int same(const struct ft_act *a, const struct ft_act *b)
{
    if (!a || !b)
        return a == b;
    if (a->kind != b->kind || a->win != b->win || a->where != b->where)
        return 0;
    if (a->kind == FT_ACT_CLOSE || a->kind == FT_ACT_WILD)
        return 1; /* the rest are stamps and a running number */
    if (a->kind == FT_ACT_SAID)
        return same_messages(a, b);
    int by_call = a->kind == FT_ACT_OUTCOME; /* off is the call of what was cancelled */
    if ((a->off != b->off && !by_call) || a->flags != b->flags)
        return 0;
    return a->kind == FT_ACT_ATOMIC
               ? same_atomic(a, b)
               : a->bytes == b->bytes && memcmp(a->data, b->data, a->bytes) == 0;
}

int ft_setup_same(const char *was, size_t was_bytes, const char *now, size_t now_bytes,
                  const struct ft_act **a, const struct ft_act **b)
{
    struct setup_walk w = {was, was + was_bytes}, n = {now, now + now_bytes};
    do {
        *a = next(&w);
        *b = next(&n);
        if (!same(*a, *b))
            return 0;
    } while (*a);
    return 1;
}

int ft_setup_other_data(const char *was, size_t was_bytes, const char *now, size_t now_bytes)
{
    struct setup_walk w = {was, was + was_bytes}, n = {now, now + now_bytes};
    const struct ft_act *a, *b;
    while ((a = next(&w)) && (b = next(&n))) {
        if (a->kind != FT_ACT_SAID || b->kind != FT_ACT_SAID)
            continue;
        struct ft_said x = said(a), y = said(b);
        if (x.messages != UINT64_MAX && y.messages != UINT64_MAX && x.data != y.data)
            return a->where;
    }
    return -1;
}
