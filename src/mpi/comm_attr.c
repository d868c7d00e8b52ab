/* SPDX-License-Identifier: BSD-3-Clause
 *
 * comm_attr.c - attributes of communicators (MPI-3.1, 6.7). The host keeps them on the handle,
 * which is one of its own; this file adds what the host cannot know:
 *  - the predefined attributes (MPI_TAG_UB...) are MPI_COMM_WORLD's on every communicator;
 *  - a dup of MPI_COMM_WORLD is none for the host, so its attributes are copied here, by the copy
 * functions of their keyvals (of those made in Fortran: comm_fortran.c);
 *  - MPI_Finalize deletes MPI_COMM_SELF's attributes first, in the reverse order of setting,
 * whether or not the host is finalized.
 */
#include <stdlib.h>

#include "mpi/comm_attr.h"
#include "mpi/mpi_internal.h"

struct keyval_list {
    struct ft_keyval *v;
    int n, room;
};
FT_STATIC(struct keyval_list, keyvals);
#define keyvals FT_MY(keyvals)

/* Keyvals of the attributes on one communicator, in the order of setting. */
struct attr_list {
    int *v;
    int n, room;
};
FT_STATIC(struct attr_list, on_world);
FT_STATIC(struct attr_list, on_self);
#define on_world FT_MY(on_world)
#define on_self FT_MY(on_self)

static struct attr_list *list_of(MPI_Comm comm)
{
    return !ft_mpi_up               ? NULL
           : comm == MPI_COMM_WORLD ? &on_world
           : comm == MPI_COMM_SELF  ? &on_self
                                    : NULL;
}

static void list_remove(struct attr_list *l, int keyval)
{
    int kept = 0;
    for (int i = 0; i < l->n; i++)
        if (l->v[i] != keyval)
            l->v[kept++] = l->v[i];
    l->n = kept;
}

static int list_append(struct attr_list *l, int keyval)
{
    list_remove(l, keyval);
    if (l->n == l->room) {
        int *v = realloc(l->v, (size_t)(l->room + 16) * sizeof *v);
        if (!v)
            return 0;
        l->v = v;
        l->room += 16;
    }
    l->v[l->n++] = keyval;
    return 1;
}

int ft_attr_note_keyval(struct ft_keyval keyval)
{
    if (keyvals.n == keyvals.room) {
        struct ft_keyval *v = realloc(keyvals.v, (size_t)(keyvals.room + 16) * sizeof *v);
        if (!v)
            return MPI_ERR_NO_MEM;
        keyvals.v = v;
        keyvals.room += 16;
    }
    keyvals.v[keyvals.n++] = keyval;
    return MPI_SUCCESS;
}

static int copy(const struct ft_keyval *k, MPI_Comm to)
{
    void *in, *out = NULL;
    int flag = 0;

    if (HOST(Comm_get_attr)(MPI_COMM_WORLD, k->id, &in, &flag) != MPI_SUCCESS || !flag)
        return MPI_SUCCESS;
    flag = 0;
    int code =
        ((MPI_Comm_copy_attr_function *)k->fn)(MPI_COMM_WORLD, k->id, k->extra, in, &out, &flag);
    return code == MPI_SUCCESS && flag ? HOST(Comm_set_attr)(to, k->id, out) : code;
}

FT_MPI(int, Comm_create_keyval,
       (MPI_Comm_copy_attr_function * fn, MPI_Comm_delete_attr_function *delete, int *keyval,
        void *extra))
{
    int code = HOST(Comm_create_keyval)(fn, delete, keyval, extra);
    return code == MPI_SUCCESS
               ? ft_attr_note_keyval((struct ft_keyval){*keyval, copy, (void (*)(void))fn, extra})
               : code;
}

FT_MPI(int, Keyval_create,
       (MPI_Copy_function * fn, MPI_Delete_function *delete, int *keyval, void *extra))
{
    int code = HOST(Keyval_create)(fn, delete, keyval, extra);
    return code == MPI_SUCCESS
               ? ft_attr_note_keyval((struct ft_keyval){*keyval, copy, (void (*)(void))fn, extra})
               : code;
}

int ft_attr_note_set(MPI_Comm comm, int keyval)
{
    struct attr_list *l = list_of(comm);
    return l && !list_append(l, keyval) ? MPI_ERR_NO_MEM : MPI_SUCCESS;
}

static int set_attr(MPI_Comm comm, int keyval, void *value)
{
    int code = HOST(Comm_set_attr)(comm, keyval, value);
    return code == MPI_SUCCESS ? ft_attr_note_set(comm, keyval) : code;
}

/* The host's communicator that has the attribute. */
MPI_Comm ft_attr_home(MPI_Comm comm, int keyval)
{
    switch (keyval) {
    case MPI_TAG_UB:
    case MPI_HOST:
    case MPI_IO:
    case MPI_WTIME_IS_GLOBAL:
    case MPI_UNIVERSE_SIZE:
    case MPI_APPNUM:
    case MPI_LASTUSEDCODE:
        if (ft_comm_of(comm))
            return MPI_COMM_WORLD;
    }
    return comm;
}

/* The value of MPI_WTIME_IS_GLOBAL; the program gets its address. */
FT_STATIC(int, global_clock);
#define global_clock FT_MY(global_clock)

static int get_attr(MPI_Comm comm, int keyval, void *value, int *flag)
{
    int code = HOST(Comm_get_attr)(ft_attr_home(comm, keyval), keyval, value, flag);
    if (code == MPI_SUCCESS && *flag && ft_attr_is_global_clock(keyval)) {
        global_clock = ft_runtime_clock_is_global();
        *(int **)value = &global_clock;
    }
    return code;
}

static int delete_attr(MPI_Comm comm, int keyval)
{
    struct attr_list *l = list_of(comm);
    int code = HOST(Comm_delete_attr)(comm, keyval);

    if (code == MPI_SUCCESS && l)
        list_remove(l, keyval);
    return code;
}

FT_MPI(int, Comm_set_attr, (MPI_Comm comm, int keyval, void *value))
{
    return set_attr(comm, keyval, value);
}
FT_MPI(int, Comm_get_attr, (MPI_Comm comm, int keyval, void *value, int *flag))
{
    return get_attr(comm, keyval, value, flag);
}
FT_MPI(int, Comm_delete_attr, (MPI_Comm comm, int keyval)) { return delete_attr(comm, keyval); }
FT_MPI(int, Attr_put, (MPI_Comm comm, int keyval, void *value))
{
    return set_attr(comm, keyval, value);
}
FT_MPI(int, Attr_get, (MPI_Comm comm, int keyval, void *value, int *flag))
{
    return get_attr(comm, keyval, value, flag);
}
FT_MPI(int, Attr_delete, (MPI_Comm comm, int keyval)) { return delete_attr(comm, keyval); }

/* An id may have been freed and reused: the last keyval counts. */
static const struct ft_keyval *find_keyval(int id)
{
    for (int i = keyvals.n - 1; i >= 0; i--)
        if (keyvals.v[i].id == id)
            return &keyvals.v[i];
    return NULL;
}

int ft_attr_copy_world(MPI_Comm to)
{
    for (int i = 0; i < on_world.n; i++) {
        const struct ft_keyval *k = find_keyval(on_world.v[i]);
        int code = k ? k->copy(k, to) : MPI_SUCCESS;

        if (code != MPI_SUCCESS)
            return code;
    }
    return MPI_SUCCESS;
}

void ft_attr_delete_self(void)
{
    while (on_self.n > 0)
        HOST(Comm_delete_attr)(MPI_COMM_SELF, on_self.v[--on_self.n]);
}
