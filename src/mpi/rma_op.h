/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rma_op.h - an operation of an accumulate, in the engine's form.
 */
#ifndef FT_MPI_RMA_OP_H
#define FT_MPI_RMA_OP_H

#include "mpi/win.h"

struct ft_rma_op {
    const struct ft_reducer *reducer; /* NULL: replace. Valid until the next call of ft_rma_op */
    int reads_only;                   /* MPI_NO_OP */
    size_t stride; /* bytes from one element to the next, holes of pair types included */
};
/* t: an entry of the table of predefined types. MPI_SUCCESS or MPI_ERR_OP. */
int ft_rma_op(MPI_Op op, const struct ft_type *t, struct ft_rma_op *out);
/* The inverse of what the engine gets: stores n results of type basic, at stride distances, to a
 * buffer of the program, whose elements are of type t. Its holes stay as they are. */
void ft_rma_store(void *to, const struct ft_type *t, const struct ft_type *basic, size_t n,
                  const char *from);
/* Whether MPI_Compare_and_swap accepts t: integers, logicals and bytes, the types of bitwise or
 * logical operations. */
int ft_rma_compares(const struct ft_type *t);

#endif
