/* SPDX-License-Identifier: BSD-3-Clause
 *
 * buffers.h - the functions behind struct FTT_Calls that are about memory, and what they share.
 */
#ifndef FT_FTT_BUFFERS_H
#define FT_FTT_BUFFERS_H

#include "ftt/progress.h"

/* The offset of memory in the own arena, which others have mapped; 0: it is not there. */
uint64_t ft_buffer_at(const void *p, uint64_t bytes);
void ft_copy(void *to, const void *from, uint64_t bytes); /* has failpoints */

/* Looks the handle up, and copies between its memory, on this node, and `here`. */
int ft_buffer_copy(struct ft_endpoint *e, const FTT_Buffer *h, uint64_t offset, void *here,
                   uint64_t bytes, int out);
/* Whether this much of it can be accessed. */
int ft_buffer_check(struct ft_endpoint *e, const FTT_Buffer *h, uint64_t offset, uint64_t bytes);

int ft_buffer_alloc(FTT_Transport *t, size_t bytes, FTT_Buffer *buffer, void **addr);
int ft_buffer_register(FTT_Transport *t, void *addr, size_t bytes, FTT_Buffer *buffer);
int ft_buffer_release(FTT_Transport *t, const FTT_Buffer *buffer);
int ft_buffer_put(FTT_Transport *t, const FTT_Buffer *to, size_t offset, const void *from,
                  size_t bytes, uint32_t tag, int flags, uint64_t *id);
int ft_buffer_get(FTT_Transport *t, const FTT_Buffer *from, size_t offset, void *to, size_t bytes,
                  uint32_t tag, int flags, uint64_t *id);
int ft_shelf_publish(FTT_Transport *t, const char *name, const void *addr, size_t bytes);
int ft_shelf_unpublish(FTT_Transport *t, const char *name);
int ft_shelf_fetch(FTT_Transport *t, int rank, const char *name, const FTT_Part *part, void *buf,
                   size_t bytes, int waits, uint64_t *id);

#endif
