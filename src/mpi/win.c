/* SPDX-License-Identifier: BSD-3-Clause
 *
 * win.c - the pool of windows; making and freeing them (MPI-3.1, 11.2). The lowest free place is
 * taken, so that a replacement that runs setup again gets the same handles, in C and in Fortran.
 */
#include <stdlib.h>
#include <string.h>

#include "coll/coll.h"
#include "mpi/win_access.h"

#define FINT_BASE 0x50000000

FT_STATE(__typeof__(struct ft_window[FT_WIN_MAX]), ft_win_pool);

/* The open epochs, for images: protected memory, indexed by place in the pool. */
FT_STATIC(__typeof__(struct ft_open_epochs[FT_WIN_MAX]), epochs);
/* The epochs that body found. Setup repeats them, so images need not hold them. */
FT_STATIC(__typeof__(struct ft_open_epochs[FT_WIN_MAX]), outside);
FT_STATIC(int, is_protected);
#define epochs FT_MY(epochs)
#define outside FT_MY(outside)
#define is_protected FT_MY(is_protected)

void ft_win_before_body(void)
{
    if (ft_runtime_in_body())
        return;
    memcpy(outside, epochs, sizeof outside);
    ft_win_before_entry();
}

/* Windows in images are made in setup, where this succeeds; other windows need no epochs after a
 * rollback. */
static void protect_epochs(void)
{
    if (!is_protected && ft_runtime_protect(epochs, sizeof epochs) == FT_OK)
        is_protected = 1;
}

static struct ft_window *free_place(void)
{
    for (int i = 0; i < FT_WIN_MAX; i++)
        if (!ft_win_pool[i].rma)
            return &ft_win_pool[i];
    return NULL;
}

/* The members of c with a context of the window's own. */
static struct ft_ctx new_context(const struct ft_comm *c)
{
    struct ft_ctx ctx = c->ctx;
    ctx.id = ft_comm_agree_context(&c->ctx);
    return ctx;
}

static int check_creation(MPI_Comm comm, const void *base, MPI_Aint bytes, int disp_unit,
                          const char *call)
{
    FT_CHECK(!ft_comm_of(comm)->inter, comm, MPI_ERR_COMM, call);
    FT_CHECK(bytes >= 0, comm, MPI_ERR_SIZE, call);
    FT_CHECK(disp_unit > 0, comm, MPI_ERR_DISP, call);
    FT_CHECK(base || bytes == 0, comm, MPI_ERR_BASE, call);
    FT_CHECK(free_place(), comm, MPI_ERR_NO_MEM, call);
    return MPI_SUCCESS;
}

/* The last step of a creation: nothing waits any more. */
static void finish_creation(struct ft_comm *c, struct ft_win *rma, int flavor, MPI_Aint bytes,
                            int disp_unit, MPI_Info info, const char *call, MPI_Win *win)
{
    struct ft_window *w = free_place();

    FT_ASSERT(w && rma);
    *w = (struct ft_window){.rma = rma,
                            .noted = &epochs[w - ft_win_pool],
                            .size = c->ctx.size,
                            .rank = c->ctx.rank,
                            .comm = c,
                            .in_body = ft_runtime_in_body(),
                            .flavor = flavor,
                            .model = MPI_WIN_UNIFIED,
                            .disp_unit = disp_unit,
                            .bytes = bytes,
                            .handler = MPI_ERRORS_ARE_FATAL,
                            .info = MPI_INFO_NULL};
    w->target = calloc((size_t)w->size, sizeof *w->target);
    w->started.rank = calloc(2 * (size_t)w->size, sizeof *w->started.rank);
    if (!w->target || !w->started.rank ||
        (info != MPI_INFO_NULL && HOST(Info_dup)(info, &w->info) != MPI_SUCCESS))
        ft_error_fatal(MPI_ERR_NO_MEM, call);
    w->posted.rank = w->started.rank + w->size;
    w->started.n = w->posted.n = -1;
    c->refs++;
    *w->noted = (struct ft_open_epochs){0};
    ft_runtime_object_created();
    *win = ft_win_handle(w);
}

FT_MPI(int, Win_allocate,
       (MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win))
{
    struct ft_win *rma;
    void *base;

    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Win_allocate, (size, disp_unit, info, comm, baseptr, win));
    int code = check_creation(comm, &base, size, disp_unit, "MPI_Win_allocate");
    if (code != MPI_SUCCESS)
        return code;
    protect_epochs();
    struct ft_ctx ctx = new_context(c);
    code = ft_mpi_code(ft_win_allocate(&ctx, (size_t)size, disp_unit, &base, &rma));
    FT_CHECK(code == MPI_SUCCESS, comm, code, "MPI_Win_allocate");
    finish_creation(c, rma, MPI_WIN_FLAVOR_ALLOCATE, size, disp_unit, info, "MPI_Win_allocate",
                    win);
    *(void **)baseptr = base;
    return MPI_SUCCESS;
}

FT_MPI(int, Win_create,
       (void *base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win *win))
{
    struct ft_win *rma;

    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Win_create, (base, size, disp_unit, info, comm, win));
    int code = check_creation(comm, base, size, disp_unit, "MPI_Win_create");
    if (code != MPI_SUCCESS)
        return code;
    protect_epochs();
    struct ft_ctx ctx = new_context(c);
    code = ft_mpi_code(ft_win_create(&ctx, base, (size_t)size, disp_unit, &rma));
    FT_CHECK(code == MPI_SUCCESS, comm, code, "MPI_Win_create");
    finish_creation(c, rma, MPI_WIN_FLAVOR_CREATE, size, disp_unit, info, "MPI_Win_create", win);
    return MPI_SUCCESS;
}

/* Whether info allows that the parts of a shared window do not follow each other directly. */
static int may_lie_apart(MPI_Info info)
{
    char value[8] = "";
    int flag = 0;
    if (info != MPI_INFO_NULL && HOST(Info_get)(info, "alloc_shared_noncontig", sizeof value - 1,
                                                value, &flag) != MPI_SUCCESS)
        return 0;
    return flag && strcmp(value, "true") == 0;
}

FT_MPI(int, Win_allocate_shared,
       (MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win))
{
    struct ft_win *rma;
    void *base;

    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Win_allocate_shared, (size, disp_unit, info, comm, baseptr, win));
    int code = check_creation(comm, &base, size, disp_unit, "MPI_Win_allocate_shared");
    if (code != MPI_SUCCESS)
        return code;
    ft_comm_keep_on_node(c, "MPI_Win_allocate_shared");
    protect_epochs();
    struct ft_ctx ctx = new_context(c);
    code = ft_mpi_code(
        ft_win_allocate_shared(&ctx, (size_t)size, disp_unit, may_lie_apart(info), &base, &rma));
    FT_CHECK(code == MPI_SUCCESS, comm, code, "MPI_Win_allocate_shared");
    finish_creation(c, rma, MPI_WIN_FLAVOR_SHARED, size, disp_unit, info, "MPI_Win_allocate_shared",
                    win);
    *(void **)baseptr = base;
    return MPI_SUCCESS;
}

FT_MPI(int, Win_shared_query,
       (MPI_Win win, int rank, MPI_Aint *size, int *disp_unit, void *baseptr))
{
    struct ft_window *w = ft_win_of(win);
    FT_WIN_OR_HOST(w, win, Win_shared_query, (win, rank, size, disp_unit, baseptr));
    FT_WIN_CHECK(w->flavor == MPI_WIN_FLAVOR_SHARED, w, MPI_ERR_RMA_FLAVOR, "MPI_Win_shared_query");
    FT_WIN_CHECK(rank == MPI_PROC_NULL || (rank >= 0 && rank < w->size), w, MPI_ERR_RANK,
                 "MPI_Win_shared_query");
    int none = 0;
    if (rank == MPI_PROC_NULL) { /* the first rank that has any memory */
        rank = 0;
        while (rank < w->size && ft_win_size(w->rma, rank) == 0)
            rank++;
        none = rank == w->size;
    }
    *size = none ? 0 : (MPI_Aint)ft_win_size(w->rma, rank);
    *disp_unit = none ? 0 : ft_win_unit_of(w, rank);
    *(void **)baseptr = none ? NULL : ft_win_shared_base(w->rma, rank);
    return MPI_SUCCESS;
}

FT_MPI(int, Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win *win))
{
    struct ft_win *rma;

    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Win_create_dynamic, (info, comm, win));
    int code = check_creation(comm, NULL, 0, 1, "MPI_Win_create_dynamic");
    if (code != MPI_SUCCESS)
        return code;
    protect_epochs();
    struct ft_ctx ctx = new_context(c);
    code = ft_mpi_code(ft_win_create_dynamic(&ctx, &rma));
    FT_CHECK(code == MPI_SUCCESS, comm, code, "MPI_Win_create_dynamic");
    finish_creation(c, rma, MPI_WIN_FLAVOR_DYNAMIC, 0, 1, info, "MPI_Win_create_dynamic", win);
    return MPI_SUCCESS;
}

static int attach_code(enum ft_status st)
{
    return st == FT_OK ? MPI_SUCCESS : st == FT_ERR_NOMEM ? MPI_ERR_NO_MEM : MPI_ERR_RMA_ATTACH;
}

/* Local, but counted as a call: a replacement must attach where the lost process did, and is
 * compared. */
FT_MPI(int, Win_attach, (MPI_Win win, void *base, MPI_Aint size))
{
    ft_door();
    struct ft_window *w = ft_win_of(win);
    FT_WIN_OR_HOST(w, win, Win_attach, (win, base, size));
    FT_WIN_CHECK(w->flavor == MPI_WIN_FLAVOR_DYNAMIC, w, MPI_ERR_RMA_FLAVOR, "MPI_Win_attach");
    FT_WIN_CHECK(size >= 0, w, MPI_ERR_SIZE, "MPI_Win_attach");
    FT_WIN_CHECK(base || size == 0, w, MPI_ERR_RMA_ATTACH, "MPI_Win_attach");
    int code = attach_code(ft_win_attach(w->rma, base, (size_t)size));
    FT_WIN_CHECK(code == MPI_SUCCESS, w, code, "MPI_Win_attach");
    return MPI_SUCCESS;
}

FT_MPI(int, Win_detach, (MPI_Win win, const void *base))
{
    ft_door();
    struct ft_window *w = ft_win_of(win);
    FT_WIN_OR_HOST(w, win, Win_detach, (win, base));
    FT_WIN_CHECK(w->flavor == MPI_WIN_FLAVOR_DYNAMIC, w, MPI_ERR_RMA_FLAVOR, "MPI_Win_detach");
    int code = attach_code(ft_win_detach(w->rma, base));
    FT_WIN_CHECK(code == MPI_SUCCESS, w, code, "MPI_Win_detach");
    return MPI_SUCCESS;
}

/* Frees what the handle owns. The engine's window is gone already, or the engine frees it. */
static void forget(struct ft_window *w)
{
    ft_win_drop_errhandler(w);
    if (w->info != MPI_INFO_NULL)
        HOST(Info_free)(&w->info);
    free(w->target);
    free(w->started.rank);
    ft_comm_release(w->comm);
    *w->noted = (struct ft_open_epochs){0};
    *w = (struct ft_window){.rma = NULL};
}

/* In a rehearsal: keeps the contents of the own part when all accesses are over. */
static void keep(struct ft_window *w)
{
    if (FT_LIKELY(!ft_runtime_keeps_windows()) || w->flavor == MPI_WIN_FLAVOR_DYNAMIC)
        return;
    ft_barrier(&w->comm->ctx);
    ft_runtime_keep_window(ft_win_base(w->rma), (size_t)w->bytes);
}

FT_MPI(int, Win_free, (MPI_Win * win))
{
    ft_door();
    struct ft_window *w = ft_win_of(*win);
    FT_WIN_OR_HOST(w, *win, Win_free, (win));
    FT_WIN_CHECK(!(w->open & ~(uint32_t)FT_OPEN_FENCE) && !ft_win_has_locks(w) &&
                     w->started.n < 0 && w->posted.n < 0,
                 w, MPI_ERR_RMA_SYNC, "MPI_Win_free");
    int code = ft_win_delete_attrs(w), in_body = w->in_body;
    FT_WIN_CHECK(code == MPI_SUCCESS, w, code, "MPI_Win_free");
    keep(w);
    ft_win_free(w->rma);
    forget(w);
    ft_runtime_object_freed(in_body);
    *win = MPI_WIN_NULL;
    return MPI_SUCCESS;
}

static void restore_epochs(struct ft_window *w, int over)
{
    const struct ft_open_epochs e = over ? *w->noted : outside[w - ft_win_pool];

    for (int t = 0; t < w->size; t++)
        w->target[t].open = 0;
    w->started.n = w->posted.n = -1;
    w->noted->nlocked = e.nlocked;
    ft_win_set_open(w, e.open | (e.nlocked ? FT_OPEN_LATE : 0));
    if (w->open & (FT_OPEN_LOCK_ALL | FT_OPEN_LATE))
        ft_win_lock_all(w->rma); /* waits for nobody: locks are taken with the first access; those
                                    that loads and stores need are held again (ft_rma_reset) */
}

void ft_win_rolled_back(int over)
{
    for (struct ft_window *w = ft_win_pool; w < ft_win_pool + FT_WIN_MAX; w++) {
        if (!w->rma)
            continue;
        if (w->in_body || !ft_win_is_there(w->rma)) {
            ft_win_drop_attrs(w);
            forget(w);
        } else {
            restore_epochs(w, over);
        }
    }
}

FT_MPI(int, Win_get_group, (MPI_Win win, MPI_Group *group))
{
    struct ft_window *w = ft_win_of(win);
    FT_WIN_OR_HOST(w, win, Win_get_group, (win, group));
    return ft_make_group(&w->comm->ctx, group);
}

FT_MPI(MPI_Fint, Win_c2f, (MPI_Win win))
{
    return ft_win_in_pool(win)
               ? (MPI_Fint)(FINT_BASE + ((struct ft_window *)(void *)win - ft_win_pool))
               : HOST(Win_c2f)(win);
}

FT_MPI(MPI_Win, Win_f2c, (MPI_Fint win))
{
    return win >= FINT_BASE && win < FINT_BASE + FT_WIN_MAX
               ? ft_win_handle(&ft_win_pool[win - FINT_BASE])
               : HOST(Win_f2c)(win);
}
