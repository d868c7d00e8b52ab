/* SPDX-License-Identifier: BSD-3-Clause
 *
 * callbacks.c - callbacks of the program that wait for messages: error handlers of communicators
 * and windows, functions that copy and delete attributes. A rollback may come while they wait.
 *
 *   edges_callbacks [threads]     threads: MPI_THREAD_SERIALIZED
 */
#include <ftrma.h>

#include "../program.h"

enum { ROUNDS = 16 };

static struct {
    uint64_t round, sum, exchanged;
} state;
static MPI_Comm comm;
static MPI_Win win;
static int keyval, win_keyval;

/* Exchanges with both neighbours: a rank in a callback waits for those who have not come to theirs
 * yet. */
static void exchange(void)
{
    uint64_t to = mix(state.sum + state.exchanged++), in[2];
    int right = (me + 1) % np, left = (me + np - 1) % np;
    MPI_Sendrecv(&to, 1, MPI_UINT64_T, right, 5, &in[0], 1, MPI_UINT64_T, left, 5, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(&to, 1, MPI_UINT64_T, left, 6, &in[1], 1, MPI_UINT64_T, right, 6, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    state.sum = mix(state.sum ^ in[0] ^ mix(in[1]));
}

static int copy_attr(MPI_Comm old, int key, void *extra, void *in, void *out, int *flag)
{
    (void)old, (void)key, (void)extra;
    exchange();
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete_attr(MPI_Comm c, int key, void *value, void *extra)
{
    (void)c, (void)key, (void)extra;
    if (value)
        exchange();
    return MPI_SUCCESS;
}

static int delete_win_attr(MPI_Win w, int key, void *value, void *extra)
{
    (void)w, (void)key, (void)value, (void)extra;
    exchange();
    return MPI_SUCCESS;
}

static void on_error(MPI_Comm *c, int *code, ...)
{
    (void)c, (void)code;
    exchange();
}

static void on_win_error(MPI_Win *w, int *code, ...)
{
    (void)w, (void)code;
    exchange();
}

static void body(void *arg)
{
    (void)arg;
    for (; state.round < ROUNDS; state.round++) {
        MPI_Comm dup;
        MPI_Win own;
        int *mem, nowhere = np + 1;
        FTRMA_Safepoint();
        switch (state.round % 4) {
        case 0:
        case 1:
            CHECK(MPI_Comm_dup(state.round % 4 ? MPI_COMM_WORLD : comm, &dup) == MPI_SUCCESS);
            CHECK(MPI_Comm_free(&dup) == MPI_SUCCESS);
            break;
        case 2: CHECK(MPI_Send(&nowhere, 1, MPI_INT, nowhere, 1, comm) != MPI_SUCCESS); break;
        case 3:
            CHECK(MPI_Put(&nowhere, 1, MPI_INT, nowhere, 0, 1, MPI_INT, win) != MPI_SUCCESS);
            MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &own);
            CHECK(MPI_Win_set_attr(own, win_keyval, &keyval) == MPI_SUCCESS &&
                  MPI_Win_free(&own) == MPI_SUCCESS);
        }
        exchange();
    }
}

int main(int argc, char **argv)
{
    MPI_Errhandler h, wh;
    int provided, *mine;
    MPI_Init_thread(&argc, &argv, argc > 1 ? MPI_THREAD_SERIALIZED : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &np);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(on_error, &h);
    MPI_Comm_set_errhandler(comm, h);
    MPI_Comm_create_keyval(copy_attr, delete_attr, &keyval, NULL);
    MPI_Comm_set_attr(comm, keyval, &keyval);
    MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, &keyval);
    MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    MPI_Win_create_errhandler(on_win_error, &wh);
    MPI_Win_set_errhandler(win, wh);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_win_attr, &win_keyval, NULL);
    FTRMA_Protect(&state, sizeof state);
    CHECK(FTRMA_Run(body, NULL) == MPI_SUCCESS);
    uint64_t sum = state.sum;
    return finish(sum);
}
