/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rma_op.c - which operations may combine elements of which type at a target (MPI-3.1, 11.3.4: only
 * predefined ones).
 */
#include <string.h>

#include "mpi/rma_op.h"
#include "mpi/typemap.h"

static const MPI_Op ops[] = {MPI_SUM, MPI_MAX, MPI_MIN,  MPI_PROD, MPI_LAND,   MPI_BAND,
                             MPI_LOR, MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MINLOC, MPI_MAXLOC};

/* The host is asked once for each pair, with its error handlers replaced meanwhile. */
static int host_allows(MPI_Op op, MPI_Datatype type)
{
    _Alignas(32) char a[64] = {0}, b[64] = {0};

    ft_quiet_begin();
    int code = HOST(Reduce_local)(a, b, 1, type, op);
    ft_quiet_end();
    return code == MPI_SUCCESS;
}

enum { UNKNOWN, YES, NO };
FT_STATIC(__typeof__(uint8_t[FT_COUNTOF(ops)][FT_COUNTOF(ft_type_table)]), known);
#define known FT_MY(known)

static int allowed(MPI_Op op, const struct ft_type *t)
{
    size_t i = 0;

    FT_ASSERT(t >= ft_type_table && t < ft_type_table + FT_COUNTOF(ft_type_table));
    while (i < FT_COUNTOF(ops) && ops[i] != op)
        i++;
    if (i == FT_COUNTOF(ops) || t->true_extent > 64)
        return 0;
    uint8_t *k = &known[i][t - ft_type_table];
    if (*k == UNKNOWN)
        *k = host_allows(op, t->handle) ? YES : NO;
    return *k == YES;
}

int ft_rma_compares(const struct ft_type *t)
{
    return t->predefined && (allowed(MPI_BXOR, t) || allowed(MPI_LXOR, t));
}

/* A pair has one hole at most: between its members, if the second is the larger one, else at its
 * end. */
static struct ft_hole hole_of(const struct ft_op *o)
{
    const struct ft_typemap *l = ft_typemap_of(&o->type, FT_BY_BYTES);
    uint8_t data[64] = {0}; /* 1: so it is */
    size_t at = 0, end = o->stride;

    if (!l)
        ft_error_fatal(MPI_ERR_NO_MEM, "an accumulate");
    FT_ASSERT(o->stride < sizeof data);
    for (const struct ft_piece *p = l->piece; p < l->piece + l->npieces; p++)
        for (size_t k = 0; k < p->n; k++)
            memset(data + p->off + (ptrdiff_t)k * p->stride, 1, p->len);
    while (at < end && data[at])
        at++;
    while (end > at && data[end - 1])
        end--;
    if (at == end)
        return FT_NO_HOLE;
    return (struct ft_hole){(uint16_t)at, (uint16_t)(end - at), (uint16_t)o->stride};
}

FT_STATIC(struct ft_op, last); /* its type is predefined and never freed */
#define last FT_MY(last)

int ft_rma_op(MPI_Op op, const struct ft_type *t, struct ft_rma_op *out)
{
    *out = (struct ft_rma_op){.stride =
                                  (size_t)ft_max_u64((uint64_t)t->extent, (uint64_t)t->true_extent),
                              .reads_only = op == MPI_NO_OP};
    if (op == MPI_NO_OP || (op == MPI_REPLACE && FT_LIKELY(t->contiguous && !t->padded)))
        return MPI_SUCCESS;
    if (FT_UNLIKELY(last.op != op || last.type.handle != t->handle || !last.stride)) {
        if (op != MPI_REPLACE && !allowed(op, t))
            return MPI_ERR_OP;
        ft_op_init(&last, op, t);
        FT_ASSERT(last.stride == out->stride);
        if (op == MPI_REPLACE) /* around holes, and compared by its values (R0) */
            last.reducer.apply = NULL;
        if (!t->contiguous)
            last.reducer.hole = hole_of(&last);
    }
    out->reducer = &last.reducer;
    return MPI_SUCCESS;
}
