/* SPDX-License-Identifier: BSD-3-Clause
 *
 * comm_fortran.c - attributes of communicators from Fortran (MPI-3.1, 6.7, 17.2.7). Open MPI's
 * Fortran layer does not pass these calls to the C interface, because their values are integers and
 * their copy functions take Fortran's arguments. The host carries them out, and this file records
 * what comm_attr.c needs. Deleting goes through the C interface.
 */
#include "mpi/comm_attr.h"
#include "mpi/fortran.h"

/* Copy functions of MPI-2, and of MPI-1, where values and the extra state are INTEGERs. */
typedef void copy_function(MPI_Fint *comm, MPI_Fint *keyval, MPI_Aint *extra, MPI_Aint *in,
                           MPI_Aint *out, MPI_Fint *flag, MPI_Fint *ierr);
typedef void old_copy_function(MPI_Fint *comm, MPI_Fint *keyval, MPI_Fint *extra, MPI_Fint *in,
                               MPI_Fint *out, MPI_Fint *flag, MPI_Fint *ierr);

/* ierr is optional in mpi_f08. */
static MPI_Fint * or (MPI_Fint * ierr, MPI_Fint *own)
{
    *own = MPI_SUCCESS;
    return ierr ? ierr : own;
}

static void note_set(MPI_Fint comm, MPI_Fint keyval, MPI_Fint *ierr)
{
    if (*ierr == MPI_SUCCESS)
        *ierr = ft_attr_note_set(HOST(Comm_f2c)(comm), keyval);
}

FT_FORTRAN(comm_set_attr, (MPI_Fint * comm, MPI_Fint *keyval, MPI_Aint *value, MPI_Fint *ierr))
{
    MPI_Fint own, *code = or (ierr, &own);
    HOST_FORTRAN(comm_set_attr)(comm, keyval, value, code);
    note_set(*comm, *keyval, code);
}

FT_FORTRAN(attr_put, (MPI_Fint * comm, MPI_Fint *keyval, MPI_Fint *value, MPI_Fint *ierr))
{
    MPI_Fint own, *code = or (ierr, &own);
    HOST_FORTRAN(attr_put)(comm, keyval, value, code);
    note_set(*comm, *keyval, code);
}

static MPI_Fint home(MPI_Fint comm, MPI_Fint keyval)
{
    return HOST(Comm_c2f)(ft_attr_home(HOST(Comm_f2c)(comm), keyval));
}

FT_FORTRAN(comm_get_attr,
           (MPI_Fint * comm, MPI_Fint *keyval, MPI_Aint *value, MPI_Fint *flag, MPI_Fint *ierr))
{
    MPI_Fint where = home(*comm, *keyval), own;
    HOST_FORTRAN(comm_get_attr)(&where, keyval, value, flag, or (ierr, &own));
    if (*flag && ft_attr_is_global_clock(*keyval))
        *value = ft_runtime_clock_is_global();
}

FT_FORTRAN(attr_get,
           (MPI_Fint * comm, MPI_Fint *keyval, MPI_Fint *value, MPI_Fint *flag, MPI_Fint *ierr))
{
    MPI_Fint where = home(*comm, *keyval), own;
    HOST_FORTRAN(attr_get)(&where, keyval, value, flag, or (ierr, &own));
    if (*flag && ft_attr_is_global_clock(*keyval))
        *value = ft_runtime_clock_is_global();
}

static int copy(const struct ft_keyval *k, MPI_Comm to_c)
{
    MPI_Fint from = HOST(Comm_c2f)(MPI_COMM_WORLD), to = HOST(Comm_c2f)(to_c), id = k->id, flag = 0,
             code = MPI_SUCCESS;
    MPI_Aint extra = (MPI_Aint)k->extra, in = 0, out = 0;

    HOST_FORTRAN(comm_get_attr)(&from, &id, &in, &flag, &code);
    if (code != MPI_SUCCESS || !flag)
        return MPI_SUCCESS;
    flag = 0;
    ((copy_function *)k->fn)(&from, &id, &extra, &in, &out, &flag, &code);
    if (code == MPI_SUCCESS && flag)
        HOST_FORTRAN(comm_set_attr)(&to, &id, &out, &code);
    return code;
}

static int old_copy(const struct ft_keyval *k, MPI_Comm to_c)
{
    MPI_Fint from = HOST(Comm_c2f)(MPI_COMM_WORLD), to = HOST(Comm_c2f)(to_c), id = k->id, flag = 0,
             code = MPI_SUCCESS;
    MPI_Fint extra = (MPI_Fint)(MPI_Aint)k->extra, in = 0, out = 0;

    HOST_FORTRAN(attr_get)(&from, &id, &in, &flag, &code);
    if (code != MPI_SUCCESS || !flag)
        return MPI_SUCCESS;
    flag = 0;
    ((old_copy_function *)k->fn)(&from, &id, &extra, &in, &out, &flag, &code);
    if (code == MPI_SUCCESS && flag)
        HOST_FORTRAN(attr_put)(&to, &id, &out, &code);
    return code;
}

static void note_keyval(MPI_Fint id, int (*how)(const struct ft_keyval *, MPI_Comm),
                        void (*fn)(void), MPI_Aint extra, MPI_Fint *ierr)
{
    if (*ierr == MPI_SUCCESS)
        *ierr = ft_attr_note_keyval((struct ft_keyval){id, how, fn, (void *)extra});
}

FT_FORTRAN(comm_create_keyval, (copy_function * fn, void (*delete)(void), MPI_Fint *keyval,
                                MPI_Aint *extra, MPI_Fint *ierr))
{
    MPI_Fint own, *code = or (ierr, &own);
    HOST_FORTRAN(comm_create_keyval)(fn, delete, keyval, extra, code);
    note_keyval(*keyval, copy, (void (*)(void))fn, *extra, code);
}

FT_FORTRAN(keyval_create, (old_copy_function * fn, void (*delete)(void), MPI_Fint *keyval,
                           MPI_Fint *extra, MPI_Fint *ierr))
{
    MPI_Fint own, *code = or (ierr, &own);
    HOST_FORTRAN(keyval_create)(fn, delete, keyval, extra, code);
    note_keyval(*keyval, old_copy, (void (*)(void))fn, *extra, code);
}
