/* SPDX-License-Identifier: BSD-3-Clause
 *
 * counts.h - counts what goes to another node.
 */
#ifndef FT_GATE_COUNTS_H
#define FT_GATE_COUNTS_H

#include "base/link_counts.h"

/* A frame of these bytes, which consists of items, was handed to the wire. The caller is the only
 * writer of c. */
void ft_counts_frame(struct ft_link_counts *c, const char *data, uint32_t bytes);

#endif
