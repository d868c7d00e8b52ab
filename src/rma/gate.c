/* SPDX-License-Identifier: BSD-3-Clause
 *
 * gate.c - accesses while a snapshot is under way (C9; transport/wave.h). Off the hot way: accesses come here only
 * while FT_ATT_WAVE is set.
 *
 * What a process does before its image belongs to the cut, what it does behind does not. So one that is before has what it does
 * to a process that is behind done in that one's image as well (the shadow), and reads from there; one that is behind waits
 * until its target has its image. What orders processes by memory, combining operations and locks, a process that is behind does
 * not do before the wave is over: then nothing ever comes before that has seen something of behind.
 */
#include <string.h>

#include "base/board.h"
#include "base/failpoint.h"
#include "rma/rma_internal.h"

char *ft_shadow;

enum verdict { PASS, UNTIL_COPIED, UNTIL_OVER };

static uint64_t called_off;

static void call_off(uint64_t wave)
{
    if (called_off != wave)
        ft_wave_call_off();
    called_off = wave;
}

/* The part in its owner's image of the wave, NULL: it cannot be reached there. */
static char *shadow_of(const struct ft_win *w, const struct ft_part *p)
{
    struct ft_win_entry *e = !w->dynamic && !w->block && p->base ? ft_win_entry_at(w, p->slot) : NULL;
    uint64_t at = e ? atomic_load_explicit(&e->image, memory_order_acquire) : 0;
    return at ? ft_tp->ops->map(ft_tp, p->slot, at, p->bytes, FT_TP_IMAGE) : NULL;
}

static enum verdict look(const struct ft_part *p, enum ft_access_kind kind, uint64_t *wave)
{
    uint64_t w = ft_wave_before();
    int self = p->slot == ft_tp->self;
    *wave = w ? w : ft_wave_behind();
    if (w)
        return self || atomic_load(&p->ctl->wave_entered) != w || ft_wave_has_image(p->ctl, w) ? PASS : UNTIL_COPIED;
    if (!*wave)
        return PASS;
    if (kind == FT_ACCESS_ATOMIC)
        return UNTIL_OVER;
    if (self)
        return PASS;
    if (!ft_wave_has_image(p->ctl, *wave))
        return kind == FT_ACCESS_PUT ? UNTIL_COPIED : PASS;
    return kind == FT_ACCESS_GET && ft_wave_holds_gets ? UNTIL_OVER : PASS;
}

/* What it was asked to wait for, over: the wave is, or the target has its image. */
static int may_go(const struct ft_part *p, enum verdict v, uint64_t wave)
{
    return atomic_load_explicit(&ft_wave, memory_order_acquire) != wave || !p->known ||
           (v == UNTIL_COPIED && ft_wave_has_image(p->ctl, wave));
}

static void await(const struct ft_part *p, enum verdict v, uint64_t wave)
{
    struct ft_waiter waiter = FT_WAITER_INIT; /* rung when the target has its image, and when the wave is over */
    uint64_t t0 = ft_now_ns();
    ft_failpoint(WAVE_GATE);
    while (!may_go(p, v, wave))
        ft_wait(&waiter);
    ft_wait_end(&waiter);
    ft_wave_held_ns += ft_now_ns() - t0;
}

int ft_gate_enter(struct ft_win *w, struct ft_part *p, enum ft_access_kind kind)
{
    uint64_t wave;
    if (p->slot != ft_tp->self) /* its agent looks at this once it has said that it enters the wave: one of two sees the other */
        atomic_store(ft_rma_inside, FT_INSIDE_OF + (uint32_t)p->slot);
    if (look(p, kind, &wave) != PASS)
        return 0;
    if (p->slot == ft_tp->self || !ft_wave_before() || !ft_wave_has_image(p->ctl, wave))
        return 1;
    ft_shadow = shadow_of(w, p);
    return ft_shadow != NULL;
}

/* Not entered: nothing is held. */
void ft_gate_wait(struct ft_win *w, struct ft_part *p, enum ft_access_kind kind)
{
    uint64_t wave;
    enum verdict v = look(p, kind, &wave);
    if (v == PASS) {
        if (!wave || p->slot == ft_tp->self || !ft_wave_before() || !ft_wave_has_image(p->ctl, wave) || shadow_of(w, p))
            return;
        v = UNTIL_OVER; /* it has to be done, and cannot be done there */
        call_off(wave);
    }
    await(p, v, wave);
}

/* A combining operation, its critical section held: what it finds must be what the image has. */
int ft_gate_same(const char *live, size_t off, size_t len)
{
    return live && memcmp(live, ft_shadow + off, len) == 0;
}

void ft_gate_refuse(const struct ft_part *p)
{
    uint64_t wave = ft_wave_before();
    if (!wave)
        return;
    call_off(wave);
    await(p, UNTIL_OVER, wave);
}

void ft_gate_until_over(const struct ft_part *p)
{
    uint64_t wave = ft_wave_behind();
    if (wave)
        await(p, UNTIL_OVER, wave);
}

struct range {
    const char *from, *to;
    int met;
};

static void meets(void *arg, void *addr, size_t bytes, int *unused)
{
    (void)unused;
    struct range *r = arg;
    const char *at = addr;
    r->met |= bytes && at < r->to && at + bytes > r->from;
}

/* Its memory is that of another window, too, and so stands in the image twice. */
static int twice_there(const struct ft_win *w)
{
    struct range r = {w->base, (const char *)w->base + w->bytes, 0};
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
    for (const struct ft_win *w = ft_windows; w; w = w->next) { /* the list has the newest first, images the oldest */
        uint64_t off;
        where(arg, first + --n, &off);
        atomic_store_explicit(&ft_tp->own->ctl->win[w->entry].image, twice_there(w) ? 0 : off, memory_order_release);
    }
}
