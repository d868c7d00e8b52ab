/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rma_layout.c - what accesses must know of derived datatypes beyond packing: which basic type they are made of, and where
 * its elements lie. The host is asked: for the former by its decoding calls, for the latter by packing bytes that say where
 * they are.
 */
#include <stdlib.h>

#include "mpi/win.h"

#define OFFSET_BYTES 3 /* of a byte's number: three passes */
#define SPAN_LIMIT ((size_t)1 << (8 * OFFSET_BYTES))

/* The common basic type of parts[n], which are freed as MPI wants it: all but the predefined ones. */
static const struct ft_type *basic_of_parts(MPI_Datatype *parts, int n)
{
    const struct ft_type *basic = NULL;
    int mixed = 0;

    for (int i = 0; i < n; i++) {
        const struct ft_type *b = mixed ? NULL : ft_type_basic(parts[i]);
        int ints, addresses, types, combiner;

        mixed |= !b || (basic && b != basic);
        basic = b;
        if (HOST(Type_get_envelope)(parts[i], &ints, &addresses, &types, &combiner) == MPI_SUCCESS &&
            combiner != MPI_COMBINER_NAMED)
            MPI_Type_free(&parts[i]); /* ours: what is known of it goes too, as the handle may come again */
    }
    return mixed ? NULL : basic;
}

const struct ft_type *ft_type_basic(MPI_Datatype t)
{
    struct ft_type store;
    const struct ft_type *known = ft_type_of(t, &store), *basic = NULL;
    int ints, addresses, types, combiner;

    if (!known)
        return NULL;
    if (known->predefined)
        return known;
    if (HOST(Type_get_envelope)(t, &ints, &addresses, &types, &combiner) != MPI_SUCCESS || combiner == MPI_COMBINER_NAMED ||
        types == 0)
        return NULL;
    int *i = malloc((size_t)(ints + 1) * sizeof *i);
    MPI_Aint *a = malloc((size_t)(addresses + 1) * sizeof *a);
    MPI_Datatype *parts = malloc((size_t)types * sizeof *parts);
    if (i && a && parts && HOST(Type_get_contents)(t, ints, addresses, types, i, a, parts) == MPI_SUCCESS)
        basic = basic_of_parts(parts, types);
    free(i);
    free(a);
    free(parts);
    return basic;
}

const ptrdiff_t *ft_type_offsets(const struct ft_type *t, size_t piece)
{
    size_t span = (size_t)t->true_extent, n = t->size / piece;

    FT_ASSERT(piece > 0 && t->size % piece == 0);
    if (span > SPAN_LIMIT || t->size > SPAN_LIMIT)
        return NULL;
    size_t table = n * sizeof(ptrdiff_t);
    ptrdiff_t *offsets = ft_scratch(FT_SCRATCH_PIECE, table + span + t->size);
    unsigned char *in = (unsigned char *)offsets + table, *out = in + span;
    const void *buf = (const void *)((uintptr_t)in - (uintptr_t)t->true_lb);

    for (size_t k = 0; k < n; k++)
        offsets[k] = t->true_lb;
    for (int shift = 0; shift < 8 * OFFSET_BYTES; shift += 8) {
        for (size_t i = 0; i < span; i++)
            in[i] = (unsigned char)(i >> shift);
        ft_pack(t, buf, 1, out);
        for (size_t k = 0; k < n; k++)
            offsets[k] += (ptrdiff_t)out[k * piece] << shift;
    }
    return offsets;
}
