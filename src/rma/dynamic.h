/* SPDX-License-Identifier: BSD-3-Clause
 *
 * dynamic.h - memory that is attached to dynamic windows.
 */
#ifndef FT_RMA_DYNAMIC_H
#define FT_RMA_DYNAMIC_H

#include "rma/rma_internal.h"

/* Makes p describe what is attached around [addr, addr + len), or nothing if that range is not
 * attached. Returns 0 if another process carries the target now. */
int ft_focus(struct ft_winpart *p, uint64_t addr, uint64_t len);
static inline int ft_look_at(const struct ft_win *w, struct ft_winpart *p, size_t off, size_t len)
{
    if (FT_LIKELY(!w->dynamic) ||
        (!ft_outside(p, off, len) && len &&
         p->version == atomic_load_explicit(&p->locks->attached.version, memory_order_acquire)))
        return 1;
    return ft_focus(p, off, len);
}
void ft_forget_spans(struct ft_winpart *p);
void ft_detach_all(struct ft_win *w);
int ft_is_attached(const struct ft_win *w, uint64_t addr, uint64_t bytes); /* here */
/* Calls `each` for all memory that is attached here, over all windows, each byte once. */
void ft_attached_regions(void (*each)(void *arg, void *addr, size_t bytes, int *unprotected),
                         void *arg);
/* For images: size of the description of what is attached to w, two words for each region; writing
 * it and restoring it. */
size_t ft_attached_bytes(const struct ft_win *w);
void ft_attached_save(const struct ft_win *w, char *out);
enum ft_status ft_attached_restore(struct ft_win *w, const char *saved, size_t n);

#endif
