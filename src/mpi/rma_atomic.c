/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rma_atomic.c - fetch_and_op and compare_and_swap: one element of a predefined type
 * (MPI-3.1, 11.3.4).
 */
#include "mpi/rma_op.h"
#include "mpi/win_access.h"

#define WORD_MAX 16 /* bytes that the engine's short forms take */

static inline int is_word_integer(const struct ft_type *t)
{
    return t->kind == FT_KIND_INT32 || t->kind == FT_KIND_UINT32 || t->kind == FT_KIND_INT64 ||
           t->kind == FT_KIND_UINT64;
}

/* The holes of a pair in the result's buffer are the program's. */
static int fetch(struct ft_window *w, const void *origin, void *result, const struct ft_type *t,
                 int target, size_t off, MPI_Op op)
{
    struct ft_rma_op rop;

    if (op == MPI_SUM && is_word_integer(t))
        return ft_mpi_code(
            ft_fetch_word(w->rma, target, off, FT_FETCH_ADD, t->size, origin, NULL, result));
    if ((op == MPI_REPLACE || op == MPI_NO_OP) && t->contiguous && !t->padded &&
        t->size <= WORD_MAX)
        return ft_mpi_code(ft_fetch_word(w->rma, target, off,
                                         op == MPI_REPLACE ? FT_FETCH_REPLACE : FT_FETCH_NOOP,
                                         t->size, origin, NULL, result));
    int code = ft_rma_op(op, t, &rop);
    if (code != MPI_SUCCESS)
        return code;
    void *old = FT_LIKELY(t->contiguous) ? result : ft_scratch(FT_SCRATCH_REDUCE_OUT, rop.stride);
    code = ft_mpi_code(ft_accumulate(w->rma, target, off, rop.reads_only ? NULL : origin, old, 1,
                                     rop.stride, rop.reducer));
    if (FT_UNLIKELY(old != result) && code == MPI_SUCCESS) {
        ft_win_flush_local(w->rma, target);
        ft_rma_store(result, t, t, 1, old);
    }
    return code;
}

FT_MPI(int, Fetch_and_op,
       (const void *origin, void *result, MPI_Datatype type, int target, MPI_Aint disp, MPI_Op op,
        MPI_Win win))
{
    struct ft_type store;
    size_t off;

    ft_door();
    struct ft_window *w = ft_win_of(win);
    FT_WIN_OR_HOST(w, win, Fetch_and_op, (origin, result, type, target, disp, op, win));
    const struct ft_type *t = ft_type_of(type, &store);
    int code = ft_win_check_access(w, target, 1, t, disp, &off);
    if (FT_UNLIKELY(code == FT_NO_ACCESS))
        return MPI_SUCCESS;
    if (FT_LIKELY(code == MPI_SUCCESS))
        code =
            FT_LIKELY(t->predefined) ? fetch(w, origin, result, t, target, off, op) : MPI_ERR_TYPE;
    FT_WIN_CHECK(code == MPI_SUCCESS, w, code, "MPI_Fetch_and_op");
    return MPI_SUCCESS;
}

FT_MPI(int, Compare_and_swap,
       (const void *origin, const void *compare, void *result, MPI_Datatype type, int target,
        MPI_Aint disp, MPI_Win win))
{
    struct ft_type store;
    size_t off;

    ft_door();
    struct ft_window *w = ft_win_of(win);
    FT_WIN_OR_HOST(w, win, Compare_and_swap, (origin, compare, result, type, target, disp, win));
    const struct ft_type *t = ft_type_of(type, &store);
    int code = ft_win_check_access(w, target, 1, t, disp, &off);
    if (FT_UNLIKELY(code == FT_NO_ACCESS))
        return MPI_SUCCESS;
    if (FT_LIKELY(code == MPI_SUCCESS))
        code = is_word_integer(t) || (t->contiguous && t->size <= WORD_MAX && ft_rma_compares(t))
                   ? ft_mpi_code(
                         ft_compare_and_swap(w->rma, target, off, origin, compare, result, t->size))
                   : MPI_ERR_TYPE;
    FT_WIN_CHECK(code == MPI_SUCCESS, w, code, "MPI_Compare_and_swap");
    return MPI_SUCCESS;
}
