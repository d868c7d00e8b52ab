/* SPDX-License-Identifier: BSD-3-Clause
 *
 * stall.h - the names of a rank's published memory that lies in its arena: others look a name up and
 * copy the memory by themselves. A table in the publisher's arena, in buckets by the name's hash.
 *
 * An entry is a table that changes (HACKING, memory order). Only its owner writes it: serial away,
 * contents, then a serial that it has never had. A reader copies and then looks whether the serial
 * is the same: else what it has copied counts for nothing. So nobody waits for anybody, and nothing
 * has to be repaired when either dies at any place: an owner that dies inside leaves serial 0, and
 * a reader writes nothing. Entries hold no pointers: what is read is checked against the arena.
 */
#ifndef FT_FTT_STALL_H
#define FT_FTT_STALL_H

#include "base/base.h"

#define FT_STALLS 1024 /* more names are told by the publisher alone */
#define FT_STALL_BUCKET 4
#define FT_STALL_NAME 96

struct ft_stall {
    FT_ALIGNED_LINE _Atomic uint64_t serial; /* 0: free */
    uint32_t hash, pad;
    uint64_t at, bytes; /* in the owner's arena */
    char name[FT_STALL_NAME];
};

static inline uint32_t ft_name_hash(const char *name)
{
    uint32_t h = 2166136261u;
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 16777619u;
    return h;
}

/* Owner: lists a name that is not listed. serial: never used before. Returns 0 if its bucket is
 * full. */
int ft_stall_list(struct ft_stall *table, uint32_t hash, const char *name, uint64_t at,
                  uint64_t bytes, uint64_t serial);
/* Owner: on return whoever still copies this memory will see that it no longer counts. */
void ft_stall_withdraw(struct ft_stall *table, uint32_t hash, const char *name);

struct ft_stall_view {
    const struct ft_stall *of;
    uint64_t serial, at, bytes;
};
/* Reader: what is listed under this name. 0: nothing. */
int ft_stall_look(const struct ft_stall *table, uint32_t hash, const char *name,
                  struct ft_stall_view *out);
/* Reader: whether all that was read since ft_stall_look counts. */
int ft_stall_holds(const struct ft_stall_view *v);

#endif
