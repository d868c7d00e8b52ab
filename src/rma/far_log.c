/* SPDX-License-Identifier: BSD-3-Clause
 *
 * far_log.c - copies for a replay what processes of other nodes have logged for this rank. The copy
 * of an arena is as sparse as what is needed, and has it at the same offsets. So who reads a log
 * does not see where it lies.
 */
#include "rma/far_log.h"

#include <string.h>
#include <sys/mman.h>

#include "alog/act.h"
#include "base/failpoint.h"
#include "base/near.h"
#include "base/offheap.h"
#include "rma/far_access.h"

struct fetched {
    char *base;      /* of the copy; NULL: there is none */
    uint32_t holds;  /* locks that it holds here, in any window */
    uint64_t *locks; /* [FT_MAX_WINDOWS]: where its words of this window lie; 0: not fetched */
};
struct fetched_logs {
    struct fetched *of; /* [ft_rma_nranks]; NULL: nothing was fetched */
};
FT_STATIC(struct fetched_logs, g);
#define g FT_MY(g)

static int slot_of(int rank) { return ft_rma_slots[rank]; }
static int is_far(int rank) { return !ft_board_near(ft_transport->board, slot_of(rank)); }

struct ft_ctl *ft_far_log_ctl(int rank)
{
    if (!is_far(rank))
        return ft_tp_ctl(ft_transport, slot_of(rank));
    return g.of ? (struct ft_ctl *)(void *)g.of[rank].base : NULL;
}

void ft_far_log_drop(void)
{
    for (int r = 0; g.of && r < ft_rma_nranks; r++) {
        if (g.of[r].base)
            ft_arena_unreserve(g.of[r].base, ft_transport->own->bytes);
        ft_offheap_free(g.of[r].locks);
    }
    ft_offheap_free(g.of);
    g.of = NULL;
}

/* Copies [off, off + len). 0: it cannot be had. */
static int fetch(int rank, uint64_t off, uint64_t len)
{
    uint64_t page = ft_page_bytes(), from = off & ~(page - 1), to = ft_align_up(off + len, page);
    char *base = g.of[rank].base;
    if (off > ft_transport->own->bytes || to > ft_transport->own->bytes ||
        mprotect(base + from, to - from, PROT_READ | PROT_WRITE) != 0)
        return 0;
    return ft_far_read(slot_of(rank), off, base + off, len);
}

static int fetch_words(int rank)
{
    return fetch(rank, offsetof(struct ft_ctl, cut), sizeof((struct ft_ctl *)NULL)->cut) &&
           fetch(rank,
                 offsetof(struct ft_ctl, peer) + (uint64_t)ft_rma_me * sizeof(struct ft_ctl_peer),
                 sizeof(struct ft_ctl_peer));
}

/* The chunks of a log, from the oldest on. */
static int fetch_log(int rank, uint64_t hdrs, enum ft_segment seg)
{
    const char *base = g.of[rank].base;
    if (!fetch(rank, hdrs, FT_SEG_COUNT * sizeof(struct ft_log_hdr)))
        return 0;
    const struct ft_log_hdr *hdr = (const struct ft_log_hdr *)(const void *)(base + hdrs) + seg;
    uint64_t off = atomic_load_explicit(&hdr->chunk, memory_order_relaxed);
    while (off) {
        const struct ft_log_chunk *c = (const struct ft_log_chunk *)(const void *)(base + off);
        if (!fetch(rank, off, sizeof *c) || !fetch(rank, off, c->bytes))
            return 0;
        ft_failpoint(REPLAY_FETCHED);
        off = atomic_load_explicit(&c->next, memory_order_relaxed);
    }
    return 1;
}

/* The words that say what it holds at each rank of a window, for all windows. */
static int fetch_held(int rank)
{
    const struct ft_ctl *ctl = (const struct ft_ctl *)(const void *)g.of[rank].base;
    struct fetched *f = &g.of[rank];
    f->locks = ft_offheap_zeroed(FT_MAX_WINDOWS * sizeof *f->locks);
    if (!f->locks || !fetch(rank, offsetof(struct ft_ctl, win), sizeof ctl->win))
        return 0;
    for (int i = 0; i < FT_MAX_WINDOWS; i++) {
        const struct ft_win_entry *e = &ctl->win[i];
        if (!atomic_load_explicit(&e->id, memory_order_relaxed))
            continue;
        const struct ft_win_locks *l =
            (const struct ft_win_locks *)(const void *)(f->base + e->locks);
        if (!fetch(rank, e->locks, offsetof(struct ft_win_locks, undo_off)) ||
            !fetch(rank, e->locks + offsetof(struct ft_win_locks, shared),
                   ft_locks_bytes(l->nshared) - sizeof *l))
            return 0;
        f->locks[i] = e->locks;
    }
    return 1;
}

static int fetch_rank(int rank, enum ft_segment seg)
{
    struct fetched *f = &g.of[rank];
    f->base = ft_arena_reserve(NULL, ft_transport->own->bytes);
    if (!f->base || !fetch_words(rank))
        return 0;
    const struct ft_ctl_peer *peer =
        &((const struct ft_ctl *)(const void *)f->base)->peer[ft_rma_me];
    uint64_t log = atomic_load_explicit(&peer->putlog, memory_order_relaxed);
    f->holds = atomic_load_explicit(&peer->holds, memory_order_relaxed);
    return (!log || fetch_log(rank, log, seg)) && (!f->holds || fetch_held(rank));
}

int ft_far_log_fetch(enum ft_segment seg)
{
    ft_far_log_drop();
    if (!ft_transport->board->nodes.n)
        return 0;
    g.of = ft_offheap_zeroed((size_t)ft_rma_nranks * sizeof *g.of);
    if (!g.of)
        return -1;
    for (int r = 0; r < ft_rma_nranks; r++)
        if (is_far(r) && !fetch_rank(r, seg)) {
            ft_far_log_drop(); /* a copy that is not complete is not to be read */
            return -1;
        }
    return 0;
}

int ft_far_log_held(int rank, uint64_t win, int me)
{
    const struct fetched *f = g.of ? &g.of[rank] : NULL;
    const struct ft_ctl *ctl = f ? (const struct ft_ctl *)(const void *)f->base : NULL;
    for (int i = 0; ctl && f->holds && f->locks && i < FT_MAX_WINDOWS; i++)
        if (f->locks[i] && atomic_load_explicit(&ctl->win[i].id, memory_order_relaxed) == win) {
            struct ft_win_locks *l = (struct ft_win_locks *)(void *)(f->base + f->locks[i]);
            return (uint32_t)me < l->nshared
                       ? atomic_load_explicit(&ft_held_by_owner(l)[me], memory_order_relaxed)
                       : FT_HELD_NONE;
        }
    return FT_HELD_NONE;
}
