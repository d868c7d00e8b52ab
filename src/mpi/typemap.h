/* SPDX-License-Identifier: BSD-3-Clause
 *
 * typemap.h - where the data of a datatype lies: pieces of bytes in the order of its type map, and
 * cursors that traverse two layouts in parallel. One-sided accesses use it to move data between any
 * two layouts without packing, and to find out of which predefined type a datatype consists.
 */
#ifndef FT_MPI_TYPEMAP_H
#define FT_MPI_TYPEMAP_H

#include "mpi/mpi_internal.h"

/* n blocks of len bytes. The first is at off from the element's address; each next one begins
 * `stride` bytes later. */
struct ft_piece {
    ptrdiff_t off, stride;
    size_t len, n;
};

struct ft_typemap {
    /* The one predefined type of which it consists; NULL: none, or mixed. */
    const struct ft_type *basic;
    uint8_t mixed;
    size_t npieces, room;
    size_t run;      /* while it is made: the number of last blocks that are at equal distances */
    size_t list_len; /* all pieces are single blocks of this many bytes; 0: they are not */
    struct ft_piece *piece;
};

/* What counts as a block of a basic element. */
enum ft_blocks {
    FT_BY_BYTES = 0,
    FT_BY_ELEMENT, /* its bytes and its holes (struct ft_rma_op's stride) */
    /* its bytes without the padding of a long double; same order as FT_BY_BYTES, but fewer */
    FT_BY_VALUES,
};
/* Returns the layout of one element of t, kept until ft_typemap_forget. NULL: no memory, or an
 * unknown constructor. */
const struct ft_typemap *ft_typemap_of(const struct ft_type *t, enum ft_blocks blocks);
/* Whether t has bytes that hold no value of a basic element: an x87 long double uses 10 bytes of
 * 16. */
int ft_typemap_is_padded(const struct ft_type *t);
/* The type is about to be freed. */
void ft_typemap_forget(MPI_Datatype t);
/* Whether one element is a single block of `size` bytes at 0; stores nothing. */
int ft_typemap_is_dense(MPI_Datatype t, size_t size);
/* Whether t is a predefined type, or one that MPI_Type_create_f90_* returns. */
int ft_type_is_named(MPI_Datatype t);

/* A position in the data of some elements. */
struct ft_cursor {
    struct ft_piece one; /* the piece of a buffer without holes */
    const struct ft_piece *piece, *first, *end;
    ptrdiff_t at, extent;  /* the current element's address */
    size_t passed, inside; /* blocks of the piece; bytes of the block */
};
/* Begins at count elements of t whose address is `at`. Returns 0 if ft_typemap_of fails. */
int ft_cursor_begin(struct ft_cursor *c, const struct ft_type *t, enum ft_blocks blocks,
                    size_t count, ptrdiff_t at);

/* n blocks of len bytes at a[0], a[0] + stride[0], ... of one cursor, and likewise at a[1] of
 * another. */
struct ft_step {
    ptrdiff_t at[2], stride[2];
    size_t len, n;
};
/* Returns the next blocks of one cursor (second NULL), or of both in parallel, and advances. There
 * must be something left. */
void ft_cursor_step(struct ft_cursor *first, struct ft_cursor *second, struct ft_step *s);

#endif
