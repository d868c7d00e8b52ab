/* SPDX-License-Identifier: BSD-3-Clause
 *
 * win_access.h - checks the arguments of one-sided calls.
 */
#ifndef FT_MPI_WIN_ACCESS_H
#define FT_MPI_WIN_ACCESS_H

#include "mpi/win.h"

#define FT_WIN_OR_HOST(w, win, X, args)                                      \
    do {                                                                     \
        if (FT_UNLIKELY(!(w))) {                                             \
            if (ft_mpi_up && ((win) == MPI_WIN_NULL || ft_win_in_pool(win))) \
                return ft_error(MPI_COMM_NULL, MPI_ERR_WIN, "MPI_" #X);      \
            return HOST(X) args;                                             \
        }                                                                    \
    } while (0)
#define FT_WIN_CHECK(cond, w, code, call)       \
    do {                                        \
        if (FT_UNLIKELY(!(cond)))               \
            return ft_win_error(w, code, call); \
    } while (0)

static inline int ft_win_unit_of(struct ft_window *w, int target)
{
    struct ft_win_target *t = &w->target[target];
    if (FT_UNLIKELY(t->unit == 0))
        t->unit = ft_win_disp_unit(w->rma, target);
    return t->unit;
}

/* Whether a passive epoch to target is open, as flushes and calls with requests require. target: a
 * rank of the window. */
#define FT_PASSIVE_ALL ((uint32_t)(FT_OPEN_LOCK_ALL | FT_OPEN_LATE))
static inline int ft_win_is_passive(const struct ft_window *w, int target)
{
    return FT_LIKELY(w->open & FT_PASSIVE_ALL) || w->target[target].open & FT_TARGET_LOCKED;
}
/* The same for a call with a request; MPI_SUCCESS where other checks will find the error. */
static inline int ft_win_check_request(const struct ft_window *w, int target)
{
    return (unsigned)target >= (unsigned)w->size || ft_win_is_passive(w, target) ? MPI_SUCCESS
                                                                                 : MPI_ERR_RMA_SYNC;
}

#define FT_NO_ACCESS (-1) /* there is nothing to do, which is no error */
/* The checks that all accesses share. *off: bytes from the target's base. Returns MPI_SUCCESS,
 * FT_NO_ACCESS, or an error class. */
static inline int ft_win_check_access(struct ft_window *w, int target, int count,
                                      const struct ft_type *t, MPI_Aint disp, size_t *off)
{
    if (FT_UNLIKELY((unsigned)target >= (unsigned)w->size))
        return target == MPI_PROC_NULL ? FT_NO_ACCESS : MPI_ERR_RANK;
    if (FT_UNLIKELY(count < 0))
        return MPI_ERR_COUNT;
    if (FT_UNLIKELY(!t))
        return MPI_ERR_TYPE;
    if (FT_UNLIKELY(!(w->open | w->target[target].open)))
        return MPI_ERR_RMA_SYNC;
    if (FT_UNLIKELY(disp < 0))
        return MPI_ERR_DISP;
    if (FT_UNLIKELY(__builtin_mul_overflow((size_t)disp, (size_t)ft_win_unit_of(w, target), off)))
        return MPI_ERR_RMA_RANGE;
    return MPI_SUCCESS;
}

#endif
