/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rma_accumulate.c - accumulate, get_accumulate and their request forms (MPI-3.1, 11.3.4, 11.3.5).
 * The engine combines elements of one predefined type that lie at equal distances. A derived
 * datatype at the target is a series of such runs; one at the origin or for the result is first
 * converted to that form.
 */
#include "mpi/rma_op.h"
#include "mpi/typemap.h"
#include "mpi/win_access.h"

struct buffer {
    void *addr;
    int count;
    MPI_Datatype type;
};

/* Returns the n elements of a buffer at stride distances: in place, or in scratch memory. */
static const char *load(const struct buffer *b, const struct ft_type *t,
                        const struct ft_type *basic, size_t n, size_t stride)
{
    if (t->handle == basic->handle || (t->contiguous && basic->contiguous))
        return b->addr;
    char *out = ft_scratch(FT_SCRATCH_REDUCE_IN, n * stride);
    if (basic->contiguous) {
        ft_pack(t, b->addr, (size_t)b->count, out);
        return out;
    }
    char *packed = ft_scratch(FT_SCRATCH_WIN, n * basic->size);
    ft_pack(t, b->addr, (size_t)b->count, packed);
    ft_unpack(basic, packed, n * basic->size, out);
    return out;
}

void ft_rma_store(void *to, const struct ft_type *t, const struct ft_type *basic, size_t n,
                  const char *from)
{
    const char *packed = from;
    if (!basic->contiguous) {
        char *room = ft_scratch(FT_SCRATCH_WIN, n * basic->size);
        ft_pack(basic, from, n, room);
        packed = room;
    }
    ft_unpack(t, packed, n * basic->size, to);
}

/* n elements at the target, in the order of its datatype. */
static int combine(struct ft_window *w, int target, size_t off, const struct ft_type *t,
                   const struct ft_type *basic, const char *origin, char *result, size_t n,
                   const struct ft_rma_op *op)
{
    size_t stride = op->stride;
    if (t->handle == basic->handle || (t->contiguous && basic->contiguous))
        return ft_mpi_code(
            ft_accumulate(w->rma, target, off, origin, result, n, stride, op->reducer));

    struct ft_cursor c;
    struct ft_step s;
    enum ft_status st = FT_OK;
    if (!ft_cursor_begin(&c, t, FT_BY_ELEMENT, 0, (ptrdiff_t)off))
        return MPI_ERR_TYPE;
    for (size_t done = 0; done < n && st == FT_OK;) {
        ft_cursor_step(&c, NULL, &s);
        for (size_t i = 0, each = s.len / stride; i < s.n && done < n && st == FT_OK;
             i++, done += each)
            st = ft_accumulate(w->rma, target, (size_t)(s.at[0] + (ptrdiff_t)i * s.stride[0]),
                               origin ? origin + done * stride : NULL,
                               result ? result + done * stride : NULL, each, stride, op->reducer);
    }
    return ft_mpi_code(st);
}

static const struct ft_type *basic_of(const struct ft_type *t)
{
    const struct ft_typemap *l = ft_typemap_of(t, FT_BY_BYTES);
    return l ? l->basic : NULL;
}

/* All sides must have the same predefined type. Programs may name one type in two ways; this is
 * accepted. */
static int of_like_size(const struct ft_type *t, const struct ft_type *basic)
{
    const struct ft_type *b = !t || t->predefined || t->size == 0 ? t : basic_of(t);
    return b && (b->size == basic->size || b->size == 0);
}

/* For a derived datatype on any side. result->addr is NULL when no result is wanted. */
static int combine_slowly(struct ft_window *w, const struct buffer *o, const struct ft_type *ot,
                          const struct buffer *r, int target, size_t off, const struct buffer *t,
                          const struct ft_type *tt, const struct ft_type *basic,
                          const struct ft_rma_op *op)
{
    struct ft_type rstore;
    const struct ft_type *rt = r ? ft_type_of(r->type, &rstore) : NULL;
    size_t n = (size_t)t->count * tt->size / basic->size;
    char *result = NULL;

    if (r && r->count < 0)
        return MPI_ERR_COUNT;
    if ((r && !of_like_size(rt, basic)) || (!op->reads_only && !of_like_size(ot, basic)))
        return MPI_ERR_TYPE;
    if (r && ((size_t)r->count * rt->size < n * basic->size))
        return MPI_ERR_TRUNCATE;
    if (!op->reads_only && (size_t)o->count * ot->size != (size_t)t->count * tt->size)
        return MPI_ERR_TRUNCATE;
    int direct = r && rt->contiguous && basic->contiguous; /* else its holes are the program's */
    if (r)
        result = direct ? r->addr : ft_scratch(FT_SCRATCH_REDUCE_OUT, n * op->stride);
    int code = combine(w, target, off, tt, basic,
                       op->reads_only ? NULL : load(o, ot, basic, n, op->stride), result, n, op);
    if (code == MPI_SUCCESS && r && !direct) {
        ft_win_flush_local(w->rma, target);
        ft_rma_store(r->addr, rt, basic, n, result);
    }
    return code;
}

/* r: the buffer for the old contents, or NULL. */
static int accumulate(struct ft_window *w, struct buffer o, const struct buffer *r, int target,
                      MPI_Aint disp, struct buffer t, MPI_Op op, const char *call)
{
    struct ft_type ostore, tstore;
    const struct ft_type *tt = ft_type_of(t.type, &tstore), *ot = o.type == t.type ? tt : NULL,
                         *basic;
    struct ft_rma_op rop;
    size_t off;
    int code = ft_win_check_access(w, target, t.count, tt, disp, &off);

    if (FT_UNLIKELY(code == FT_NO_ACCESS))
        return MPI_SUCCESS;
    FT_WIN_CHECK(code == MPI_SUCCESS, w, code, call);
    FT_WIN_CHECK(op != MPI_OP_NULL && (op != MPI_NO_OP || r), w, MPI_ERR_OP, call);
    if (op != MPI_NO_OP) { /* otherwise the origin's arguments have no meaning */
        FT_WIN_CHECK(o.count >= 0, w, MPI_ERR_COUNT, call);
        ot = ot ? ot : ft_type_of(o.type, &ostore);
        FT_WIN_CHECK(ot, w, MPI_ERR_TYPE, call);
    }
    if (t.count == 0 || tt->size == 0)
        return MPI_SUCCESS;
    basic = FT_LIKELY(tt->predefined) ? tt : basic_of(tt);
    FT_WIN_CHECK(basic, w, MPI_ERR_TYPE, call);
    FT_WIN_CHECK(tt->contiguous || ft_win_holds(w, target, off, tt, t.count), w, MPI_ERR_RMA_RANGE,
                 call);
    code = ft_rma_op(op, basic, &rop);
    FT_WIN_CHECK(code == MPI_SUCCESS, w, code, call);
    if (FT_LIKELY(tt == basic && ot == basic && o.count == t.count && !rop.reads_only && !r))
        code = ft_mpi_code(ft_accumulate(w->rma, target, off, o.addr, NULL, (size_t)t.count,
                                         rop.stride, rop.reducer));
    else
        code = combine_slowly(w, &o, ot, r, target, off, &t, tt, basic, &rop);
    FT_WIN_CHECK(code == MPI_SUCCESS, w, code, call);
    return MPI_SUCCESS;
}

#define ORIGIN ((struct buffer){(void *)(uintptr_t)origin, ocount, otype})
#define RESULT (&(struct buffer){result, rcount, rtype})
#define TARGET ((struct buffer){NULL, tcount, ttype})

FT_MPI(int, Accumulate,
       (const void *origin, int ocount, MPI_Datatype otype, int target, MPI_Aint disp, int tcount,
        MPI_Datatype ttype, MPI_Op op, MPI_Win win))
{
    ft_door();
    struct ft_window *w = ft_win_of(win);
    FT_WIN_OR_HOST(w, win, Accumulate,
                   (origin, ocount, otype, target, disp, tcount, ttype, op, win));
    return accumulate(w, ORIGIN, NULL, target, disp, TARGET, op, "MPI_Accumulate");
}

FT_MPI(int, Get_accumulate,
       (const void *origin, int ocount, MPI_Datatype otype, void *result, int rcount,
        MPI_Datatype rtype, int target, MPI_Aint disp, int tcount, MPI_Datatype ttype, MPI_Op op,
        MPI_Win win))
{
    ft_door();
    struct ft_window *w = ft_win_of(win);
    FT_WIN_OR_HOST(
        w, win, Get_accumulate,
        (origin, ocount, otype, result, rcount, rtype, target, disp, tcount, ttype, op, win));
    return accumulate(w, ORIGIN, RESULT, target, disp, TARGET, op, "MPI_Get_accumulate");
}

FT_MPI(int, Raccumulate,
       (const void *origin, int ocount, MPI_Datatype otype, int target, MPI_Aint disp, int tcount,
        MPI_Datatype ttype, MPI_Op op, MPI_Win win, MPI_Request *request))
{
    ft_door();
    struct ft_window *w = ft_win_of(win);
    FT_WIN_OR_HOST(w, win, Raccumulate,
                   (origin, ocount, otype, target, disp, tcount, ttype, op, win, request));
    int code = ft_win_check_request(w, target);
    FT_WIN_CHECK(code == MPI_SUCCESS, w, code, "MPI_Raccumulate");
    code = accumulate(w, ORIGIN, NULL, target, disp, TARGET, op, "MPI_Raccumulate");
    *request = code == MPI_SUCCESS ? FT_REQUEST_DONE : MPI_REQUEST_NULL;
    return code;
}

FT_MPI(int, Rget_accumulate,
       (const void *origin, int ocount, MPI_Datatype otype, void *result, int rcount,
        MPI_Datatype rtype, int target, MPI_Aint disp, int tcount, MPI_Datatype ttype, MPI_Op op,
        MPI_Win win, MPI_Request *request))
{
    ft_door();
    struct ft_window *w = ft_win_of(win);
    FT_WIN_OR_HOST(w, win, Rget_accumulate,
                   (origin, ocount, otype, result, rcount, rtype, target, disp, tcount, ttype, op,
                    win, request));
    int code = ft_win_check_request(w, target);
    FT_WIN_CHECK(code == MPI_SUCCESS, w, code, "MPI_Rget_accumulate");
    code = accumulate(w, ORIGIN, RESULT, target, disp, TARGET, op, "MPI_Rget_accumulate");
    if (code == MPI_SUCCESS && target != MPI_PROC_NULL)
        ft_win_flush_local(w->rma, target);
    *request = code == MPI_SUCCESS ? FT_REQUEST_DONE : MPI_REQUEST_NULL;
    return code;
}
