/* SPDX-License-Identifier: BSD-3-Clause
 *
 * testimony.h - what votes say of the dead, and who exposes others (E1). Plain bytes, without I/O.
 *
 * Merging is commutative, associative and idempotent, so the order of votes does not matter. A
 * testimony is final, since a failed set holds only the dead. Testimonies of one slot can differ
 * only in `tag`: each checksum process of the group says it of its own latest codeword. The tag of
 * the one that leads by the decision is taken (proto/demand.h). If that one is lost, it is the tag
 * of the first one that lives and has whole codewords.
 */
#ifndef FT_PROTO_TESTIMONY_H
#define FT_PROTO_TESTIMONY_H

#include "base/testament.h"

/* So many fit into the mail of a vote. If more ranks are lost at once, it has the lowest slots. */
#ifndef FT_TESTIMONIES /* the simulator has its own */
#define FT_TESTIMONIES 8
#endif

struct ft_testimony {
    int32_t slot;
    uint32_t tag_by; /* who says `tag`: FT_TAG_BY_LEAD; FT_TAG_BY(i); 0: nobody */
    uint64_t latest, own_from, calls, position, events, heap_from, arena_at, strayed,
        log_here; /* as in its testament */
    uint64_t tag; /* the version of its image in the codeword that counts */
};
#define FT_TAG_BY_LEAD 1u
#define FT_TAG_BY(i)                                                             \
    (2u + (uint32_t)(i)) /* the i-th checksum process of the group, not its lead \
                          */
struct ft_testimonies {
    uint32_t n, pad;
    struct ft_testimony of[FT_TESTIMONIES]; /* by slot, ascending */
};

/* The process in `slot` exposes every other rank until version `until` is committed. UINT64_MAX:
 * until it says something else. until 0: it exposes nobody. slot FT_EXPOSER_ALL: it exposes its own
 * rank, too. */
#define FT_EXPOSER_ALL INT32_MAX
struct ft_exposer {
    uint64_t until;
    int32_t slot;
    uint32_t pad;
};
/* The two slots with the largest `until`. More are not needed, since two slots expose all ranks. */
struct ft_exposers {
    struct ft_exposer most[2];
};

/* Reads the testament of a dead slot. */
struct ft_testimony ft_testify(int slot, const struct ft_testament *of);
/* The version of the latest image that the lost rank's replacement is given. */
uint64_t ft_testimony_latest(const struct ft_testimony *t);
void ft_testimony_add(struct ft_testimonies *to, const struct ft_testimony *t);
void ft_testimonies_merge(struct ft_testimonies *to, const struct ft_testimonies *from);
/* NULL: no process has testified, or too many ranks were lost at once. */
const struct ft_testimony *ft_testimony_of(const struct ft_testimonies *t, int slot);
void ft_exposer_add(struct ft_exposers *to, int slot, uint64_t until);
void ft_exposers_merge(struct ft_exposers *to, const struct ft_exposers *from);
/* 1: some other process exposes the one in `slot` when `committed` is committed. */
int ft_exposers_reach(const struct ft_exposers *e, uint64_t committed, int slot);

#endif
