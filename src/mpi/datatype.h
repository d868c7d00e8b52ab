/* SPDX-License-Identifier: BSD-3-Clause
 *
 * datatype.h - what the engine must know of datatypes and operations.
 */
#ifndef FT_MPI_DATATYPE_H
#define FT_MPI_DATATYPE_H

#include "coll/coll.h"
#include "mpi/host.h"

void ft_type_init(void);
struct ft_type {
    MPI_Datatype handle;
    size_t size;
    ptrdiff_t extent, true_lb, true_extent;
    uint8_t contiguous; /* an array in memory equals its packed form */
    uint8_t predefined;
    /* has bytes that hold no value (ft_typemap_is_padded). For derived types known only with
     * FTRMA_CHECK=data */
    uint8_t padded;
    uint8_t kind; /* enum ft_kind */
};
/* Returns what there is to know of t, in a table's entry or in *store; NULL for MPI_DATATYPE_NULL
 * or a type that the host does not know. */
const struct ft_type *ft_type_slow(MPI_Datatype t, struct ft_type *store);
/* Predefined types, by open addressing. */
extern FT_STATE(__typeof__(struct ft_type[256]), ft_type_table);
#define ft_type_table FT_MY(ft_type_table)
static inline unsigned ft_type_hash(MPI_Datatype t)
{
    return (unsigned)(((uintptr_t)t >> 4) * 0x9E3779B1u) >> 24;
}
static inline const struct ft_type *ft_type_of(MPI_Datatype t, struct ft_type *store)
{
    const struct ft_type *e = &ft_type_table[ft_type_hash(t)];
    return FT_LIKELY(e->handle == t && e->size) ? e : ft_type_slow(t, store);
}
/* Converts count elements at buf to/from contiguous bytes. With FTRMA_CHECK=data padded types are
 * not contiguous, and packed padding is zero, because values are compared (R0). ft_unpack takes
 * `bytes`, which may end within an element; the rest is not changed. */
void ft_pack(const struct ft_type *t, const void *buf, size_t count, void *out);
void ft_unpack(const struct ft_type *t, const void *in, size_t bytes, void *buf);
/* The most bytes that the host packs or unpacks in one call, since it counts them in an int. An
 * element that is larger is copied by its type map. Tests set it. */
extern FT_STATE(size_t, ft_pack_limit);
#define ft_pack_limit FT_MY(ft_pack_limit)
void ft_type_forget(MPI_Datatype t); /* it is about to be freed */
/* A type or operation (else MPI_OP_NULL) that the program frees while pinned requests may use it
 * lives on until none does (free_later.c). Returns -1: no request is pinned, free it at once; else
 * an MPI error class. */
int ft_free_later(MPI_Op op, MPI_Datatype type);
int ft_any_pinned(void);

/* A reducer for an operation on elements that lie `stride` bytes apart. true_lb is not included:
 * element i is at base + i * stride. */
struct ft_op {
    struct ft_reducer reducer; /* reducer.arg points to this struct */
    MPI_Op op;
    struct ft_type type;
    size_t stride;
};
void ft_op_init(struct ft_op *o, MPI_Op op, const struct ft_type *t);

#endif
