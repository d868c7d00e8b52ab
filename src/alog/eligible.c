/* SPDX-License-Identifier: BSD-3-Clause
 *
 * eligible.c - rule R4 as one sort. It is a heapsort, because the C library's sort may allocate.
 */
#include "alog/eligible.h"

static int less(const struct ft_eligible_act *a, const struct ft_eligible_act *b, uint64_t calls)
{
    uint64_t la = ft_max_u64(a->lo, calls), lb = ft_max_u64(b->lo, calls);
    if (la != lb)
        return la < lb;
    if (a->stamp != b->stamp)
        return a->stamp - 1 < b->stamp - 1; /* open epochs last */
    return a->source != b->source ? a->source < b->source : a->serial < b->serial;
}

/* Places x in the heap of n whose root i is vacant. The vacancy goes down to a leaf along the
 * larger children, then x goes up from there. In a sort x comes from a leaf and rarely rises far,
 * so this saves half of the comparisons. */
static void sift(struct ft_eligible_act *heap, size_t i, size_t n, struct ft_eligible_act x,
                 uint64_t calls)
{
    size_t root = i, child;
    while ((child = 2 * i + 1) < n) {
        if (child + 1 < n && less(&heap[child], &heap[child + 1], calls))
            child++;
        heap[i] = heap[child];
        i = child;
    }
    while (i > root && less(&heap[(i - 1) / 2], &x, calls)) {
        heap[i] = heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    heap[i] = x;
}

void ft_eligible_begin(struct ft_eligible *o, struct ft_eligible_act *acts, size_t n,
                       uint64_t calls)
{
    *o = (struct ft_eligible){.act = acts, .n = n};
    for (size_t i = n / 2; i-- > 0;)
        sift(acts, i, n, acts[i], calls);
    for (size_t left = n; left > 1;) {
        struct ft_eligible_act last = acts[--left];
        acts[left] = acts[0];
        sift(acts, 0, left, last, calls);
    }
}

const struct ft_eligible_act *ft_eligible_next(struct ft_eligible *o, uint64_t calls)
{
    if (o->next == o->n)
        return NULL;
    const struct ft_eligible_act *a = &o->act[o->next];
    if (a->lo > calls)
        return NULL;
    o->next++;
    return a;
}

uint64_t ft_eligible_last_call(const struct ft_eligible *o)
{
    uint64_t most = 0;
    for (size_t i = 0; i < o->n; i++)
        most = ft_max_u64(most, o->act[i].lo);
    return most;
}

uint64_t ft_eligible_last_stamp(const struct ft_eligible *o)
{
    uint64_t most = 0;
    for (size_t i = 0; i < o->n; i++)
        most = ft_max_u64(most, o->act[i].stamp);
    return most;
}
