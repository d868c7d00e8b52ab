/* SPDX-License-Identifier: BSD-3-Clause
 *
 * gate.h - accesses while a snapshot is under way (C9).
 */
#ifndef FT_RMA_GATE_H
#define FT_RMA_GATE_H

#include "rma/rma_internal.h"

enum ft_access_kind {
    FT_ACCESS_GET,
    FT_ACCESS_PUT,
    FT_ACCESS_ATOMIC /* an atomic that may change something */
};
/* The target's part in its owner's image, where this access must also be made; NULL: nowhere.
 * ft_gate_enter sets it; the end of the access clears it. */
extern FT_STATE(char *, ft_shadow);
#define ft_shadow FT_MY(ft_shadow)
/* Called with ft_rma_inside set, when there is nothing to attend to but the snapshot. Returns 1: go
 * on; 0: leave the access and call ft_gate_wait (which may not return). */
int ft_gate_enter(struct ft_win *w, struct ft_winpart *p, enum ft_access_kind kind);
void ft_gate_wait(struct ft_win *w, struct ft_winpart *p, enum ft_access_kind kind);
/* Whether the part holds at `live` the same as ft_shadow. If not, call ft_gate_refuse, which
 * waits. */
int ft_gate_same(const char *live, size_t off, size_t len);
void ft_gate_refuse(const struct ft_winpart *p);
/* For a process after the cut: waits for the snapshot's end (locks). */
void ft_gate_await_end(const struct ft_winpart *p);
static inline void ft_gate_until_over(const struct ft_winpart *p)
{
    if (FT_UNLIKELY(ft_cut_after()))
        ft_gate_await_end(p);
}

static inline int ft_enter_gated(struct ft_win *w, struct ft_winpart *p, enum ft_access_kind kind)
{
    uint32_t news = ft_begin_access();
    return FT_LIKELY(news == 0) || (news == FT_ATT_SNAPSHOT && ft_gate_enter(w, p, kind));
}
/* Ends an attempt that did not enter the access. */
static inline void ft_stand_back(struct ft_win *w, struct ft_winpart *p, enum ft_access_kind kind)
{
    ft_shadow = NULL;
    ft_leave_access();
    if (atomic_load_explicit(&ft_attention, memory_order_relaxed) &
        ~(uint32_t)(FT_ATT_REPLAY | FT_ATT_WORK | FT_ATT_SNAPSHOT | FT_ATT_RELEASE))
        ft_attend();
    else
        ft_gate_wait(w, p, kind);
}

#endif
