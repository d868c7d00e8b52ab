/* SPDX-License-Identifier: BSD-3-Clause
 *
 * tables.h - what lies in a process's arena beside its dock (transport/dock.h), for endpoints of
 * the same node: its public buffers, and names of published memory.
 */
#ifndef FT_FTT_TABLES_H
#define FT_FTT_TABLES_H

#include "ftt/stall.h"

#define FT_BUFFERS 4096
struct ft_public {           /* written by its owner, serial last */
    _Atomic uint32_t serial; /* 0: free */
    uint16_t is_private;     /* `at` is an address in the owner's own memory; else in its arena */
    uint16_t is_block;       /* of FTT_Alloc: an arena's block, which FTT_Release frees */
    uint64_t at, bytes;
};
struct ft_tables {
    FT_ALIGNED_LINE struct ft_public buffer[FT_BUFFERS];
    FT_ALIGNED_LINE struct ft_stall stall[FT_STALLS];
};

#endif
