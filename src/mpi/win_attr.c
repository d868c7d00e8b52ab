/* SPDX-License-Identifier: BSD-3-Clause
 *
 * win_attr.c - attributes of windows (MPI-3.1, 6.7.3 and 11.2.6). Keyvals of windows are numbers of
 * the library. Copy functions are not needed, since no call copies a window. A freed keyval stays
 * as long as attributes use it.
 */
#include <stdlib.h>

#include "mpi/win_access.h"

#define KEYVAL_BASE 0x60000000

struct keyval {
    MPI_Win_delete_attr_function *fn;
    ft_win_fortran_delete *fortran;
    void *extra;
    int live, users; /* live: not freed yet; users: attributes that use it */
};
FT_STATIC(struct keyval *, keyvals);
FT_STATIC(int, nkeyvals);
#define keyvals FT_MY(keyvals)
#define nkeyvals FT_MY(nkeyvals)

struct ft_win_attr {
    int keyval; /* index */
    int is_int; /* set by Fortran: C gets the address of the value */
    MPI_Aint value;
    struct ft_win_attr *next;
};

/* The index of a keyval that the program may still use; -1: it is not valid. */
static int live_keyval(int keyval)
{
    int i = keyval - KEYVAL_BASE;
    return keyval >= KEYVAL_BASE && i < nkeyvals && keyvals[i].live ? i : -1;
}

int ft_win_new_keyval(MPI_Win_delete_attr_function *fn, ft_win_fortran_delete *fortran, void *extra,
                      int *keyval)
{
    int i = 0;
    while (i < nkeyvals && (keyvals[i].live || keyvals[i].users))
        i++;
    if (i == nkeyvals) {
        struct keyval *more = realloc(keyvals, (size_t)(nkeyvals + 1) * sizeof *more);
        if (!more)
            return MPI_ERR_NO_MEM;
        keyvals = more;
        nkeyvals++;
    }
    keyvals[i] = (struct keyval){.fn = fn, .fortran = fortran, .extra = extra, .live = 1};
    *keyval = KEYVAL_BASE + i;
    return MPI_SUCCESS;
}

FT_MPI(int, Win_create_keyval,
       (MPI_Win_copy_attr_function * copy, MPI_Win_delete_attr_function *delete, int *keyval,
        void *extra))
{
    (void)copy;
    int code = ft_win_new_keyval(delete, NULL, extra, keyval);
    FT_CHECK(code == MPI_SUCCESS, MPI_COMM_NULL, code, "MPI_Win_create_keyval");
    return MPI_SUCCESS;
}

FT_MPI(int, Win_free_keyval, (int *keyval))
{
    int i = live_keyval(*keyval);
    if (i < 0)
        return HOST(Win_free_keyval)(keyval);
    keyvals[i].live = 0;
    *keyval = MPI_KEYVAL_INVALID;
    return MPI_SUCCESS;
}

/* The link to the attribute, or the end of the list. */
static struct ft_win_attr **find(struct ft_window *w, int index)
{
    struct ft_win_attr **a = &w->attrs;
    while (*a && (*a)->keyval != index)
        a = &(*a)->next;
    return a;
}

static int call_delete(struct ft_window *w, struct ft_win_attr *a)
{
    struct keyval k = keyvals[a->keyval]; /* the function may create keyvals */
    int number = KEYVAL_BASE + a->keyval;

    if (k.fortran) {
        MPI_Fint win = MPI_Win_c2f(ft_win_handle(w)), key = number, code = MPI_SUCCESS;
        MPI_Aint value = a->value, extra = (MPI_Aint)k.extra;
        k.fortran(&win, &key, &value, &extra, &code);
        return code;
    }
    return k.fn ? k.fn(ft_win_handle(w), number, a->is_int ? (void *)&a->value : (void *)a->value,
                       k.extra)
                : MPI_SUCCESS;
}

static void unlink_attr(struct ft_win_attr **at)
{
    struct ft_win_attr *a = *at;
    FT_ASSERT(keyvals[a->keyval].users > 0);
    keyvals[a->keyval].users--;
    *at = a->next;
    free(a);
}

static int delete_attr(struct ft_window *w, int index)
{
    int code = call_delete(w, *find(w, index));
    if (code != MPI_SUCCESS)
        return code;
    struct ft_win_attr **at = find(w, index); /* the function may have changed the list */
    if (*at)
        unlink_attr(at);
    return MPI_SUCCESS;
}

int ft_win_delete_attrs(struct ft_window *w)
{
    int code = MPI_SUCCESS;
    while (code == MPI_SUCCESS && w->attrs)
        code = delete_attr(w, w->attrs->keyval);
    return code;
}

void ft_win_drop_attrs(struct ft_window *w)
{
    while (w->attrs)
        unlink_attr(&w->attrs);
}

int ft_win_set_attr(struct ft_window *w, int keyval, MPI_Aint value, int is_int)
{
    int i = live_keyval(keyval), code;

    if (i < 0)
        return MPI_ERR_KEYVAL;
    if (*find(w, i) && (code = delete_attr(w, i)) != MPI_SUCCESS)
        return code;
    struct ft_win_attr *a = malloc(sizeof *a);
    if (!a)
        return MPI_ERR_NO_MEM;
    *a = (struct ft_win_attr){.keyval = i, .is_int = is_int, .value = value, .next = w->attrs};
    w->attrs = a;
    keyvals[i].users++;
    return MPI_SUCCESS;
}

int ft_win_get_attr_int(struct ft_window *w, int keyval, MPI_Aint *value, int *flag)
{
    *flag = 1;
    switch (keyval) {
    case MPI_WIN_BASE: *value = (MPI_Aint)ft_win_base(w->rma); return MPI_SUCCESS;
    case MPI_WIN_SIZE: *value = w->bytes; return MPI_SUCCESS;
    case MPI_WIN_DISP_UNIT: *value = w->disp_unit; return MPI_SUCCESS;
    case MPI_WIN_CREATE_FLAVOR: *value = w->flavor; return MPI_SUCCESS;
    case MPI_WIN_MODEL: *value = w->model; return MPI_SUCCESS;
    }
    int i = live_keyval(keyval);
    if (i < 0)
        return MPI_ERR_KEYVAL;
    struct ft_win_attr *a = *find(w, i);
    *flag = a != NULL;
    if (a)
        *value = a->value;
    return MPI_SUCCESS;
}

/* C gets the predefined ones except the base, and what Fortran has set, by address. */
static int get_attr_pointer(struct ft_window *w, int keyval, void **value, int *flag)
{
    MPI_Aint number;
    int code = ft_win_get_attr_int(w, keyval, &number, flag);

    if (code != MPI_SUCCESS || !*flag)
        return code;
    switch (keyval) {
    case MPI_WIN_BASE: *value = (void *)number; return MPI_SUCCESS;
    case MPI_WIN_SIZE: *value = &w->bytes; return MPI_SUCCESS;
    case MPI_WIN_DISP_UNIT: *value = &w->disp_unit; return MPI_SUCCESS;
    case MPI_WIN_CREATE_FLAVOR: *value = &w->flavor; return MPI_SUCCESS;
    case MPI_WIN_MODEL: *value = &w->model; return MPI_SUCCESS;
    }
    struct ft_win_attr *a = *find(w, live_keyval(keyval));
    *value = a->is_int ? (void *)&a->value : (void *)a->value;
    return MPI_SUCCESS;
}

FT_MPI(int, Win_get_attr, (MPI_Win win, int keyval, void *value, int *flag))
{
    struct ft_window *w = ft_win_of(win);
    FT_WIN_OR_HOST(w, win, Win_get_attr, (win, keyval, value, flag));
    int code = get_attr_pointer(w, keyval, value, flag);
    FT_WIN_CHECK(code == MPI_SUCCESS, w, code, "MPI_Win_get_attr");
    return MPI_SUCCESS;
}

FT_MPI(int, Win_set_attr, (MPI_Win win, int keyval, void *value))
{
    struct ft_window *w = ft_win_of(win);
    FT_WIN_OR_HOST(w, win, Win_set_attr, (win, keyval, value));
    int code = ft_win_set_attr(w, keyval, (MPI_Aint)value, 0);
    FT_WIN_CHECK(code == MPI_SUCCESS, w, code, "MPI_Win_set_attr");
    return MPI_SUCCESS;
}

FT_MPI(int, Win_delete_attr, (MPI_Win win, int keyval))
{
    struct ft_window *w = ft_win_of(win);
    FT_WIN_OR_HOST(w, win, Win_delete_attr, (win, keyval));
    int i = live_keyval(keyval);
    FT_WIN_CHECK(i >= 0 && *find(w, i), w, MPI_ERR_KEYVAL, "MPI_Win_delete_attr");
    int code = delete_attr(w, i);
    FT_WIN_CHECK(code == MPI_SUCCESS, w, code, "MPI_Win_delete_attr");
    return MPI_SUCCESS;
}
