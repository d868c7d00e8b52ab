/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rma_put.c - put and get (MPI-3.1, 11.3.1, 11.3.2, 11.3.5). Contiguous data goes straight to the engine; other layouts are
 * passed side by side and moved block by block: by plain copies where the target's memory can be used so, else each block is an
 * access of its own. All is over when the call returns, so that requests are complete from the start.
 */
#include <string.h>

#include "mpi/layout.h"
#include "mpi/win.h"

/* The bytes that count (> 0) elements span, relative to their address. */
static void span_of(const struct ft_type *t, int count, ptrdiff_t *from, ptrdiff_t *to)
{
    ptrdiff_t last = (ptrdiff_t)(count - 1) * t->extent;
    *from = t->true_lb + (last < 0 ? last : 0);
    *to = t->true_lb + t->true_extent + (last > 0 ? last : 0);
}

int ft_win_holds(struct ft_window *w, int target, size_t off, const struct ft_type *t, int count)
{
    ptrdiff_t from, to;

    span_of(t, count, &from, &to);
    if (off > PTRDIFF_MAX || (ptrdiff_t)off + from < 0)
        return 0;
    size_t begin = off + (size_t)from, len = (size_t)(to - from), room = ft_win_size(w->rma, target);
    return begin <= room && len <= room - begin;
}

struct side {
    int count;
    MPI_Datatype type;
};

/* Blocks whose length the compiler knows are copied by a few instructions. */
#define COPY_BLOCKS(len)                                                                                                         \
    for (size_t i = 0; i < n; i++)                                                                                               \
    memcpy(to + (ptrdiff_t)i * to_stride, from + (ptrdiff_t)i * from_stride, len)

static void copy_blocks(char *to, ptrdiff_t to_stride, const char *from, ptrdiff_t from_stride, size_t len, size_t n)
{
    switch (len) {
    case 4: COPY_BLOCKS(4); break;
    case 8: COPY_BLOCKS(8); break;
    case 16: COPY_BLOCKS(16); break;
    default: COPY_BLOCKS(len);
    }
}

/* A transfer whose arguments were looked at. */
struct transfer {
    struct ft_type ostore, tstore;
    const struct ft_type *ot, *tt;
    size_t off, bytes; /* bytes 0: there is nothing to move */
};

/* Each block an access; its address at the origin is a[0], its place at the target a[1]. */
static int move_step(struct ft_window *w, int target, const struct ft_step *s, int is_put)
{
    enum ft_status st = FT_OK;
    for (size_t i = 0; i < s->n && st == FT_OK; i++) {
        void *origin = (void *)(s->at[0] + (ptrdiff_t)i * s->stride[0]);
        size_t off = (size_t)(s->at[1] + (ptrdiff_t)i * s->stride[1]);
        st = is_put ? ft_put(w->rma, target, off, origin, s->len) : ft_get(w->rma, target, off, origin, s->len);
    }
    return ft_mpi_code(st);
}

/* Between data without holes and whole elements of a layout whose memory can be used. */
static void move_pieces(char *data, char *elements, const struct ft_type *t, const struct ft_layout *l, int count,
                        int into_elements)
{
    for (int e = 0; e < count; e++, elements += t->extent)
        for (const struct ft_piece *p = l->piece; p < l->piece + l->npieces; data += p->n * p->len, p++) {
            if (into_elements)
                copy_blocks(elements + p->off, p->stride, data, (ptrdiff_t)p->len, p->len, p->n);
            else
                copy_blocks(data, (ptrdiff_t)p->len, elements + p->off, p->stride, p->len, p->n);
        }
}

/* What is not contiguous on both sides. */
static int move_slowly(struct ft_window *w, void *origin, struct side o, int target, struct side t, const struct transfer *x,
                       int is_put)
{
    struct ft_cursor oc, tc;
    struct ft_step s;
    ptrdiff_t from, to;
    int code = MPI_SUCCESS;

    if (!ft_win_holds(w, target, x->off, x->tt, t.count))
        return MPI_ERR_RMA_RANGE;
    span_of(x->tt, t.count, &from, &to);
    char *first = ft_win_address(w->rma, target, x->off + (size_t)from, (size_t)(to - from));
    ptrdiff_t base = first ? (ptrdiff_t)first - from : (ptrdiff_t)x->off;
    if (!ft_cursor_begin(&oc, x->ot, 0, (size_t)o.count, (ptrdiff_t)origin) ||
        !ft_cursor_begin(&tc, x->tt, 0, (size_t)t.count, base))
        return MPI_ERR_TYPE;
    if (first && x->ot->contiguous && x->bytes == (size_t)t.count * x->tt->size) {
        move_pieces(origin, (char *)base, x->tt, ft_layout_of(x->tt, 0), t.count, is_put);
        return MPI_SUCCESS;
    }
    for (size_t done = 0; done < x->bytes && code == MPI_SUCCESS; done += s.n * s.len) {
        ft_cursor_step(&oc, &tc, &s);
        if (!first)
            code = move_step(w, target, &s, is_put);
        else if (is_put)
            copy_blocks((char *)s.at[1], s.stride[1], (const char *)s.at[0], s.stride[0], s.len, s.n);
        else
            copy_blocks((char *)s.at[0], s.stride[0], (const char *)s.at[1], s.stride[1], s.len, s.n);
    }
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
                   : move_slowly(w, (void *)(uintptr_t)origin, o, target, t, &x, 1);
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
                   : move_slowly(w, origin, o, target, t, &x, 0);
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
    int code = ft_win_check_request(w, target);
    FT_WIN_CHECK(code == MPI_SUCCESS, w, code, "MPI_Rput");
    code = put(w, origin, (struct side){ocount, otype}, target, disp, (struct side){tcount, ttype}, "MPI_Rput");
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
    int code = ft_win_check_request(w, target);
    FT_WIN_CHECK(code == MPI_SUCCESS, w, code, "MPI_Rget");
    code = get(w, origin, (struct side){ocount, otype}, target, disp, (struct side){tcount, ttype}, "MPI_Rget");
    *request = code == MPI_SUCCESS ? FT_REQUEST_DONE : MPI_REQUEST_NULL;
    return code;
}
