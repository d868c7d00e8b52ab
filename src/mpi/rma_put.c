/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rma_put.c - put and get (MPI-3.1, 11.3.1, 11.3.2, 11.3.5). Contiguous data goes straight to the
 * engine. Other layouts are traversed in parallel and moved block by block: by plain copies where
 * the target's memory can be accessed directly; otherwise each block is an access of its own. All
 * is complete when the call returns, so requests are complete from the start.
 */
#include <string.h>

#include "alog/log.h"
#include "mpi/typemap.h"
#include "mpi/win_access.h"

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
    size_t begin = off + (size_t)from, len = (size_t)(to - from),
           room = ft_win_size(w->rma, target);
    return begin <= room && len <= room - begin;
}

struct put_side {
    int count;
    MPI_Datatype type;
};

/* Where blocks lie: at equal distances, or (list not NULL) at the pieces of a layout. */
struct places {
    char *at;
    ptrdiff_t stride;
    const struct ft_piece *list;
};

static inline __attribute__((always_inline)) char *block_at(const struct places *p, size_t i)
{
    return p->at + (p->list ? p->list[i].off : (ptrdiff_t)i * p->stride);
}

/* A call of memcpy takes longer than a short copy. Where the compiler knows the length a copy is a
 * few instructions. Any other length is two of these, its first bytes and its last, which
 * overlap. */
#define EACH_BLOCK(copies)                      \
    do {                                        \
        for (size_t i = 0; i < n; i++) {        \
            char *d = block_at(&to, i);         \
            const char *s = block_at(&from, i); \
            copies;                             \
        }                                       \
    } while (0)
#define BLOCKS_OF(k) EACH_BLOCK(memcpy(d, s, k))
#define BLOCKS_UP_TO_TWICE(k) EACH_BLOCK(memcpy(d, s, k); memcpy(d + len - (k), s + len - (k), k))

/* The memory must not overlap. */
static inline __attribute__((always_inline)) void copy_each(struct places to, struct places from,
                                                            size_t len, size_t n)
{
    if (len == 4)
        BLOCKS_OF(4);
    else if (len == 8)
        BLOCKS_OF(8);
    else if (len == 16)
        BLOCKS_OF(16);
    else if (len < 8 || len > 128)
        BLOCKS_OF(len);
    else if (len < 16)
        BLOCKS_UP_TO_TWICE(8);
    else if (len <= 32)
        BLOCKS_UP_TO_TWICE(16);
    else if (len <= 64)
        BLOCKS_UP_TO_TWICE(32);
    else
        BLOCKS_UP_TO_TWICE(64);
}

static void copy_blocks(char *to, ptrdiff_t to_stride, const char *from, ptrdiff_t from_stride,
                        size_t len, size_t n)
{
    copy_each((struct places){to, to_stride, NULL},
              (struct places){(char *)(uintptr_t)from, from_stride, NULL}, len, n);
}

/* A transfer whose arguments were checked. */
struct transfer {
    struct ft_type ostore, tstore;
    const struct ft_type *ot, *tt;
    size_t off, bytes; /* bytes == 0: there is nothing to move */
};

/* Makes each block an access. Its address at the origin is a[0], its place at the target a[1]. */
static int move_step(struct ft_window *w, int target, const struct ft_step *s, int is_put)
{
    enum ft_status st = FT_OK;
    if (s->n > 1 &&
        ft_far_blocks(w->rma, target, (size_t)s->at[1], (void *)s->at[0],
                      &(struct ft_spaced){s->n, s->len, s->stride[1], s->stride[0]}, is_put))
        return MPI_SUCCESS;
    for (size_t i = 0; i < s->n && st == FT_OK; i++) {
        void *origin = (void *)(s->at[0] + (ptrdiff_t)i * s->stride[0]);
        size_t off = (size_t)(s->at[1] + (ptrdiff_t)i * s->stride[1]);
        st = is_put ? ft_put(w->rma, target, off, origin, s->len)
                    : ft_get(w->rma, target, off, origin, s->len);
    }
    return ft_mpi_code(st);
}

/* Complete elements of one layout on both sides, or (dense) of one side and data without holes on
 * the other. */
enum pieces { SAME_LAYOUT, DENSE_FROM, DENSE_TO };

/* Copies pieces that are single blocks of one length. */
static void copy_list(char *to, char *from, const struct ft_typemap *l, enum pieces how)
{
    const ptrdiff_t len = (ptrdiff_t)l->list_len;
    const struct places dense_to = {to, len, NULL}, dense_from = {from, len, NULL},
                        list_to = {to, 0, l->piece}, list_from = {from, 0, l->piece};
    if (how == SAME_LAYOUT)
        copy_each(list_to, list_from, l->list_len, l->npieces);
    else if (how == DENSE_FROM)
        copy_each(list_to, dense_from, l->list_len, l->npieces);
    else
        copy_each(dense_to, list_from, l->list_len, l->npieces);
}

static void copy_element(char *to, char *from, const struct ft_typemap *l, enum pieces how)
{
    for (const struct ft_piece *p = l->piece; p < l->piece + l->npieces; p++) {
        ptrdiff_t len = (ptrdiff_t)p->len, passed = len * (ptrdiff_t)p->n;
        if (how == SAME_LAYOUT)
            copy_blocks(to + p->off, p->stride, from + p->off, p->stride, p->len, p->n);
        else if (how == DENSE_FROM)
            copy_blocks(to + p->off, p->stride, from, len, p->len, p->n), from += passed;
        else
            copy_blocks(to, len, from + p->off, p->stride, p->len, p->n), to += passed;
    }
}

static void copy_elements(char *to, char *from, const struct ft_type *t, const struct ft_typemap *l,
                          int count, enum pieces how)
{
    ptrdiff_t to_next = how == DENSE_TO ? (ptrdiff_t)t->size : t->extent;
    ptrdiff_t from_next = how == DENSE_FROM ? (ptrdiff_t)t->size : t->extent;
    if (l->npieces == 1 && l->piece[0].n == 1) { /* each element is one block */
        ptrdiff_t off = l->piece[0].off;
        copy_blocks(how == DENSE_TO ? to : to + off, to_next, how == DENSE_FROM ? from : from + off,
                    from_next, l->piece[0].len, (size_t)count);
        return;
    }
    for (int e = 0; e < count; e++, to += to_next, from += from_next) {
        if (l->list_len)
            copy_list(to, from, l, how);
        else
            copy_element(to, from, l, how);
    }
}

/* Returns 0 if the two sides have different layouts; then cursors have begun on both. */
static int move_elements(char *origin, struct put_side o, char *target, struct put_side t,
                         const struct transfer *x, int is_put)
{
    const struct ft_type *type = x->tt;
    int count = t.count, dense = 0; /* dense: this side, 1 the origin, 2 the target */
    if (x->ot->contiguous && x->bytes == (size_t)t.count * x->tt->size)
        dense = 1;
    else if (x->tt->contiguous && x->bytes == (size_t)o.count * x->ot->size)
        type = x->ot, count = o.count, dense = 2;
    else if (x->ot->handle != x->tt->handle || o.count != t.count)
        return 0;
    enum pieces how = !dense ? SAME_LAYOUT : (dense == 1) == is_put ? DENSE_FROM : DENSE_TO;
    copy_elements(is_put ? target : origin, is_put ? origin : target, type,
                  ft_typemap_of(type, FT_BY_BYTES), count, how);
    return 1;
}

/* Moves data that is not contiguous on both sides. */
static int move_slowly(struct ft_window *w, void *origin, struct put_side o, int target,
                       struct put_side t, const struct transfer *x, int is_put)
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
    if (!ft_cursor_begin(&oc, x->ot, FT_BY_BYTES, (size_t)o.count, (ptrdiff_t)origin) ||
        !ft_cursor_begin(&tc, x->tt, FT_BY_BYTES, (size_t)t.count, base))
        return MPI_ERR_TYPE;
    if (first && move_elements(origin, o, (char *)base, t, x, is_put))
        return MPI_SUCCESS;
    for (size_t done = 0; done < x->bytes && code == MPI_SUCCESS; done += s.n * s.len) {
        ft_cursor_step(&oc, &tc, &s);
        if (!first)
            code = move_step(w, target, &s, is_put);
        else if (is_put)
            copy_blocks((char *)s.at[1], s.stride[1], (const char *)s.at[0], s.stride[0], s.len,
                        s.n);
        else
            copy_blocks((char *)s.at[0], s.stride[0], (const char *)s.at[1], s.stride[1], s.len,
                        s.n);
    }
    return code;
}

/* The common case in few instructions: the same number of elements of one contiguous predefined
 * type on both sides. Returns the bytes; 0: it is not that case. */
static inline size_t plain_bytes(struct ft_window *w, struct put_side o, int target, MPI_Aint disp,
                                 struct put_side t, size_t *off)
{
    const struct ft_type *e = &ft_type_table[ft_type_hash(o.type)];

    if (FT_UNLIKELY(e->handle != o.type || o.type != t.type || !e->contiguous ||
                    o.count != t.count ||
                    ft_win_check_access(w, target, o.count, e, disp, off) != MPI_SUCCESS))
        return 0;
    return (size_t)o.count * e->size;
}

/* Returns an MPI error class, for w's error handler. */
static int prepare(struct transfer *x, struct ft_window *w, struct put_side o, int target,
                   MPI_Aint disp, struct put_side t, int is_put)
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

/* With FTRMA_CHECK=data a hash of what is put is compared, and padding holds no value (R0): so
 * zeros are put there. */
static const void *without_padding(struct transfer *x, const void *origin, struct put_side o)
{
    if (!x->ot->padded)
        return origin;
    void *packed = ft_scratch(FT_SCRATCH_SEND, x->bytes);
    struct ft_type dense = *x->ot;
    ft_pack(x->ot, origin, (size_t)o.count, packed);
    dense.contiguous = 1;
    dense.true_lb = 0;
    dense.extent = dense.true_extent = (ptrdiff_t)dense.size;
    if (x->tt == &x->ostore) { /* both sides share it */
        x->tstore = *x->tt;
        x->tt = &x->tstore;
    }
    x->ostore = dense;
    x->ot = &x->ostore;
    return packed;
}

static __attribute__((noinline)) int put(struct ft_window *w, const void *origin, struct put_side o,
                                         int target, MPI_Aint disp, struct put_side t,
                                         const char *call)
{
    struct transfer x;
    int code = prepare(&x, w, o, target, disp, t, 1);
    if (FT_UNLIKELY(ft_check_data) && code == MPI_SUCCESS && x.bytes > 0)
        origin = without_padding(&x, origin, o);
    if (code == MPI_SUCCESS && x.bytes > 0)
        code = FT_LIKELY(x.ot->contiguous && x.tt->contiguous)
                   ? ft_mpi_code(ft_put(w->rma, target, x.off, origin, x.bytes))
                   : move_slowly(w, (void *)(uintptr_t)origin, o, target, t, &x, 1);
    FT_WIN_CHECK(code == MPI_SUCCESS, w, code, call);
    return MPI_SUCCESS;
}

static __attribute__((noinline)) int get(struct ft_window *w, void *origin, struct put_side o,
                                         int target, MPI_Aint disp, struct put_side t,
                                         const char *call)
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
       (const void *origin, int ocount, MPI_Datatype otype, int target, MPI_Aint disp, int tcount,
        MPI_Datatype ttype, MPI_Win win))
{
    ft_door();
    struct ft_window *w = ft_win_of(win);
    FT_WIN_OR_HOST(w, win, Put, (origin, ocount, otype, target, disp, tcount, ttype, win));
    size_t off, bytes = plain_bytes(w, (struct put_side){ocount, otype}, target, disp,
                                    (struct put_side){tcount, ttype}, &off);
    if (FT_LIKELY(bytes > 0 && ft_put(w->rma, target, off, origin, bytes) == FT_OK))
        return MPI_SUCCESS;
    return put(w, origin, (struct put_side){ocount, otype}, target, disp,
               (struct put_side){tcount, ttype}, "MPI_Put");
}

FT_MPI(int, Get,
       (void *origin, int ocount, MPI_Datatype otype, int target, MPI_Aint disp, int tcount,
        MPI_Datatype ttype, MPI_Win win))
{
    ft_door();
    struct ft_window *w = ft_win_of(win);
    FT_WIN_OR_HOST(w, win, Get, (origin, ocount, otype, target, disp, tcount, ttype, win));
    size_t off, bytes = plain_bytes(w, (struct put_side){ocount, otype}, target, disp,
                                    (struct put_side){tcount, ttype}, &off);
    if (FT_LIKELY(bytes > 0 && ft_get(w->rma, target, off, origin, bytes) == FT_OK))
        return MPI_SUCCESS;
    return get(w, origin, (struct put_side){ocount, otype}, target, disp,
               (struct put_side){tcount, ttype}, "MPI_Get");
}

FT_MPI(int, Rput,
       (const void *origin, int ocount, MPI_Datatype otype, int target, MPI_Aint disp, int tcount,
        MPI_Datatype ttype, MPI_Win win, MPI_Request *request))
{
    ft_door();
    struct ft_window *w = ft_win_of(win);
    FT_WIN_OR_HOST(w, win, Rput,
                   (origin, ocount, otype, target, disp, tcount, ttype, win, request));
    int code = ft_win_check_request(w, target);
    FT_WIN_CHECK(code == MPI_SUCCESS, w, code, "MPI_Rput");
    code = put(w, origin, (struct put_side){ocount, otype}, target, disp,
               (struct put_side){tcount, ttype}, "MPI_Rput");
    *request = code == MPI_SUCCESS ? FT_REQUEST_DONE : MPI_REQUEST_NULL;
    return code;
}

FT_MPI(int, Rget,
       (void *origin, int ocount, MPI_Datatype otype, int target, MPI_Aint disp, int tcount,
        MPI_Datatype ttype, MPI_Win win, MPI_Request *request))
{
    ft_door();
    struct ft_window *w = ft_win_of(win);
    FT_WIN_OR_HOST(w, win, Rget,
                   (origin, ocount, otype, target, disp, tcount, ttype, win, request));
    int code = ft_win_check_request(w, target);
    FT_WIN_CHECK(code == MPI_SUCCESS, w, code, "MPI_Rget");
    code = get(w, origin, (struct put_side){ocount, otype}, target, disp,
               (struct put_side){tcount, ttype}, "MPI_Rget");
    if (code == MPI_SUCCESS && target != MPI_PROC_NULL)
        ft_win_flush_local(w->rma, target);
    *request = code == MPI_SUCCESS ? FT_REQUEST_DONE : MPI_REQUEST_NULL;
    return code;
}
