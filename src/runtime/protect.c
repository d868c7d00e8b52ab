/* SPDX-License-Identifier: BSD-3-Clause
 *
 * protect.c - which memory is protected: the program's regions and, after them, windows. On main.
 */
#include <stdlib.h>
#include <string.h>

#include "base/private.h"
#include "rma/windows.h"
#include "runtime/ckpt.h"
#include "runtime/memcheck.h"

/* Not from the heap: a replacement, which takes no checkpoint, must find the heap's addresses
 * again. */
struct protected
{
    struct ft_region *r;
    int **unprotected; /* where that is kept for each region; NULL: nowhere */
    size_t n, cap;
};
FT_STATIC(struct protected, all);
#define all FT_MY(all)

static void *grown(void *was, size_t n, size_t old_cap, size_t cap, size_t one)
{
    void *p = ft_need(ft_private_alloc(cap * one), cap * one, "the list of what is protected");
    if (n)
        memcpy(p, was, n * one);
    ft_private_free(was, old_cap * one);
    return p;
}

static void add_region(void *unused, void *addr, size_t bytes, int *unprotected)
{
    (void)unused;
    if (all.n == all.cap) {
        size_t cap = all.cap ? 2 * all.cap : 256;
        all.r = grown(all.r, all.n, all.cap, cap, sizeof *all.r);
        all.unprotected = grown(all.unprotected, all.n, all.cap, cap, sizeof *all.unprotected);
        all.cap = cap;
    }
    all.unprotected[all.n] = unprotected;
    all.r[all.n++] = (struct ft_region){
        .addr = addr, .bytes = bytes, .unprotected = unprotected && *unprotected};
}

int ft_ckpt_regions(struct ft_rt *rt, int whole, struct ft_region **out)
{
    all.n = 0;
    for (int i = 0; i < rt->nregions; i++)
        add_region(NULL, rt->region[i].addr, rt->region[i].bytes, &rt->region[i].unprotected);
    ft_rma_regions(add_region, NULL);
    for (size_t i = 0; i < all.n && !whole; i++)
        all.r[i].left_out = all.r[i].unprotected;
    *out = all.r;
    return (int)all.n;
}

void ft_ckpt_region_unprotected(int i, int unprotected)
{
    if (all.unprotected[i])
        *all.unprotected[i] = unprotected;
}

/* The known regions that lie completely in these bytes. */
static enum ft_status mark(const void *addr, size_t bytes, int unprotected)
{
    struct ft_region *r;
    uintptr_t from = (uintptr_t)addr;
    int n = ft_ckpt_regions(ft_own_rt, 1, &r), some = bytes == 0;
    for (int i = 0; i < n; i++) {
        uintptr_t at = (uintptr_t)r[i].addr;
        if (r[i].bytes == 0 || at < from || at - from > bytes || r[i].bytes > bytes - (at - from) ||
            !all.unprotected[i])
            continue;
        *all.unprotected[i] = unprotected;
        some = 1;
    }
    return some ? FT_OK : FT_ERR_ARG;
}

/* Whether some of these bytes belong to a known region. */
static int is_known(uint64_t from, uint64_t to)
{
    struct ft_region *r;
    int n = ft_ckpt_regions(ft_own_rt, 1, &r);
    for (int i = 0; i < n; i++) {
        uint64_t at = (uint64_t)(uintptr_t)r[i].addr;
        if (r[i].bytes && at < to && from < at + r[i].bytes)
            return 1;
    }
    return 0;
}

/* Memory that was never protected stays so; that body may change it is a promise, for the check of
 * the program's memory. */
enum ft_status ft_runtime_unprotect(const void *addr, size_t bytes)
{
    uint64_t from = (uint64_t)(uintptr_t)addr;
    if (mark(addr, bytes, 1) != FT_OK &&
        (!addr || from + bytes < from || is_known(from, from + bytes)))
        return FT_ERR_ARG;
    ft_memcheck_promise(ft_own_rt, from, from + bytes);
    return FT_OK;
}

enum ft_status ft_runtime_protect(void *addr, size_t bytes)
{
    struct ft_rt *rt = ft_own_rt;
    if (ft_in_body(rt))
        return mark(addr, bytes, 0); /* a replacement knows from setup what there is */
    if (ft_main_at(rt) != FT_AT_SETUP || (!addr && bytes))
        return FT_ERR_ARG;
    if (rt->nregions == rt->cap_regions) {
        int cap = rt->cap_regions ? 2 * rt->cap_regions : 16;
        struct ft_region *r = realloc(rt->region, (size_t)cap * sizeof *r);
        if (!r)
            return FT_ERR_NOMEM;
        rt->region = r;
        rt->cap_regions = cap;
    }
    rt->region[rt->nregions++] = (struct ft_region){.addr = addr, .bytes = bytes};
    return FT_OK;
}

void ft_ckpt_still_there(struct ft_rt *rt, uint64_t version)
{
    const struct ft_image *im = ft_ckpt_own(rt, version);
    if (rt->told && version == 0 && ft_rma_lasting() < rt->windows_at_entry)
        ft_give_up(WINDOW_FREED_TOLD, atomic_load(&rt->pos));
    if (im && ft_rma_state_missing(ft_ckpt_engine_state(im)))
        ft_give_up(WINDOW_FREED, (unsigned long long)version, atomic_load(&rt->pos));
    /* In a told recovery survivors keep their memory, and with it know what they have freed. */
    if (im && !rt->told && rt->freed_in_body > im->counters.freed)
        ft_give_up(COMM_FREED, (unsigned long long)version, atomic_load(&rt->pos));
}
