/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rma_put.c - put and get (MPI-3.1, 11.3.1, 11.3.2, 11.3.5). Contiguous data goes straight to the engine. Where the origin is
 * not contiguous it is packed first; where the target is not, the host's packing works on the target's memory, or, if that
 * cannot be reached by loads and stores, each run of bytes is an access of its own. Both are over when the call returns, so
 * that requests are complete from the start.
 */
#include "mpi/win.h"

/* The bytes that count (> 0) elements span, relative to their address. */
static void span_of(const struct ft_type *t, int count, ptrdiff_t *from, ptrdiff_t *to)
{
    ptrdiff_t last = (ptrdiff_t)(count - 1) * t->extent;
    *from = t->true_lb + (last < 0 ? last : 0);
    *to = t->true_lb + t->true_extent + (last > 0 ? last : 0);
}

/* Each run of adjacent bytes by itself: the way to a target that is not mapped. */
static int by_runs(struct ft_window *w, int target, size_t off, const struct ft_type *t, char *data, size_t bytes, int is_put)
{
    const ptrdiff_t *at = ft_type_offsets(t, 1);
    if (!at)
        return MPI_ERR_TYPE;
    for (size_t done = 0; done < bytes;) {
        size_t i = done % t->size, n = 1, to = off + done / t->size * (size_t)t->extent + (size_t)at[i];
        while (i + n < t->size && done + n < bytes && at[i + n] == at[i] + (ptrdiff_t)n)
            n++;
        int code =
            ft_mpi_code(is_put ? ft_put(w->rma, target, to, data + done, n) : ft_get(w->rma, target, to, data + done, n));
        if (code != MPI_SUCCESS)
            return code;
        done += n;
    }
    return MPI_SUCCESS;
}

/* Between `bytes` packed at data and count elements of a non-contiguous t at the target. */
static int strided(struct ft_window *w, int target, size_t off, const struct ft_type *t, int count, char *data, size_t bytes,
                   int is_put)
{
    ptrdiff_t from, to;

    span_of(t, count, &from, &to);
    if (off > PTRDIFF_MAX || (ptrdiff_t)off + from < 0)
        return MPI_ERR_RMA_RANGE;
    size_t begin = off + (size_t)from, len = (size_t)(to - from), room = ft_win_size(w->rma, target);
    if (begin > room || len > room - begin)
        return MPI_ERR_RMA_RANGE;
    char *base = ft_win_address(w->rma, target, begin, len);
    if (!base)
        return by_runs(w, target, off, t, data, bytes, is_put);
    void *at = (void *)((uintptr_t)base - (uintptr_t)from);
    if (is_put)
        ft_unpack(t, data, bytes, at);
    else
        ft_pack(t, at, (size_t)count, data);
    return MPI_SUCCESS;
}

struct side {
    int count;
    MPI_Datatype type;
};

/* What is not contiguous on both sides. */
static int put_slowly(struct ft_window *w, const void *origin, const struct ft_type *ot, int target, size_t off,
                      const struct ft_type *tt, int tcount, size_t bytes)
{
    char *data = (char *)(uintptr_t)origin;
    if (!ot->contiguous) {
        data = ft_scratch(FT_SCRATCH_WIN, bytes);
        ft_pack(ot, origin, bytes / ot->size, data);
    }
    return tt->contiguous ? ft_mpi_code(ft_put(w->rma, target, off, data, bytes))
                          : strided(w, target, off, tt, tcount, data, bytes, 1);
}

static int get_slowly(struct ft_window *w, void *origin, const struct ft_type *ot, int target, size_t off,
                      const struct ft_type *tt, int tcount, size_t bytes)
{
    char *data = ot->contiguous ? origin : ft_scratch(FT_SCRATCH_WIN, bytes);
    int code = tt->contiguous ? ft_mpi_code(ft_get(w->rma, target, off, data, bytes))
                              : strided(w, target, off, tt, tcount, data, bytes, 0);

    if (code == MPI_SUCCESS && !ot->contiguous)
        ft_unpack(ot, data, bytes, origin);
    return code;
}

/* The common case in few instructions: as many elements of one contiguous predefined type on both sides. Returns the bytes, or
 * 0: it is not that case. */
static inline size_t plain_bytes(struct ft_window *w, struct side o, int target, MPI_Aint disp, struct side t, size_t *off)
{
    const struct ft_type *e = &ft_type_table[ft_type_hash(o.type)];

    if (FT_UNLIKELY(e->handle != o.type || o.type != t.type || !e->contiguous || o.count != t.count ||
                    ft_win_check_access(w, target, o.count, e, disp, off) != MPI_SUCCESS))
        return 0;
    return (size_t)o.count * e->size;
}

/* A transfer whose arguments were looked at. */
struct transfer {
    struct ft_type ostore, tstore;
    const struct ft_type *ot, *tt;
    size_t off, bytes; /* bytes 0: there is nothing to move */
};

/* Returns an MPI error class, for w's error handler. */
static int prepare(struct transfer *x, struct ft_window *w, struct side o, int target, MPI_Aint disp, struct side t, int is_put)
{
    x->bytes = 0;
    x->ot = ft_type_of(o.type, &x->ostore);
    x->tt = FT_LIKELY(o.type == t.type) ? x->ot : ft_type_of(t.type, &x->tstore);
    int code = ft_win_check_access(w, target, t.count, x->tt, disp, &x->off);
    if (FT_UNLIKELY(code != MPI_SUCCESS))
        return code == FT_NO_ACCESS ? MPI_SUCCESS : code;
    if (FT_UNLIKELY(o.count < 0))
        return MPI_ERR_COUNT;
    if (FT_UNLIKELY(!x->ot))
        return MPI_ERR_TYPE;
    size_t here = (size_t)o.count * x->ot->size, there = (size_t)t.count * x->tt->size;
    if (FT_UNLIKELY(is_put ? here > there : there > here))
        return MPI_ERR_TRUNCATE;
    x->bytes = is_put ? here : there;
    return MPI_SUCCESS;
}

static __attribute__((noinline)) int put(struct ft_window *w, const void *origin, struct side o, int target, MPI_Aint disp,
                                         struct side t, const char *call)
{
    struct transfer x;
    int code = prepare(&x, w, o, target, disp, t, 1);
    if (code == MPI_SUCCESS && x.bytes > 0)
        code = FT_LIKELY(x.ot->contiguous && x.tt->contiguous)
                   ? ft_mpi_code(ft_put(w->rma, target, x.off, origin, x.bytes))
                   : put_slowly(w, origin, x.ot, target, x.off, x.tt, t.count, x.bytes);
    FT_WIN_CHECK(code == MPI_SUCCESS, w, code, call);
    return MPI_SUCCESS;
}

static __attribute__((noinline)) int get(struct ft_window *w, void *origin, struct side o, int target, MPI_Aint disp,
                                         struct side t, const char *call)
{
    struct transfer x;
    int code = prepare(&x, w, o, target, disp, t, 0);
    if (code == MPI_SUCCESS && x.bytes > 0)
        code = FT_LIKELY(x.ot->contiguous && x.tt->contiguous)
                   ? ft_mpi_code(ft_get(w->rma, target, x.off, origin, x.bytes))
                   : get_slowly(w, origin, x.ot, target, x.off, x.tt, t.count, x.bytes);
    FT_WIN_CHECK(code == MPI_SUCCESS, w, code, call);
    return MPI_SUCCESS;
}

FT_MPI(int, Put,
       (const void *origin, int ocount, MPI_Datatype otype, int target, MPI_Aint disp, int tcount, MPI_Datatype ttype,
        MPI_Win win))
{
    ft_door();
    struct ft_window *w = ft_win_of(win);
    FT_WIN_OR_HOST(w, win, Put, (origin, ocount, otype, target, disp, tcount, ttype, win));
    size_t off, bytes = plain_bytes(w, (struct side){ocount, otype}, target, disp, (struct side){tcount, ttype}, &off);
    if (FT_LIKELY(bytes > 0 && ft_put(w->rma, target, off, origin, bytes) == FT_OK))
        return MPI_SUCCESS;
    return put(w, origin, (struct side){ocount, otype}, target, disp, (struct side){tcount, ttype}, "MPI_Put");
}

FT_MPI(int, Get,
       (void *origin, int ocount, MPI_Datatype otype, int target, MPI_Aint disp, int tcount, MPI_Datatype ttype, MPI_Win win))
{
    ft_door();
    struct ft_window *w = ft_win_of(win);
    FT_WIN_OR_HOST(w, win, Get, (origin, ocount, otype, target, disp, tcount, ttype, win));
    size_t off, bytes = plain_bytes(w, (struct side){ocount, otype}, target, disp, (struct side){tcount, ttype}, &off);
    if (FT_LIKELY(bytes > 0 && ft_get(w->rma, target, off, origin, bytes) == FT_OK))
        return MPI_SUCCESS;
    return get(w, origin, (struct side){ocount, otype}, target, disp, (struct side){tcount, ttype}, "MPI_Get");
}

FT_MPI(int, Rput,
       (const void *origin, int ocount, MPI_Datatype otype, int target, MPI_Aint disp, int tcount, MPI_Datatype ttype,
        MPI_Win win, MPI_Request *request))
{
    ft_door();
    struct ft_window *w = ft_win_of(win);
    FT_WIN_OR_HOST(w, win, Rput, (origin, ocount, otype, target, disp, tcount, ttype, win, request));
    int code = put(w, origin, (struct side){ocount, otype}, target, disp, (struct side){tcount, ttype}, "MPI_Rput");
    *request = code == MPI_SUCCESS ? FT_REQUEST_DONE : MPI_REQUEST_NULL;
    return code;
}

FT_MPI(int, Rget,
       (void *origin, int ocount, MPI_Datatype otype, int target, MPI_Aint disp, int tcount, MPI_Datatype ttype, MPI_Win win,
        MPI_Request *request))
{
    ft_door();
    struct ft_window *w = ft_win_of(win);
    FT_WIN_OR_HOST(w, win, Rget, (origin, ocount, otype, target, disp, tcount, ttype, win, request));
    int code = get(w, origin, (struct side){ocount, otype}, target, disp, (struct side){tcount, ttype}, "MPI_Rget");
    *request = code == MPI_SUCCESS ? FT_REQUEST_DONE : MPI_REQUEST_NULL;
    return code;
}
