/* SPDX-License-Identifier: BSD-3-Clause
 *
 * win_fortran.c - those Fortran calls that Open MPI's Fortran layer does not pass to the C
 * interface but carries out on the host's window object: attributes and keyvals, whose values are
 * integers there, and error handlers, whose functions take Fortran's arguments. All other calls
 * from Fortran come through PMPI_X and MPI_Win_f2c.
 */
#include "mpi/fortran.h"
#include "mpi/win.h"

static void tell(MPI_Fint *ierr, int code)
{
    if (ierr) /* optional in mpi_f08 */
        *ierr = code;
}

static int checked(struct ft_window *w, int code, const char *call)
{
    return code == MPI_SUCCESS ? code : ft_win_error(w, code, call);
}

FT_FORTRAN(win_get_attr,
           (MPI_Fint * win, MPI_Fint *keyval, MPI_Aint *value, MPI_Fint *flag, MPI_Fint *ierr))
{
    struct ft_window *w = ft_win_of(MPI_Win_f2c(*win));
    int found = 0;

    if (!w) {
        HOST_FORTRAN(win_get_attr)(win, keyval, value, flag, ierr);
        return;
    }
    int code = checked(w, ft_win_get_attr_int(w, *keyval, value, &found), "MPI_Win_get_attr");
    *flag = found && code == MPI_SUCCESS;
    tell(ierr, code);
}

FT_FORTRAN(win_set_attr, (MPI_Fint * win, MPI_Fint *keyval, MPI_Aint *value, MPI_Fint *ierr))
{
    struct ft_window *w = ft_win_of(MPI_Win_f2c(*win));

    if (!w) {
        HOST_FORTRAN(win_set_attr)(win, keyval, value, ierr);
        return;
    }
    tell(ierr, checked(w, ft_win_set_attr(w, *keyval, *value, 1), "MPI_Win_set_attr"));
}

/* copy is never called, since nothing copies a window. */
FT_FORTRAN(win_create_keyval, (void *copy, ft_win_fortran_delete *delete, MPI_Fint *keyval,
                               MPI_Aint *extra, MPI_Fint *ierr))
{
    int number = MPI_KEYVAL_INVALID;

    (void)copy;
    int code = ft_win_new_keyval(NULL, delete, (void *)*extra, &number);
    *keyval = number;
    tell(ierr, code == MPI_SUCCESS ? code : ft_error(MPI_COMM_NULL, code, "MPI_Win_create_keyval"));
}

FT_FORTRAN(win_create_errhandler,
           (ft_win_fortran_errhandler * fn, MPI_Fint *handler, MPI_Fint *ierr))
{
    MPI_Fint code = MPI_SUCCESS;

    HOST_FORTRAN(win_create_errhandler)(fn, handler, &code);
    if (code == MPI_SUCCESS && !ft_win_note_fortran_errhandler(HOST(Errhandler_f2c)(*handler), fn))
        code = ft_error(MPI_COMM_NULL, MPI_ERR_NO_MEM, "MPI_Win_create_errhandler");
    tell(ierr, code);
}
