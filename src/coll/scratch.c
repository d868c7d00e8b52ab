/* SPDX-License-Identifier: BSD-3-Clause
 *
 * scratch.c - working memory of collectives, and ending a process that cannot go on.
 *
 * A collective may be left by longjmp in any of its waits. So its working memory is owned here, and
 * the next collective uses it again.
 */
#include "coll/coll_internal.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/private.h"

/* Of the main thread. */
struct coll_scratch {
    void *mem;
    size_t bytes;
};
FT_STATIC(__typeof__(struct coll_scratch[4]), scratch);
#define scratch FT_MY(scratch)

void *ft_coll_scratch(int index, size_t bytes)
{
    FT_ASSERT(index >= 0 && index < (int)FT_COUNTOF(scratch));
    if (FT_LIKELY(bytes > 0 && bytes <= scratch[index].bytes))
        return scratch[index].mem;
    ft_private_disclaim(scratch[index].mem);
    free(scratch[index].mem);
    scratch[index].mem = NULL;
    scratch[index].bytes = 0;
    if (bytes == 0 || bytes > SIZE_MAX / 2)
        return NULL;
    size_t room = ft_align_up(bytes, 4096);
    scratch[index].mem = aligned_alloc(FT_CACHE_LINE, room);
    if (scratch[index].mem) {
        scratch[index].bytes = room;
        if (room >= FT_PRIVATE_LEAST)
            ft_private_claim(scratch[index].mem, room);
    }
    return scratch[index].mem;
}

void *ft_coll_need(const struct ft_ctx *c, int index, size_t bytes)
{
    FT_ASSERT(bytes > 0);
    (void)c;
    return ft_need(ft_coll_scratch(index, bytes), bytes, "the buffers of a collective");
}

static const char *kind_name(enum ft_coll_tag tag)
{
    switch (tag) {
    case FT_TAG_BARRIER: return "barrier";
    case FT_TAG_BCAST: return "bcast";
    case FT_TAG_REDUCE: return "reduce";
    case FT_TAG_ALLREDUCE: return "allreduce";
    case FT_TAG_SCAN: return "scan";
    case FT_TAG_EXSCAN: return "exscan";
    case FT_TAG_REDUCE_SCATTER: return "reduce_scatter";
    case FT_TAG_GATHER: return "gather";
    case FT_TAG_SCATTER: return "scatter";
    case FT_TAG_ALLGATHER: return "allgather";
    case FT_TAG_ALLTOALL: return "alltoall";
    }
    return "collective";
}

FT_STATE(__typeof__(void (*)(const char *what)), ft_coll_unexpected);

FT_STATE(ft_coll_mismatched_fn *, ft_coll_mismatched);

void ft_coll_mismatch(uint32_t ctx, int blocking, const char *what)
{
    if (ft_coll_unexpected)
        ft_coll_unexpected(what);
    if (ft_coll_mismatched) {
        ft_coll_mismatched(ctx, blocking, what);
        return;
    }
    dprintf(2,
            "ftrma: %s. The members passed counts or types that do not match, or made their calls "
            "in different orders. This is an "
            "error in the program, and ends this process\n",
            what);
    abort();
}

_Noreturn void ft_coll_give_up(const char *what)
{
    ft_coll_mismatch(FT_CTX_NOBODY, 1, what);
    abort(); /* there is nobody to tell */
}

void ft_coll_bad_length(const struct ft_ctx *c, enum ft_coll_tag tag, int src, size_t got,
                        size_t want)
{
    char what[200];
    snprintf(what, sizeof what,
             "%s: rank %d of the communicator sent %zu bytes (or more) where rank %d expects %zu",
             kind_name(tag), src, got, c->rank, want);
    ft_coll_mismatch(c->id, 1, what);
}

void ft_coll_came_short(const struct ft_ctx *c, enum ft_coll_tag tag, int src, void *buf,
                        size_t got, size_t want)
{
    ft_coll_bad_length(c, tag, src, got, want);
    if (got < want)
        memset((char *)buf + got, 0, want - got);
}
