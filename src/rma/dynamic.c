/* SPDX-License-Identifier: BSD-3-Clause
 *
 * dynamic.c - windows of MPI_Win_create_dynamic: memory is attached and detached, and accessed by
 * its address at the target.
 *
 *   struct ft_win_locks of the owner's part          in the owner's arena, sorted by address
 *   +------------------------------+                 +-------------+-------------+-----
 *   | attached: version, table, n  |---------------->| addr, bytes | addr, bytes | ...
 *   +------------------------------+                 +-------------+-------------+-----
 *
 * Only the owner writes the table, under an odd version. Others look up by bisection, and start
 * again if the version has changed. A region's pages are shared in place at FT_MIRROR + address of
 * the owner's file. So an origin maps stretches of that, whatever is attached when, and a mapping
 * never becomes wrong. The part keeps the region found last (base, from, bytes) until the version
 * changes.
 *
 * Attach and detach are noted in the home log. A replacement that attaches memory at another
 * address has diverged (O5, R0), since the others know the old address.
 */
#include <stdlib.h>
#include <string.h>

#include "alog/homelog_replay.h"
#include "base/failpoint.h"
#include "base/offheap.h"
#include "base/private.h"
#include "rma/attached.h"
#include "rma/block.h"
#include "rma/dynamic.h"
#include "rma/rma_internal.h"
#include "transport/share.h"

/* Addresses that are mapped at a time: regions are small and lie close together. */
#define STRETCH (2ull << 20)

/* --- the table --- */

static struct ft_attached_head *head_of(const struct ft_win *w)
{
    return &((struct ft_win_locks *)ft_arena_ptr(ft_transport->own, w->locks_off))->attached;
}

static uint64_t get(const _Atomic uint64_t *x)
{
    return atomic_load_explicit(x, memory_order_relaxed);
}
static void set(_Atomic uint64_t *x, uint64_t v)
{
    atomic_store_explicit(x, v, memory_order_relaxed);
}

static struct ft_attached *table_of(const struct ft_win *w)
{
    return ft_arena_ptr(ft_transport->own, get(&head_of(w)->table));
}
static size_t count_of(const struct ft_win *w) { return (size_t)get(&head_of(w)->n); }

static void begin_change(struct ft_attached_head *h)
{
    set(&h->version, get(&h->version) + 1);
    atomic_thread_fence(memory_order_release);
}

static void end_change(struct ft_attached_head *h)
{
    atomic_store_explicit(&h->version, get(&h->version) + 1, memory_order_release);
}

static void copy_entry(struct ft_attached *to, const struct ft_attached *from)
{
    set(&to->addr, get(&from->addr));
    set(&to->bytes, get(&from->bytes));
    set(&to->off, get(&from->off));
}

/* Makes room for one more entry. */
static int table_room(struct ft_win *w)
{
    struct ft_attached_head *h = head_of(w);
    size_t n = count_of(w);
    if (n < w->cap_attached)
        return 1;
    size_t cap = w->cap_attached ? 2 * w->cap_attached : 64;
    uint64_t off =
                 ft_arena_alloc(ft_transport->own, cap * sizeof(struct ft_attached), FT_CACHE_LINE),
             old = get(&h->table);
    if (!off)
        return 0;
    struct ft_attached *to = ft_arena_ptr(ft_transport->own, off);
    for (size_t i = 0; i < n; i++)
        copy_entry(&to[i], &table_of(w)[i]);
    begin_change(h);
    set(&h->table, off);
    end_change(h);
    ft_arena_free(ft_transport->own, old);
    w->cap_attached = cap;
    return 1;
}

static enum ft_status add(struct ft_win *w, uint64_t addr, uint64_t bytes)
{
    uint64_t off;
    if (!table_room(w))
        return FT_ERR_NOMEM;
    enum ft_status st =
        ft_arena_share_one_of_many(ft_transport->own, (void *)(uintptr_t)addr, bytes, &off);
    if (st != FT_OK)
        return st;
    struct ft_attached_head *h = head_of(w);
    struct ft_attached *t = table_of(w);
    size_t n = count_of(w), at = ft_attached_position(t, n, addr, bytes);
    ft_failpoint(RMA_ATTACH);
    begin_change(h);
    for (size_t i = n; i > at; i--)
        copy_entry(&t[i], &t[i - 1]);
    set(&t[at].addr, addr);
    set(&t[at].bytes, bytes);
    set(&t[at].off, off);
    set(&h->n, n + 1);
    end_change(h);
    return FT_OK;
}

static void remove_at(struct ft_win *w, size_t at)
{
    struct ft_attached_head *h = head_of(w);
    struct ft_attached *t = table_of(w);
    size_t n = count_of(w);
    uint64_t addr = get(&t[at].addr), bytes = get(&t[at].bytes);
    begin_change(h);
    for (size_t i = at + 1; i < n; i++)
        copy_entry(&t[i - 1], &t[i]);
    set(&h->n, n - 1);
    end_change(h);
    ft_failpoint(RMA_DETACH);
    ft_arena_unshare(ft_transport->own, (void *)(uintptr_t)addr, bytes);
}

/* Finds the entry that equals this, or, if bytes is UINT64_MAX, the longest that begins there; n:
 * none. */
static size_t find(const struct ft_win *w, uint64_t addr, uint64_t bytes)
{
    const struct ft_attached *t = table_of(w);
    size_t n = count_of(w), at = ft_attached_position(t, n, addr, bytes);
    if (at == 0 || get(&t[at - 1].addr) != addr ||
        (bytes != UINT64_MAX && get(&t[at - 1].bytes) != bytes))
        return n;
    return at - 1;
}

static int overlaps(const struct ft_win *w, uint64_t addr, uint64_t bytes)
{
    const struct ft_attached *t = table_of(w);
    size_t n = count_of(w), at = ft_attached_position(t, n, addr, UINT64_MAX);
    if (bytes == 0)
        return 0;
    for (size_t i = at; i < n && get(&t[i].addr) < addr + bytes; i++)
        if (get(&t[i].bytes))
            return 1;
    while (at > 0 && get(&t[at - 1].bytes) == 0)
        at--;
    return at > 0 && get(&t[at - 1].addr) + get(&t[at - 1].bytes) > addr;
}

/* --- attach and detach --- */

enum { DETACH, ATTACH };

/* Whether the lost process did the same here. If it had not come this far, that is noted
 * afterwards. */
static int done_before(const struct ft_win *w, int what, uint64_t addr)
{
    return ft_replay == FT_REPLAY &&
           ft_homelog_expect(FT_ACT_ATTACH, (uint32_t)w->id, what, addr, 8) != NULL;
}

enum ft_status ft_win_attach(struct ft_win *w, void *p, size_t bytes)
{
    uint64_t addr = (uint64_t)(uintptr_t)p, size = bytes;
    FT_ASSERT(w->dynamic);
    if (ft_uncounted && find(w, addr, size) < count_of(w))
        /* body was entered again, and attaches what it had attached at the image's safepoint */
        return FT_OK;
    if (addr + size < addr || overlaps(w, addr, size) || ft_block_has(p, bytes))
        return FT_ERR_ARG;
    int again = done_before(w, ATTACH, addr);
    enum ft_status st = add(w, addr, size);
    if (st == FT_OK && !again)
        ft_homelog_note(FT_ACT_ATTACH, (uint32_t)w->id, ATTACH, addr, &size, sizeof size);
    return st;
}

enum ft_status ft_win_detach(struct ft_win *w, const void *p)
{
    uint64_t addr = (uint64_t)(uintptr_t)p;
    FT_ASSERT(w->dynamic);
    size_t at = find(w, addr, UINT64_MAX);
    if (at == count_of(w))
        return FT_ERR_ARG;
    uint64_t size = get(&table_of(w)[at].bytes);
    if (!done_before(w, DETACH, addr))
        ft_homelog_note(FT_ACT_ATTACH, (uint32_t)w->id, DETACH, addr, &size, sizeof size);
    remove_at(w, at);
    return FT_OK;
}

void ft_detach_all(struct ft_win *w)
{
    while (count_of(w) > 0)
        remove_at(w, count_of(w) - 1);
    ft_arena_free(ft_transport->own, get(&head_of(w)->table));
    set(&head_of(w)->table, 0);
    w->cap_attached = 0;
}

int ft_is_attached(const struct ft_win *w, uint64_t addr, uint64_t bytes)
{
    const struct ft_attached *t = table_of(w);
    size_t n = count_of(w), at = ft_attached_position(t, n, addr, UINT64_MAX);
    uint64_t end = addr;
    while (at > 0 && get(&t[at - 1].bytes) == 0)
        at--;
    for (size_t i = at ? at - 1 : 0; i < n && get(&t[i].addr) <= end && end < addr + bytes; i++)
        end = ft_max_u64(end, get(&t[i].addr) + get(&t[i].bytes));
    return end >= addr + bytes;
}

/* --- looking up --- */

/* Finds the regions around addr, without a gap, as far as `last`. Returns 0 if the table is being
 * changed. Nothing attached there: begin = end. */
static int look_up(const struct ft_winpart *p, uint64_t addr, uint64_t last,
                   struct ft_attached_found *f, uint64_t *version)
{
    const struct ft_attached_head *h = &p->locks->attached;
    uint64_t v = atomic_load_explicit(&h->version, memory_order_acquire), table = get(&h->table),
             n = get(&h->n);
    atomic_thread_fence(memory_order_acquire);
    if ((v & 1) || get(&h->version) != v)
        return 0;
    const struct ft_attached *t =
        ft_transport->ops->map(ft_transport, p->slot, table, n * sizeof *t, FT_TP_CONTROL);
    ft_attached_around(t, n, addr, last, f);
    atomic_thread_fence(memory_order_acquire);
    *version = v;
    return get(&h->version) == v;
}

/* A stretch of another process's memory, mapped here. */
struct ft_mapped_span {
    uint64_t begin, end;
    char *at;
};

static void drop_spans(struct ft_winpart *p, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        ft_transport->ops->unmap(ft_transport, p->slot, FT_MIRROR + p->span[i].begin, p->span[i].at,
                                 p->span[i].end - p->span[i].begin);
    if (to < p->nspans) /* the array may not exist */
        memmove(p->span + from, p->span + to, (p->nspans - to) * sizeof *p->span);
    p->nspans -= to - from;
}

void ft_forget_spans(struct ft_winpart *p)
{
    if (p->span)
        drop_spans(p, 0, p->nspans);
    ft_offheap_free(p->span);
    p->span = NULL;
    p->cap_spans = 0;
}

/* Returns where `begin` of the target's memory is mapped here; [begin, end) is attached. NULL: it
 * cannot be mapped. */
static char *map_memory(struct ft_winpart *p, uint64_t begin, uint64_t end)
{
    size_t low = 0, high = p->nspans;
    while (low < high) { /* the first span that ends after `begin` */
        size_t mid = (low + high) / 2;
        if (p->span[mid].end <= begin)
            low = mid + 1;
        else
            high = mid;
    }
    if (low < p->nspans && p->span[low].begin <= begin && end <= p->span[low].end)
        return p->span[low].at + (begin - p->span[low].begin);
    uint64_t from = begin & ~(STRETCH - 1), to = ft_align_up(end, STRETCH);
    size_t last = low;
    for (; last < p->nspans && p->span[last].begin < to; last++) {
        from = ft_min_u64(from, p->span[last].begin);
        to = ft_max_u64(to, p->span[last].end);
    }
    char *at =
        ft_transport->ops->map(ft_transport, p->slot, FT_MIRROR + from, to - from, FT_TP_WINDOW);
    if (!at)
        return NULL;
    drop_spans(p, low, last);
    if (p->nspans == p->cap_spans) {
        p->cap_spans = p->cap_spans ? 2 * p->cap_spans : 8;
        p->span = ft_offheap_realloc(p->span, p->cap_spans * sizeof *p->span);
    }
    memmove(p->span + low + 1, p->span + low, (p->nspans - low) * sizeof *p->span);
    p->span[low] = (struct ft_mapped_span){from, to, at};
    p->nspans++;
    return at + (begin - from);
}

int ft_focus(struct ft_winpart *p, uint64_t addr, uint64_t len)
{
    struct ft_waiter wait = FT_WAITER_UNRUNG;
    struct ft_attached_found f;
    uint64_t version;
    if (p->far) /* nothing is known of it here */
        return 1;
    while (!look_up(p, addr, addr + len, &f, &version)) {
        ft_wait(&wait); /* its owner may have died in the middle */
        if (!p->known) {
            ft_wait_end(&wait);
            return 0;
        }
    }
    ft_wait_end(&wait);
    p->version = version;
    if (!ft_attached_has(&f, addr, len)) {
        p->from = addr + 1; /* so that every address is outside */
        p->bytes = 0;
        return 1;
    }
    p->from = f.begin;
    p->bytes = f.end - f.begin;
    p->off = f.off - f.begin;
    if (p->slot == ft_transport->self)
        p->base = (char *)(uintptr_t)f.begin;
    else if (f.off >= FT_MIRROR)
        p->base = map_memory(p, f.begin, f.end);
    else
        p->base = ft_transport->ops->map(ft_transport, p->slot, f.off, p->bytes, FT_TP_WINDOW);
    return 1;
}

/* --- for images --- */

struct bounds {
    uint64_t begin, end;
};

static int ascending(const void *a, const void *b)
{
    uint64_t x = ((const struct bounds *)a)->begin, y = ((const struct bounds *)b)->begin;
    return (x > y) - (x < y);
}

void ft_attached_regions(void (*each)(void *arg, void *addr, size_t bytes, int *unprotected),
                         void *arg)
{
    size_t n = 0, k = 0;
    for (const struct ft_win *w = ft_windows; w; w = w->next)
        n += w->dynamic ? count_of(w) : 0;
    if (n == 0)
        return;
    struct bounds *b = ft_private_alloc(
        n * sizeof *b); /* not from the heap, whose addresses a replacement must find again */
    FT_ASSERT(b);
    for (const struct ft_win *w = ft_windows; w; w = w->next)
        for (size_t i = 0; w->dynamic && i < count_of(w); i++) {
            uint64_t addr = get(&table_of(w)[i].addr);
            b[k++] = (struct bounds){addr, addr + get(&table_of(w)[i].bytes)};
        }
    for (size_t i = 1; i < n; i++)
        if (b[i].begin < b[i - 1].begin) { /* several windows: each table is sorted already */
            qsort(b, n, sizeof *b, ascending);
            break;
        }
    for (size_t i = 0; i < n;) { /* regions of several windows may overlap */
        struct bounds one = b[i++];
        while (i < n && b[i].begin <= one.end)
            one.end = ft_max_u64(one.end, b[i++].end);
        each(arg, (void *)(uintptr_t)one.begin, one.end - one.begin, NULL);
    }
    ft_private_free(b, n * sizeof *b);
}

size_t ft_attached_bytes(const struct ft_win *w)
{
    return w->dynamic ? 2 * sizeof(uint64_t) * count_of(w) : 0;
}

void ft_attached_save(const struct ft_win *w, char *out)
{
    for (size_t i = 0; w->dynamic && i < count_of(w); i++, out += 2 * sizeof(uint64_t)) {
        uint64_t pair[2] = {get(&table_of(w)[i].addr), get(&table_of(w)[i].bytes)};
        memcpy(out, pair, sizeof pair);
    }
}

static int is_saved(const char *saved, size_t n, uint64_t addr, uint64_t bytes)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        uint64_t pair[2];
        memcpy(pair, saved + mid * sizeof pair, sizeof pair);
        if (pair[0] == addr && pair[1] == bytes)
            return 1;
        if (pair[0] < addr || (pair[0] == addr && pair[1] < bytes))
            low = mid + 1;
        else
            high = mid;
    }
    return 0;
}

enum ft_status ft_attached_restore(struct ft_win *w, const char *saved, size_t n)
{
    for (size_t i = count_of(w); i-- > 0;)
        if (!is_saved(saved, n, get(&table_of(w)[i].addr), get(&table_of(w)[i].bytes)))
            remove_at(w, i);
    for (size_t i = 0; i < n; i++) {
        uint64_t pair[2];
        memcpy(pair, saved + i * sizeof pair, sizeof pair);
        enum ft_status st =
            find(w, pair[0], pair[1]) < count_of(w) ? FT_OK : add(w, pair[0], pair[1]);
        if (st != FT_OK)
            return st;
    }
    return FT_OK;
}
