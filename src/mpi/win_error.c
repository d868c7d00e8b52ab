/* SPDX-License-Identifier: BSD-3-Clause
 *
 * win_error.c - error handlers of windows (MPI-3.1, 8.3.2). The handles are the host's; their
 * functions are recorded here, since the host would only call them for its own windows. A handler
 * lives until the program has freed each handle that it was given, and no window refers to it.
 */
#include <stdlib.h>

#include "mpi/win_access.h"

struct handler {
    MPI_Errhandler handle;
    MPI_Win_errhandler_function *fn;
    ft_win_fortran_errhandler *fortran;
    int refs;
    struct handler *next;
};
FT_STATIC(struct handler *, handlers);
/* predefined handlers that were given out; the host has not counted them */
FT_STATIC(uint64_t, lent);
#define handlers FT_MY(handlers)
#define lent FT_MY(lent)

static int is_fatal(MPI_Errhandler h)
{
#ifdef MPI_ERRORS_ABORT
    if (h == MPI_ERRORS_ABORT)
        return 1;
#endif
    return h == MPI_ERRORS_ARE_FATAL;
}

static int is_predefined(MPI_Errhandler h) { return is_fatal(h) || h == MPI_ERRORS_RETURN; }

static struct handler *find(MPI_Errhandler h)
{
    struct handler *e = handlers;
    while (e && e->handle != h)
        e = e->next;
    return e;
}

/* Drops one reference; with the last one the host frees the handle. */
static int release(struct handler *e)
{
    struct handler **at = &handlers;

    FT_ASSERT(e->refs > 0);
    if (--e->refs > 0)
        return MPI_SUCCESS;
    while (*at != e)
        at = &(*at)->next;
    *at = e->next;
    MPI_Errhandler h = e->handle;
    free(e);
    return HOST(Errhandler_free)(&h);
}

static int note(MPI_Errhandler handle, MPI_Win_errhandler_function *fn,
                ft_win_fortran_errhandler *fortran)
{
    struct handler *e = malloc(sizeof *e);
    if (!e)
        return 0;
    *e = (struct handler){handle, fn, fortran, 1, handlers};
    handlers = e;
    return 1;
}

int ft_win_note_fortran_errhandler(MPI_Errhandler handler, ft_win_fortran_errhandler *fn)
{
    return note(handler, NULL, fn);
}

FT_MPI(int, Win_create_errhandler, (MPI_Win_errhandler_function * fn, MPI_Errhandler *handler))
{
    int code = HOST(Win_create_errhandler)(fn, handler);
    if (code == MPI_SUCCESS)
        FT_CHECK(note(*handler, fn, NULL), MPI_COMM_NULL, MPI_ERR_NO_MEM,
                 "MPI_Win_create_errhandler");
    return code;
}

FT_MPI(int, Errhandler_free, (MPI_Errhandler * handler))
{
    struct handler *e = find(*handler);
    if (!e && !(lent > 0 && is_predefined(*handler)))
        return HOST(Errhandler_free)(handler);
    *handler = MPI_ERRHANDLER_NULL;
    if (e)
        return release(e);
    lent--;
    return MPI_SUCCESS;
}

void ft_win_drop_errhandler(struct ft_window *w)
{
    struct handler *e = find(w->handler);
    w->handler = MPI_ERRORS_ARE_FATAL;
    if (e)
        release(e);
}

FT_MPI(int, Win_set_errhandler, (MPI_Win win, MPI_Errhandler handler))
{
    struct ft_window *w = ft_win_of(win);
    FT_WIN_OR_HOST(w, win, Win_set_errhandler, (win, handler));
    struct handler *e = find(handler);
    FT_WIN_CHECK(e || is_predefined(handler), w, MPI_ERR_ARG, "MPI_Win_set_errhandler");
    if (e)
        e->refs++; /* first: it may be the old one */
    ft_win_drop_errhandler(w);
    w->handler = handler;
    return MPI_SUCCESS;
}

FT_MPI(int, Win_get_errhandler, (MPI_Win win, MPI_Errhandler *handler))
{
    struct ft_window *w = ft_win_of(win);
    FT_WIN_OR_HOST(w, win, Win_get_errhandler, (win, handler));
    struct handler *e = find(w->handler);
    if (e)
        e->refs++;
    else
        lent++;
    *handler = w->handler;
    return MPI_SUCCESS;
}

int ft_win_error(struct ft_window *w, int code, const char *call)
{
    FT_ASSERT(code != MPI_SUCCESS);
    if (is_fatal(w->handler))
        ft_error_fatal(code, call);
    struct handler *e = find(w->handler);
    if (e && e->fn) {
        MPI_Win win = ft_win_handle(w);
        int told = code;
        e->fn(&win, &told);
    } else if (e) {
        MPI_Fint win = MPI_Win_c2f(ft_win_handle(w)), told = code;
        e->fortran(&win, &told);
    }
    return code;
}

FT_MPI(int, Win_call_errhandler, (MPI_Win win, int errorcode))
{
    struct ft_window *w = ft_win_of(win);
    FT_WIN_OR_HOST(w, win, Win_call_errhandler, (win, errorcode));
    if (errorcode != MPI_SUCCESS)
        ft_win_error(w, errorcode, "MPI_Win_call_errhandler");
    return MPI_SUCCESS;
}
