/* SPDX-License-Identifier: BSD-3-Clause
 *
 * typemap.c - decomposes datatypes by MPI's decoding calls (MPI-3.1, 4.1.13) into pieces of bytes.
 * Equal blocks at equal distances are one piece, so vectors and subarrays stay small.
 */
#include <float.h>
#include <stdlib.h>

#include "mpi/typemap.h"

/* ---- pieces ---- */

/* The number of blocks that make a piece of several: shorter runs, which any list of blocks has,
 * cost more than they save. */
#define FOLDED 16

/* The last block is complete. If it continues the previous piece, it is added there. If it is the
 * last of enough blocks at equal distances, these become one piece. */
static void fold(struct ft_typemap *l)
{
    if (l->npieces < 2) {
        l->run = 1;
        return;
    }
    struct ft_piece *last = &l->piece[l->npieces - 1], *p = last - 1;
    ptrdiff_t apart = last->off - p->off;
    int alike = last->n == 1 && p->len == last->len;
    if (alike && p->n > 1 && apart == (ptrdiff_t)p->n * p->stride) {
        p->n++;
        l->npieces--;
        return;
    }
    if (!alike || p->n > 1)
        l->run = 1;
    else if (l->run == 1 || apart == p->off - p[-1].off)
        l->run++;
    else
        l->run = 2;
    if (l->run < FOLDED)
        return;
    l->npieces -= FOLDED - 1;
    last -= FOLDED - 1;
    last->stride = apart;
    last->n = FOLDED;
}

static size_t list_len(const struct ft_typemap *l)
{
    size_t len = l->npieces ? l->piece[0].len : 0;
    for (const struct ft_piece *p = l->piece; p < l->piece + l->npieces; p++)
        if (p->n != 1 || p->len != len)
            return 0;
    return len;
}

static int append(struct ft_typemap *l, ptrdiff_t off, size_t len)
{
    struct ft_piece *last = l->npieces ? &l->piece[l->npieces - 1] : NULL;

    if (len == 0)
        return 1;
    if (last && last->n == 1 && off == last->off + (ptrdiff_t)last->len) {
        last->len += len;
        return 1;
    }
    fold(l);
    if (l->npieces == l->room) {
        size_t room = 2 * l->room + 4;
        struct ft_piece *more = realloc(l->piece, room * sizeof *more);
        if (!more)
            return 0;
        l->piece = more;
        l->room = room;
    }
    l->piece[l->npieces++] = (struct ft_piece){.off = off, .len = len, .n = 1};
    return 1;
}

/* Determines of which predefined type the parts of a datatype consist. */
static void join_basic(struct ft_typemap *l, const struct ft_typemap *part)
{
    l->mixed |= part->mixed || (l->basic && part->basic && l->basic != part->basic);
    l->basic = l->mixed ? NULL : part->basic ? part->basic : l->basic;
}

/* n elements, `extent` apart, the first at off. */
static int repeat(struct ft_typemap *l, const struct ft_typemap *e, ptrdiff_t extent, ptrdiff_t off,
                  size_t n)
{
    int ok = 1;

    if (n == 0)
        return 1;
    join_basic(l, e);
    if (e->npieces == 1 && e->piece[0].n == 1 && (ptrdiff_t)e->piece[0].len == extent)
        return append(l, off + e->piece[0].off, n * e->piece[0].len);
    for (size_t i = 0; i < n; i++, off += extent)
        for (const struct ft_piece *p = e->piece; p < e->piece + e->npieces; p++)
            for (size_t k = 0; k < p->n && ok; k++)
                ok = append(l, off + p->off + (ptrdiff_t)k * p->stride, p->len);
    return ok;
}

/* ---- arrays: subarray and darray ---- */
#define DIMS_MAX 64

/* Of `size` indices those in blocks that begin at start, start + period, ... */
struct dim {
    ptrdiff_t size, start, block, period;
};

/* d[0] has the largest distance between neighbouring indices. */
static int grid(struct ft_typemap *l, const struct ft_typemap *e, ptrdiff_t extent, int n,
                const struct dim *d, ptrdiff_t off)
{
    ptrdiff_t way = extent;
    int ok = 1;

    if (n < 1)
        return 1; /* Open MPI accepts an array without dimensions */
    for (int i = 1; i < n; i++)
        way *= d[i].size;
    for (ptrdiff_t first = d->start; first < d->size && ok; first += d->period) {
        ptrdiff_t len = d->block < d->size - first ? d->block : d->size - first;
        if (n == 1)
            ok = repeat(l, e, extent, off + first * way, (size_t)len);
        for (ptrdiff_t i = first; n > 1 && i < first + len && ok; i++)
            ok = grid(l, e, extent, n - 1, d + 1, off + i * way);
    }
    return ok;
}

static int add_grid(struct ft_typemap *l, const struct ft_typemap *e, ptrdiff_t extent, int n,
                    struct dim *d, int order)
{
    for (int i = 0; order == MPI_ORDER_FORTRAN && i < n / 2; i++) {
        struct dim other = d[i];
        d[i] = d[n - 1 - i];
        d[n - 1 - i] = other;
    }
    return grid(l, e, extent, n, d, 0);
}

static int add_subarray(struct ft_typemap *l, const struct ft_typemap *e, ptrdiff_t extent,
                        const int *i)
{
    struct dim d[DIMS_MAX];
    int n = i[0];

    if (n > DIMS_MAX)
        return 0;
    for (int k = 0; k < n; k++)
        d[k] = (struct dim){
            .size = i[1 + k], .block = i[1 + n + k], .start = i[1 + 2 * n + k], .period = i[1 + k]};
    return add_grid(l, e, extent, n, d, i[1 + 3 * n]);
}

static int add_darray(struct ft_typemap *l, const struct ft_typemap *e, ptrdiff_t extent,
                      const int *i)
{
    struct dim d[DIMS_MAX];
    int n = i[2], rank = i[1];
    const int *size = i + 3, *how = size + n, *arg = how + n, *grid_size = arg + n;

    if (n > DIMS_MAX)
        return 0;
    for (int k = n - 1; k >= 0; k--) { /* processes are numbered row by row */
        ptrdiff_t at = rank % grid_size[k], across = grid_size[k], block = arg[k];
        rank /= grid_size[k];
        if (how[k] == MPI_DISTRIBUTE_NONE)
            at = 0, across = 1, block = size[k];
        else if (block == MPI_DISTRIBUTE_DFLT_DARG)
            block = how[k] == MPI_DISTRIBUTE_BLOCK ? (size[k] + across - 1) / across : 1;
        d[k] = (struct dim){
            .size = size[k], .start = at * block, .block = block, .period = across * block};
    }
    return add_grid(l, e, extent, n, d, grid_size[n]);
}

/* ---- constructors ---- */
struct content {
    int *i, nints, ntypes, combiner;
    MPI_Aint *a;
    MPI_Datatype *t;
};

static int build(MPI_Datatype t, enum ft_blocks blocks, struct ft_typemap *l);

/* Blocks of different lengths and places: lengths len[i], displacements disp[i] in elements or a[i]
 * in bytes. */
static int add_blocks(struct ft_typemap *l, const struct ft_typemap *e, ptrdiff_t extent, int n,
                      const int *len, int each, const int *disp, const MPI_Aint *a)
{
    int ok = 1;
    for (int k = 0; k < n && ok; k++)
        ok = repeat(l, e, extent, a ? (ptrdiff_t)a[k] : disp[k] * extent,
                    (size_t)(each >= 0 ? each : len[k]));
    return ok;
}

static int add_struct(struct ft_typemap *l, enum ft_blocks blocks, const struct content *c)
{
    int ok = 1;
    for (int k = 0; k < c->i[0] && ok; k++) {
        struct ft_typemap e = {0};
        MPI_Aint lb, extent;
        if (c->i[1 + k] == 0)
            continue;
        HOST(Type_get_extent)(c->t[k], &lb, &extent);
        ok = build(c->t[k], blocks, &e) && repeat(l, &e, extent, c->a[k], (size_t)c->i[1 + k]);
        free(e.piece);
    }
    return ok;
}

static int add_uniform(struct ft_typemap *l, const struct ft_typemap *e, ptrdiff_t extent,
                       const struct content *c)
{
    const int *i = c->i, n = i ? i[0] : 0;
    int ok = 1;

    switch (c->combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED: return repeat(l, e, extent, 0, 1);
    case MPI_COMBINER_CONTIGUOUS: return repeat(l, e, extent, 0, (size_t)n);
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
        for (int k = 0; k < n && ok; k++)
            ok = repeat(
                l, e, extent,
                k * (c->combiner == MPI_COMBINER_VECTOR ? i[2] * extent : (ptrdiff_t)c->a[0]),
                (size_t)i[1]);
        return ok;
    case MPI_COMBINER_INDEXED: return add_blocks(l, e, extent, n, i + 1, -1, i + 1 + n, NULL);
    case MPI_COMBINER_HINDEXED: return add_blocks(l, e, extent, n, i + 1, -1, NULL, c->a);
    case MPI_COMBINER_INDEXED_BLOCK: return add_blocks(l, e, extent, n, NULL, i[1], i + 2, NULL);
    case MPI_COMBINER_HINDEXED_BLOCK: return add_blocks(l, e, extent, n, NULL, i[1], NULL, c->a);
    case MPI_COMBINER_SUBARRAY: return add_subarray(l, e, extent, i);
    case MPI_COMBINER_DARRAY: return add_darray(l, e, extent, i);
    }
    return 0;
}

static int is_named(int combiner)
{
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

int ft_type_is_named(MPI_Datatype t)
{
    int ints, addresses, types, combiner;
    return HOST(Type_get_envelope)(t, &ints, &addresses, &types, &combiner) == MPI_SUCCESS &&
           is_named(combiner);
}

#define LONG_DOUBLE_VALUE                                                  \
    10 /* bytes of an x87 one; the others of its 16 are whatever was there \
        */

/* The number of long doubles with which a predefined type begins: all of it, or all but the int of
 * a pair. Fortran's kinds of 16 bytes that have a name of their own (MPI_REAL16) use all bytes. */
static size_t long_doubles(MPI_Datatype t)
{
    int ints, addresses, types, combiner, size;

    if (t == MPI_LONG_DOUBLE || t == MPI_LONG_DOUBLE_INT)
        return 1;
    if (t == MPI_C_LONG_DOUBLE_COMPLEX || t == MPI_CXX_LONG_DOUBLE_COMPLEX)
        return 2;
    HOST(Type_get_envelope)(t, &ints, &addresses, &types, &combiner);
    HOST(Type_size)(t, &size);
    int parts = combiner == MPI_COMBINER_F90_REAL      ? 1
                : combiner == MPI_COMBINER_F90_COMPLEX ? 2
                                                       : 0;
    return (size_t)size == (size_t)parts * sizeof(long double) ? (size_t)parts : 0;
}

/* A predefined type. Types with a hole in the middle are small, so packing bytes that hold their
 * own position shows where the hole is. */
static int build_named(MPI_Datatype t, enum ft_blocks blocks, struct ft_typemap *l)
{
    struct ft_type store;
    const struct ft_type *b = ft_type_of(t, &store);
    unsigned char in[64], out[64];
    int end = 0, ok = 1;

    if (!b || b->size == 0)
        return 1;
    l->basic = b->predefined ? b : NULL;
    l->mixed = !b->predefined;
    if (blocks == FT_BY_ELEMENT)
        return append(l, 0, (size_t)ft_max_u64((uint64_t)b->extent, (uint64_t)b->true_extent));
    size_t parts = blocks == FT_BY_VALUES && LDBL_MANT_DIG == 64 ? long_doubles(t) : 0;
    if (parts) {
        for (size_t i = 0; i < parts && ok; i++)
            ok = append(l, (ptrdiff_t)(i * sizeof(long double)), LONG_DOUBLE_VALUE);
        return ok && append(l, (ptrdiff_t)(parts * sizeof(long double)),
                            b->size - parts * sizeof(long double));
    }
    if ((size_t)b->true_extent == b->size)
        return append(l, b->true_lb, b->size);
    if (b->true_lb != 0 || (size_t)b->true_extent > sizeof in)
        return 0;
    for (size_t i = 0; i < sizeof in; i++)
        in[i] = (unsigned char)i;
    ok = HOST(Pack)(in, 1, t, out, sizeof out, &end, MPI_COMM_SELF) == MPI_SUCCESS;
    for (size_t i = 0; i < b->size && ok; i++)
        ok = append(l, out[i], 1);
    return ok;
}

/* The host frees types that decoding makes: those handles have no further meaning here. */
static int build_content(const struct content *c, enum ft_blocks blocks, struct ft_typemap *l)
{
    struct ft_typemap e = {0};
    MPI_Aint lb, extent;
    int ok;

    if (c->combiner == MPI_COMBINER_STRUCT) {
        ok = add_struct(l, blocks, c);
    } else {
        HOST(Type_get_extent)(c->t[0], &lb, &extent);
        ok = build(c->t[0], blocks, &e) && add_uniform(l, &e, extent, c);
        free(e.piece);
    }
    for (int k = 0; k < c->ntypes; k++) {
        MPI_Datatype part = c->t[k];
        int ints, addresses, types, combiner;
        if (HOST(Type_get_envelope)(part, &ints, &addresses, &types, &combiner) == MPI_SUCCESS &&
            !is_named(combiner))
            HOST(Type_free)(&part);
    }
    return ok;
}

static int build(MPI_Datatype t, enum ft_blocks blocks, struct ft_typemap *l)
{
    struct content c = {0};
    int addresses, ok = 0;

    if (HOST(Type_get_envelope)(t, &c.nints, &addresses, &c.ntypes, &c.combiner) != MPI_SUCCESS)
        return 0;
    if (is_named(c.combiner))
        return build_named(t, blocks, l);
    if (c.ntypes == 0) /* an empty struct */
        return 1;
    c.i = malloc((size_t)(c.nints + 1) * sizeof *c.i);
    c.a = malloc((size_t)(addresses + 1) * sizeof *c.a);
    c.t = malloc((size_t)c.ntypes * sizeof(MPI_Datatype));
    if (c.i && c.a && c.t &&
        HOST(Type_get_contents)(t, c.nints, addresses, c.ntypes, c.i, c.a, c.t) == MPI_SUCCESS)
        ok = build_content(&c, blocks, l);
    free(c.i);
    free(c.a);
    free(c.t);
    fold(l);
    return ok;
}

/* ---- what was found out ---- */
struct entry {
    MPI_Datatype handle;
    enum ft_blocks blocks;
    struct ft_typemap l;
    struct entry *next;
};
FT_STATIC(__typeof__(struct entry *[64]), known); /* by ft_type_hash / 4 */
#define known FT_MY(known)

const struct ft_typemap *ft_typemap_of(const struct ft_type *t, enum ft_blocks blocks)
{
    struct entry **list = &known[ft_type_hash(t->handle) / 4], *e;

    for (e = *list; e; e = e->next)
        if (e->handle == t->handle && e->blocks == blocks)
            return &e->l;
    e = calloc(1, sizeof *e);
    if (!e || !build(t->handle, blocks, &e->l)) {
        free(e ? e->l.piece : NULL);
        free(e);
        return NULL;
    }
    e->handle = t->handle;
    e->blocks = blocks;
    e->l.list_len = list_len(&e->l);
    e->next = *list;
    *list = e;
    return &e->l;
}

static size_t bytes_of(const struct ft_typemap *l)
{
    size_t bytes = 0;
    for (const struct ft_piece *p = l->piece; p < l->piece + l->npieces; p++)
        bytes += p->len * p->n;
    return bytes;
}

int ft_typemap_is_padded(const struct ft_type *t)
{
    struct ft_typemap l = {0};

    if (LDBL_MANT_DIG != 64)
        return 0;
    if (t->predefined) /* asked while t is described: a lookup does not work yet */
        return long_doubles(t->handle) > 0;
    int padded = build(t->handle, FT_BY_VALUES, &l) && bytes_of(&l) < t->size;
    free(l.piece);
    return padded;
}

void ft_typemap_forget(MPI_Datatype t)
{
    struct entry **at = &known[ft_type_hash(t) / 4], *e;

    while ((e = *at) != NULL) {
        if (e->handle != t) {
            at = &e->next;
            continue;
        }
        *at = e->next;
        free(e->l.piece);
        free(e);
    }
}

int ft_typemap_is_dense(MPI_Datatype t, size_t size)
{
    struct ft_typemap l = {0};
    int dense = build(t, FT_BY_BYTES, &l) && l.npieces == 1 && l.piece[0].n == 1 &&
                l.piece[0].off == 0 && l.piece[0].len == size;

    free(l.piece);
    return dense;
}

/* ---- cursors ---- */
int ft_cursor_begin(struct ft_cursor *c, const struct ft_type *t, enum ft_blocks blocks,
                    size_t count, ptrdiff_t at)
{
    const struct ft_typemap *l = t->contiguous ? NULL : ft_typemap_of(t, blocks);

    *c = (struct ft_cursor){.at = at, .extent = t->extent};
    if (t->contiguous) {
        c->one = (struct ft_piece){.len = count * t->size, .n = 1};
        c->first = &c->one;
        c->end = c->first + 1;
    } else {
        if (!l || l->npieces == 0)
            return 0;
        c->first = l->piece;
        c->end = l->piece + l->npieces;
    }
    c->piece = c->first;
    return 1;
}

/* The number of complete blocks of len bytes that begin at c's place; 0: it is inside of a longer
 * block. */
static inline size_t whole_blocks(const struct ft_cursor *c, size_t len)
{
    return c->inside == 0 && c->piece->len == len ? c->piece->n - c->passed : 0;
}

static inline ptrdiff_t place(const struct ft_cursor *c)
{
    return c->at + c->piece->off + (ptrdiff_t)c->passed * c->piece->stride + (ptrdiff_t)c->inside;
}

static inline void pass(struct ft_cursor *c, size_t len, size_t n)
{
    if (c->inside == 0 && c->piece->len == len) {
        c->passed += n;
    } else {
        c->inside += len * n;
        if (c->inside < c->piece->len)
            return;
        c->inside = 0;
        c->passed++;
    }
    if (c->passed < c->piece->n)
        return;
    c->passed = 0;
    if (++c->piece < c->end)
        return;
    c->piece = c->first;
    c->at += c->extent;
}

void ft_cursor_step(struct ft_cursor *first, struct ft_cursor *second, struct ft_step *s)
{
    size_t left = first->piece->len - first->inside,
           other = second ? second->piece->len - second->inside : left;
    size_t len = left < other ? left : other, n1 = whole_blocks(first, len),
           n2 = second ? whole_blocks(second, len) : n1;

    *s = (struct ft_step){
        .len = len, .at[0] = place(first), .stride[0] = n1 ? first->piece->stride : (ptrdiff_t)len};
    s->n = n1 && n2 ? (size_t)ft_min_u64(n1, n2) : n1 | n2 ? n1 | n2 : 1;
    if (s->n > 1 && !(n1 && n2)) /* many blocks here, a part of a long one there */
        s->n = (size_t)ft_min_u64(s->n, (n1 ? other : left) / len);
    if (second) {
        s->at[1] = place(second);
        s->stride[1] = n2 ? second->piece->stride : (ptrdiff_t)len;
        pass(second, len, s->n);
    }
    pass(first, len, s->n);
}
