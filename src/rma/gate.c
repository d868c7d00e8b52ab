/* SPDX-License-Identifier: BSD-3-Clause
 *
 * gate.c - accesses while a snapshot is under way (C9; transport/cut.h). This is not the hot path:
 * accesses come here only while FT_ATT_SNAPSHOT is set.
 *
 * What a process does before its image belongs to the cut; what it does after does not. If a
 * process before the cut accesses a process after it, it also makes the access in that process's
 * image (the shadow), and reads from there. A process after the cut waits until its target has its
 * image. Combining operations and locks order processes by memory, so a process after the cut does
 * none before the snapshot is over. Then nothing that has seen something of after ever comes
 * before.
 */
#include <string.h>

#include "base/board.h"
#include "base/failpoint.h"
#include "rma/dynamic.h"
#include "rma/gate.h"
#include "rma/rma_internal.h"

FT_STATE(char *, ft_shadow);

enum gate_verdict { PASS, UNTIL_COPIED, UNTIL_OVER };

FT_STATIC(uint64_t, called_off);
#define called_off FT_MY(called_off)

static void call_off(uint64_t snapshot)
{
    if (called_off != snapshot)
        ft_cut_call_off();
    called_off = snapshot;
}

/* The part in its owner's image of the snapshot; NULL: it cannot be reached there. */
static char *shadow_of(const struct ft_win *w, const struct ft_winpart *p)
{
    struct ft_win_entry *e =
        !w->dynamic && !w->block && p->base ? ft_win_entry_at(w, p->slot) : NULL;
    uint64_t at = e ? atomic_load_explicit(&e->image, memory_order_acquire) : 0;
    return at ? ft_transport->ops->map(ft_transport, p->slot, at, p->bytes, FT_TP_IMAGE) : NULL;
}

static enum gate_verdict look(const struct ft_winpart *p, enum ft_access_kind kind,
                              uint64_t *snapshot)
{
    uint64_t w = ft_cut_before();
    int self = p->slot == ft_transport->self;
    *snapshot = w ? w : ft_cut_after();
    if (w)
        return self || atomic_load(&p->ctl->snapshot_entered) != w || ft_cut_has_image(p->ctl, w)
                   ? PASS
                   : UNTIL_COPIED;
    if (!*snapshot)
        return PASS;
    if (kind == FT_ACCESS_ATOMIC)
        return UNTIL_OVER;
    if (self)
        return PASS;
    if (!ft_cut_has_image(p->ctl, *snapshot))
        return kind == FT_ACCESS_PUT ? UNTIL_COPIED : PASS;
    return kind == FT_ACCESS_GET && ft_cut_holds_gets ? UNTIL_OVER : PASS;
}

/* What it waits for has happened: the snapshot is over, or the target has its image. */
static int may_go(const struct ft_winpart *p, enum gate_verdict v, uint64_t snapshot)
{
    return atomic_load_explicit(&ft_cut, memory_order_acquire) != snapshot || !p->known ||
           (v == UNTIL_COPIED && ft_cut_has_image(p->ctl, snapshot));
}

static void await(const struct ft_winpart *p, enum gate_verdict v, uint64_t snapshot)
{
    struct ft_waiter waiter =
        FT_WAITER_INIT; /* rung when the target has its image, and when the snapshot is over */
    uint64_t t0 = ft_now_ns();
    ft_failpoint(SNAPSHOT_GATE);
    while (!may_go(p, v, snapshot))
        ft_wait(&waiter);
    ft_wait_end(&waiter);
    ft_cut_held_ns += ft_now_ns() - t0;
}

int ft_gate_enter(struct ft_win *w, struct ft_winpart *p, enum ft_access_kind kind)
{
    uint64_t snapshot;
    /* the target's agent looks at this after it has announced that it enters the snapshot: one of
     * the two sees the other */
    if (p->slot != ft_transport->self)
        atomic_store(ft_rma_inside, FT_INSIDE_OF + (uint32_t)p->slot);
    if (look(p, kind, &snapshot) != PASS)
        return 0;
    if (p->slot == ft_transport->self || !ft_cut_before() || !ft_cut_has_image(p->ctl, snapshot))
        return 1;
    ft_shadow = shadow_of(w, p);
    return ft_shadow != NULL;
}

/* Called outside of the access: nothing is held. */
void ft_gate_wait(struct ft_win *w, struct ft_winpart *p, enum ft_access_kind kind)
{
    uint64_t snapshot;
    enum gate_verdict v = look(p, kind, &snapshot);
    if (v == PASS) {
        if (!snapshot || p->slot == ft_transport->self || !ft_cut_before() ||
            !ft_cut_has_image(p->ctl, snapshot) || shadow_of(w, p))
            return;
        v = UNTIL_OVER; /* the access must also be made in the image, and cannot be */
        call_off(snapshot);
    }
    await(p, v, snapshot);
}

/* For a combining operation with its critical section held: its operand in the image must equal the
 * one in the window. */
int ft_gate_same(const char *live, size_t off, size_t len)
{
    return live && memcmp(live, ft_shadow + off, len) == 0;
}

void ft_gate_refuse(const struct ft_winpart *p)
{
    uint64_t snapshot = ft_cut_before();
    if (!snapshot)
        return;
    call_off(snapshot);
    await(p, UNTIL_OVER, snapshot);
}

void ft_gate_await_end(const struct ft_winpart *p)
{
    uint64_t snapshot = ft_cut_after();
    if (snapshot)
        await(p, UNTIL_OVER, snapshot);
}

struct met_range {
    const char *from, *to;
    int met;
};

static void meets(void *arg, void *addr, size_t bytes, int *unused)
{
    (void)unused;
    struct met_range *r = arg;
    const char *at = addr;
    r->met |= bytes && at < r->to && at + bytes > r->from;
}

/* Its memory also belongs to another window, and so is in the image twice. */
static int twice_there(const struct ft_win *w)
{
    struct met_range r = {w->base, (const char *)w->base + w->bytes, 0};
    for (const struct ft_win *v = ft_windows; v && w->bytes; v = v->next)
        if (v != w && !v->dynamic)
            meets(&r, v->base, v->bytes, NULL);
    if (w->bytes)
        ft_attached_regions(meets, &r);
    return r.met;
}

void ft_rma_shadows(void (*where)(void *arg, int i, uint64_t *off), void *arg, int first)
{
    int n = 0;
    for (const struct ft_win *w = ft_windows; w; w = w->next)
        n++;
    for (const struct ft_win *w = ft_windows; w;
         w = w->next) { /* the list has the newest first, images the oldest */
        uint64_t off;
        where(arg, first + --n, &off);
        atomic_store_explicit(&ft_transport->own->ctl->win[w->entry].image,
                              twice_there(w) ? 0 : off, memory_order_release);
    }
}
