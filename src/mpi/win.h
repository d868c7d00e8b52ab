/* SPDX-License-Identifier: BSD-3-Clause
 *
 * win.h - windows as the program sees them: the object of an MPI_Win handle of ours. The engine's
 * window (src/rma) moves the data. All else that a handle carries is kept here, since the host's
 * windows cannot exist without communication.
 */
#ifndef FT_MPI_WIN_H
#define FT_MPI_WIN_H

#include "mpi/mpi_internal.h"
#include "rma/rma.h"

/* Epochs that allow access to every target. */
enum {
    FT_OPEN_FENCE = 1,
    FT_OPEN_LOCK_ALL = 2,
    /* shared locks that a rollback restored: nlocked is known, their targets are not */
    FT_OPEN_LATE = 4,
};

struct ft_win_attr;

/* The epochs of a window in images. */
struct ft_open_epochs {
    uint32_t open;    /* FT_OPEN_* */
    uint32_t nlocked; /* targets with a lock of their own */
};

/* What allows access to one target. */
enum {
    FT_TARGET_LOCKED = 1,  /* a lock of its own */
    FT_TARGET_STARTED = 2, /* it is in the group of MPI_Win_start */
};

struct ft_win_target {
    int unit;      /* its displacement unit, which never changes; 0: not read yet */
    uint32_t open; /* FT_TARGET_* */
};

/* The group of an epoch of MPI_Win_start or MPI_Win_post, as ranks of the window. */
struct ft_win_group {
    int *rank; /* [size of the window] */
    int n;     /* -1: there is no such epoch */
};

struct ft_window {
    struct ft_win *rma;           /* NULL: this place of the pool is free */
    uint32_t open;                /* FT_OPEN_*; accesses check it */
    struct ft_open_epochs *noted; /* for images: open again, and how many targets are locked */
    struct ft_win_target *target; /* [size] */
    struct ft_win_group started, posted;
    int size, rank;
    struct ft_comm *comm; /* holds one of its references: the program may free the communicator */
    int in_body;          /* was made inside FTRMA_Run's body */
    int flavor, model, disp_unit;
    MPI_Aint bytes;
    MPI_Errhandler handler;
    MPI_Info info; /* MPI_INFO_NULL, or our own copy */
    struct ft_win_attr *attrs;
    char name[MPI_MAX_OBJECT_NAME];
};

/* ---- win.c: a handle points into the pool ---- */
#define FT_WIN_MAX 1024
extern FT_STATE(__typeof__(struct ft_window[FT_WIN_MAX]), ft_win_pool);
#define ft_win_pool FT_MY(ft_win_pool)
static inline int ft_win_in_pool(MPI_Win win)
{
    return (uintptr_t)win - (uintptr_t)ft_win_pool < sizeof ft_win_pool;
}
/* NULL: the handle is not a living window of ours. */
static inline struct ft_window *ft_win_of(MPI_Win win)
{
    struct ft_window *w = (struct ft_window *)(void *)win;
    return FT_LIKELY(ft_win_in_pool(win) && w->rma != NULL) ? w : NULL;
}
static inline MPI_Win ft_win_handle(struct ft_window *w) { return (MPI_Win)(void *)w; }
static inline void ft_win_set_open(struct ft_window *w, uint32_t open)
{
    w->open = w->noted->open = open;
}
static inline int ft_win_has_locks(const struct ft_window *w) { return w->noted->nlocked > 0; }
/* Called when body is about to be entered: these epochs are the ones that it finds. */
void ft_win_before_body(void);
/* All went back to a checkpoint: forgets windows made inside body. The other windows' epochs become
 * those that body found when it was first entered, since it begins at its top again; or, if `over`,
 * those that it left. Called after memory was restored. */
void ft_win_rolled_back(int over);

/* ---- win_error.c ---- */
/* Raises `code` on the window's error handler for the call "MPI_X" and returns it. */
int ft_win_error(struct ft_window *w, int code, const char *call);
/* Fortran made an error handler: the host knows the handle, the library the function. Returns 0 if
 * there is no memory. */
typedef void ft_win_fortran_errhandler(MPI_Fint *win, MPI_Fint *code);
int ft_win_note_fortran_errhandler(MPI_Errhandler handler, ft_win_fortran_errhandler *fn);
/* The window no longer refers to its handler. */
void ft_win_drop_errhandler(struct ft_window *w);

/* ---- win_attr.c ---- */
/* Either delete function may be NULL. MPI_SUCCESS or MPI_ERR_NO_MEM. */
typedef void ft_win_fortran_delete(MPI_Fint *win, MPI_Fint *keyval, MPI_Aint *value,
                                   MPI_Aint *extra, MPI_Fint *code);
int ft_win_new_keyval(MPI_Win_delete_attr_function *fn, ft_win_fortran_delete *fortran, void *extra,
                      int *keyval);
/* Fortran's attributes are integers; is_int says so. These functions raise nothing. */
int ft_win_set_attr(struct ft_window *w, int keyval, MPI_Aint value, int is_int);
int ft_win_get_attr_int(struct ft_window *w, int keyval, MPI_Aint *value, int *flag);
/* Deletes all attributes by their delete functions. MPI_SUCCESS, or the code of the first that
 * refuses. */
int ft_win_delete_attrs(struct ft_window *w);
/* Drops all attributes without calling anything (a rollback). */
void ft_win_drop_attrs(struct ft_window *w);

/* ---- rma_put.c ---- */
/* Whether count elements of t at off lie within the target's part. */
int ft_win_holds(struct ft_window *w, int target, size_t off, const struct ft_type *t, int count);

#endif
