/* SPDX-License-Identifier: BSD-3-Clause
 *
 * fold.h - operations that the library computes by itself, for the types of C that are numbers: on
 * integers all predefined ones, on floating point sums and products. They are elementwise, and give
 * the same bits as the host MPI's.
 */
#ifndef FT_BASE_FOLD_H
#define FT_BASE_FOLD_H

#include <stddef.h>

enum ft_kind {
    FT_KIND_OTHER = 0,
    FT_KIND_INT8,
    FT_KIND_UINT8,
    FT_KIND_INT16,
    FT_KIND_UINT16,
    FT_KIND_INT32,
    FT_KIND_UINT32,
    FT_KIND_INT64,
    FT_KIND_UINT64,
    FT_KIND_FLOAT,
    FT_KIND_DOUBLE,
    FT_KINDS
};
/* Of one element; 0: FT_KIND_OTHER. */
size_t ft_kind_bytes(enum ft_kind k);

enum ft_fold_op {
    FT_FOLD_NONE,
    FT_FOLD_SUM,
    FT_FOLD_PROD,
    FT_FOLD_MAX,
    FT_FOLD_MIN,
    FT_FOLD_BAND,
    FT_FOLD_BOR,
    FT_FOLD_BXOR,
    FT_FOLD_LAND,
    FT_FOLD_LOR,
    FT_FOLD_LXOR,
    FT_FOLDS
};

/* inout = in op inout, for count elements; arg is not used. */
typedef void ft_fold_fn(void *arg, const void *in, void *inout, size_t count);
/* NULL: the library does not compute it. */
ft_fold_fn *ft_fold(enum ft_fold_op op, enum ft_kind kind);

#endif
