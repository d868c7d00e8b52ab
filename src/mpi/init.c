/* SPDX-License-Identifier: BSD-3-Clause
 *
 * init.c - MPI_Init to MPI_Finalize (MPI-3.1, 8.7, 12.4). The host starts first, then the runtime
 * decides what this process is. A process that carries no rank never returns from ft_runtime_start.
 */
#include <stdio.h>
#include <stdlib.h>

#include "alog/homelog_replay.h"
#include "mpi/comm_table.h"
#include "mpi/icoll.h"
#include "mpi/request.h"
#include "mpi/win.h"

FT_STATE(int, ft_mpi_up);
_Thread_local int ft_main_thread;
FT_STATIC(int, is_over);         /* MPI_Finalize has returned */
FT_STATIC(int, thread_provided); /* the result of MPI_Query_thread */
#define is_over FT_MY(is_over)
#define thread_provided FT_MY(thread_provided)

static void bcast0(void *buf, int bytes) { HOST(Bcast)(buf, bytes, MPI_BYTE, 0, MPI_COMM_WORLD); }

static void finalize_host(void) { HOST(Finalize)(); }

void ft_mpi_reset(int over)
{
    ft_request_drop_all();
    ft_request_host_drop_all();
    ft_coll_listen_reset();
    ft_buffer_reset(over);
    ft_file_reset();
    ft_win_rolled_back(over);
    ft_comm_forget_body();
}

static void start(int required)
{
    struct ft_host host = {.threads = required > MPI_THREAD_SINGLE,
                           .bcast0 = bcast0,
                           .going_back = ft_request_host_await_files,
                           .rolled_back = ft_mpi_reset,
                           .reap = ft_request_reap_freed,
                           .finalize = finalize_host};
    int rank, nranks, flag = 0, *tag_ub;

    if (ft_runtime_started())
        ft_runtime_abort(1, "MPI_Init: FTT_Open was called before it. Call MPI_Init first");
    HOST(Comm_rank)(MPI_COMM_WORLD, &host.slot);
    HOST(Comm_size)(MPI_COMM_WORLD, &host.nslots);
    if (!ft_request_pool_init())
        ft_error_fatal(MPI_ERR_NO_MEM, "MPI_Init");
    if (HOST(Comm_get_attr)(MPI_COMM_WORLD, MPI_TAG_UB, &tag_ub, &flag) == MPI_SUCCESS && flag)
        ft_tag_ub = *tag_ub;
    ft_runtime_start(&host, &rank, &nranks);
    ft_coll_listen();
    ft_type_init(); /* a type's description depends on a setting */
    FT_ASSERT(rank >= 0 && rank < nranks && nranks <= host.nslots);
    if (!ft_comm_table_init())
        ft_error_fatal(MPI_ERR_NO_MEM, "MPI_Init");
    ft_runtime_begin_heap();
    ft_runtime_after_init();
    ft_leave();
    ft_mpi_up = ft_main_thread = 1;
    ft_failpoint(INIT_LEAVE);
}

/* Calls may come from several threads, but only one at a time: nothing here is locked, and what a
 * waiting call holds belongs to the process, not to the thread. */
FT_MPI(int, Init_thread, (int *argc, char ***argv, int required, int *provided))
{
    ft_runtime_entering();
    int code = HOST(Init_thread)(
        argc, argv, required > MPI_THREAD_SERIALIZED ? MPI_THREAD_SERIALIZED : required,
        &thread_provided);

    ft_runtime_host_is_up();
    if (code != MPI_SUCCESS)
        return code;
    if (thread_provided > MPI_THREAD_SERIALIZED)
        thread_provided = MPI_THREAD_SERIALIZED;
    *provided = thread_provided;
    ft_runtime_threads = thread_provided >= MPI_THREAD_SERIALIZED;
    start(required);
    return MPI_SUCCESS;
}

FT_MPI(int, Init, (int *argc, char ***argv))
{
    ft_runtime_entering();
    int code = HOST(Init_thread)(argc, argv, MPI_THREAD_SINGLE, &thread_provided);

    ft_runtime_host_is_up();
    if (code == MPI_SUCCESS)
        start(MPI_THREAD_SINGLE);
    return code;
}

FT_MPI(int, Query_thread, (int *provided))
{
    if (!ft_mpi_up)
        return HOST(Query_thread)(provided);
    *provided = thread_provided;
    return MPI_SUCCESS;
}

FT_MPI(int, Finalized, (int *flag))
{
    if (!is_over)
        return HOST(Finalized)(flag);
    *flag = 1;
    return MPI_SUCCESS;
}

/* Where the host's own finalize is left out, the process simply ends later. */
FT_MPI(int, Finalize, (void))
{
    if (!ft_mpi_up)
        return HOST(Finalize)();
    ft_door();
    ft_attr_delete_self();
    ft_request_await_sends(0);
    ft_runtime_finalize();
    ft_mpi_up = 0;
    is_over = 1;
    ft_comm_forget_all();
    return ft_runtime_wants_host_end() ? HOST(Finalize)() : MPI_SUCCESS;
}

FT_MPI(int, Abort, (MPI_Comm comm, int errorcode))
{
    if (!ft_mpi_up)
        return HOST(Abort)(comm, errorcode);
    if (ft_replay == FT_REPLAY && ft_main_thread &&
        ft_coll_unexpected) { /* R0: a check in the program may find what nothing else has shown */
        char text[100];
        ft_door_unattended();
        snprintf(text, sizeof text, "it called MPI_Abort(%d), and the lost process had not",
                 errorcode);
        if (ft_homelog_next())
            ft_coll_unexpected(text);
    }
    ft_runtime_abort(errorcode, NULL);
}
