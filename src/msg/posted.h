/* SPDX-License-Identifier: BSD-3-Clause
 *
 * posted.h - receives that wait for their messages. Each is in one list, in the order of posting:
 * that of any source, its source's list of any tag, or one of the table, by source, context and
 * tag. So a message finds its receive among many as fast as among few.
 */
#ifndef FT_MSG_POSTED_H
#define FT_MSG_POSTED_H

#include "msg/msg_internal.h"

static inline struct ft_reqlist *ft_tagged(int source, uint32_t ctx, int tag)
{
    return &ft_m.tagged[((uint32_t)tag + ctx * 37u + (uint32_t)source * 131u) % FT_TAGGED];
}
void ft_post(struct ft_req *req);
void ft_unpost(struct ft_req *req);

#endif
