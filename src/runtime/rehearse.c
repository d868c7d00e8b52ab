/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rehearse.c - in a rehearsal (ftrun --rehearse) a rank records the contents of its memory at the
 * end, and, in a run without a death, the failpoints that it has passed. Main only. Nothing is
 * allocated from the program's heap.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/kept.h"
#include "base/private.h"
#include "runtime/ckpt.h"
#include "runtime/rehearse.h"

struct ft_rehearsal {
    const char *dir;
    struct ft_kept_hits hits;
    int counting;     /* there is no death in this run */
    int after_commit; /* hits.from belongs to a checkpoint inside body */
    int freed;        /* windows */
};

void ft_rehearse_init(struct ft_rt *rt)
{
    const char *dir = ft_setting_str(FT_SET_REHEARSAL);
    if (!*dir)
        return;
    rt->rehearsal = ft_private_alloc(sizeof *rt->rehearsal);
    if (!rt->rehearsal)
        return;
    rt->rehearsal->dir = dir;
    rt->rehearsal->counting = !*rt->inject;
    if (rt->rehearsal->counting)
        ft_fp_count_all();
}

static void count(uint64_t *out)
{
    for (int i = 0; i < FT_FP_COUNT; i++)
        out[i] = ft_fp_hits((enum ft_failpoint_id)i);
}

void ft_rehearse_body_begins(struct ft_rt *rt)
{
    struct ft_rehearsal *k = rt->rehearsal;
    if (!k)
        return;
    k->hits.in_body = 1;
    k->hits.stays = (uint64_t)rt->stays;
    count(k->hits.from);
}

void ft_rehearse_stopped(struct ft_rt *rt)
{
    struct ft_rehearsal *k = rt->rehearsal;
    if (!k || k->after_commit ||
        atomic_load(&rt->box.complete) < 2) /* 1 is that of FTRMA_Run's entry */
        return;
    k->after_commit = 1;
    count(k->hits.from);
}

void ft_rehearse_body_ends(struct ft_rt *rt)
{
    if (rt->rehearsal)
        count(rt->rehearsal->hits.to);
}

static int create(const struct ft_rehearsal *k, const char *kind, int rank, int number)
{
    char path[4200];
    int n = number < 0 ? snprintf(path, sizeof path, "%s/%s.%d", k->dir, kind, rank)
                       : snprintf(path, sizeof path, "%s/%s.%d.%d", k->dir, kind, rank, number);
    return n < (int)sizeof path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
}

static void put(int fd, const void *data, size_t bytes)
{
    for (const char *p = data; bytes > 0;) {
        ssize_t n = write(fd, p, bytes);
        if (n <= 0)
            return; /* a file that is too short is reported as a difference */
        p += n;
        bytes -= (size_t)n;
    }
}

static void put_region(int fd, int window, int index, const void *addr, uint64_t bytes)
{
    uint64_t words[512], block = ft_kept_block(bytes), n = 0;
    struct ft_kept_head head = {.magic = FT_KEPT_MAGIC,
                                .window = (uint32_t)window,
                                .index = (uint32_t)index,
                                .bytes = bytes};
    put(fd, &head, sizeof head);
    for (uint64_t at = 0; at < bytes; at += block) {
        words[n++] = ft_kept_word((const char *)addr + at, ft_min_u64(block, bytes - at));
        if (n == FT_COUNTOF(words)) {
            put(fd, words, sizeof words);
            n = 0;
        }
    }
    put(fd, words, n * sizeof *words);
}

/* Records protected memory, and windows if all processes stand still. */
static void keep(struct ft_rt *rt, int windows)
{
    struct ft_region *r;
    int n = ft_ckpt_regions(rt, 0, &r),
        fd = create(rt->rehearsal, "memory", atomic_load(&rt->pos), 0);
    if (fd < 0)
        return;
    for (int i = 0; i < n; i++)
        if (!r[i].left_out && (i < rt->nregions || windows))
            put_region(fd, i >= rt->nregions, i < rt->nregions ? i : i - rt->nregions, r[i].addr,
                       r[i].bytes);
    close(fd);
}

void ft_rehearse_run_over(struct ft_rt *rt)
{
    if (rt->rehearsal)
        keep(rt, rt->checkpoints);
}

int ft_runtime_keeps_windows(void)
{
    return ft_own_rt->rehearsal && !ft_in_run(ft_own_rt) &&
           !(ft_main_at(ft_own_rt) >= FT_AT_AFTER && ft_own_rt->checkpoints);
}

void ft_runtime_keep_window(const void *addr, size_t bytes)
{
    struct ft_rehearsal *k = ft_own_rt->rehearsal;
    int fd = create(k, "memory", atomic_load(&ft_own_rt->pos), ++k->freed);
    if (fd < 0)
        return;
    put_region(fd, 1, k->freed - 1, addr, bytes);
    close(fd);
}

void ft_rehearse_finalize(struct ft_rt *rt)
{
    struct ft_rehearsal *k = rt->rehearsal;
    if (!k)
        return;
    if (ft_main_at(rt) != FT_AT_AFTER) {
        count(k->hits.to);
        keep(rt, 0);
    }
    int fd = k->counting ? create(k, "hits", atomic_load(&rt->pos), -1) : -1;
    if (fd < 0)
        return;
    put(fd, &k->hits, sizeof k->hits);
    close(fd);
}
