/* SPDX-License-Identifier: BSD-3-Clause
 *
 * errors.c - the error classes that MPI prescribes for wrong arguments, by the communicator's error
 * handler: returned, or passed to a function. With an argument it makes that error under
 * MPI_ERRORS_ARE_FATAL, and must not return from the call.
 */
#include "check.h"

static int class_of(int code)
{
    int class;
    MPI_Error_class(code, &class);
    return class;
}

static int told, told_class;
static MPI_Comm told_comm;
static void handler(MPI_Comm *c, int *code, ...)
{
    told++;
    told_comm = *c;
    told_class = class_of(*code);
}

static void arguments(MPI_Comm c)
{
    int v = 0, flag, *p = &v;
    MPI_Request q;
    MPI_Status s;
    MPI_Comm d;

    CHECK(class_of(MPI_Send(p, 1, MPI_INT, np, 0, c)) == MPI_ERR_RANK);
    CHECK(class_of(MPI_Send(p, 1, MPI_INT, -17, 0, c)) == MPI_ERR_RANK);
    CHECK(class_of(MPI_Send(p, 1, MPI_INT, MPI_ANY_SOURCE, 0, c)) == MPI_ERR_RANK);
    CHECK(class_of(MPI_Send(p, 1, MPI_INT, 0, -5, c)) == MPI_ERR_TAG);
    CHECK(class_of(MPI_Send(p, 1, MPI_INT, 0, MPI_ANY_TAG, c)) == MPI_ERR_TAG);
    CHECK(class_of(MPI_Send(p, -1, MPI_INT, 0, 0, c)) == MPI_ERR_COUNT);
    CHECK(class_of(MPI_Send(p, 1, MPI_DATATYPE_NULL, 0, 0, c)) == MPI_ERR_TYPE);
    CHECK(class_of(MPI_Isend(p, 1, MPI_INT, np, 0, c, &q)) == MPI_ERR_RANK);
    CHECK(class_of(MPI_Irecv(p, 1, MPI_INT, np, 0, c, &q)) == MPI_ERR_RANK);
    CHECK(class_of(MPI_Recv(p, 1, MPI_INT, 0, -3, c, &s)) == MPI_ERR_TAG);
    CHECK(class_of(MPI_Recv(p, -1, MPI_INT, 0, 0, c, &s)) == MPI_ERR_COUNT);
    CHECK(class_of(MPI_Recv(p, 1, MPI_DATATYPE_NULL, 0, 0, c, &s)) == MPI_ERR_TYPE);
    CHECK(class_of(MPI_Iprobe(np, 0, c, &flag, &s)) == MPI_ERR_RANK);
    CHECK(class_of(MPI_Sendrecv(p, 1, MPI_INT, np, 0, p, 1, MPI_INT, 0, 0, c, &s)) == MPI_ERR_RANK);
    CHECK(class_of(MPI_Bcast(p, 1, MPI_INT, np, c)) == MPI_ERR_ROOT);
    CHECK(class_of(MPI_Bcast(p, -1, MPI_INT, 0, c)) == MPI_ERR_COUNT);
    CHECK(class_of(MPI_Allreduce(p, &flag, 1, MPI_INT, MPI_OP_NULL, c)) == MPI_ERR_OP);
    CHECK(class_of(MPI_Reduce(p, &flag, 1, MPI_INT, MPI_SUM, -1, c)) == MPI_ERR_ROOT);
    CHECK(class_of(MPI_Comm_create(c, MPI_GROUP_NULL, &d)) == MPI_ERR_GROUP);
}

static void truncated(MPI_Comm c)
{
    int out[4] = {1, 2, 3, 4}, in[4] = {0}, right = (me + 1) % np, left = (me + np - 1) % np;
    MPI_Request q[2];
    MPI_Status s[2];

    MPI_Isend(out, 4, MPI_INT, right, 1, c, &q[0]);
    CHECK(class_of(MPI_Recv(in, 2, MPI_INT, left, 1, c, &s[0])) == MPI_ERR_TRUNCATE);
    MPI_Wait(&q[0], MPI_STATUS_IGNORE);
    CHECK(in[2] == 0);
    if (np == 1) /* Open MPI's Waitall does not report the error of a message to the own process */
        return;
    MPI_Irecv(in, 2, MPI_INT, left, 2, c, &q[0]);
    MPI_Irecv(in, 4, MPI_INT, left, 3, c, &q[1]);
    MPI_Send(out, 4, MPI_INT, right, 2, c);
    MPI_Send(out, 4, MPI_INT, right, 3, c);
    CHECK(MPI_Waitall(2, q, s) == MPI_ERR_IN_STATUS);
    CHECK(class_of(s[0].MPI_ERROR) == MPI_ERR_TRUNCATE);
    if (q[1] != MPI_REQUEST_NULL)
        MPI_Wait(&q[1], &s[1]);
    CHECK(in[3] == 4);
}

int main(int argc, char **argv)
{
    MPI_Comm c, d;
    MPI_Errhandler h, got;
    int rank;

    start(&argc, &argv);
    if (argc > 1) {
        if (strcmp(argv[1], "rank") == 0)
            MPI_Send(&me, 1, MPI_INT, np, 0, MPI_COMM_WORLD);
        else if (strcmp(argv[1], "comm") == 0)
            MPI_Comm_rank(MPI_COMM_NULL, &rank);
        else
            MPI_Abort(MPI_COMM_WORLD, 3);
        fprintf(stderr, "errors.c: came back from a fatal error\n");
        return 0;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(class_of(MPI_Comm_rank(MPI_COMM_NULL, &rank)) == MPI_ERR_COMM);
    CHECK(class_of(MPI_Send(&me, 1, MPI_INT, 0, 0, MPI_COMM_NULL)) == MPI_ERR_COMM);
    CHECK(class_of(MPI_Barrier(MPI_COMM_NULL)) == MPI_ERR_COMM);
    arguments(MPI_COMM_WORLD);
    truncated(MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &c); /* inherits the handler */
    MPI_Comm_get_errhandler(c, &got);
    CHECK(got == MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&got);
    arguments(c);
    MPI_Comm_create_errhandler(handler, &h);
    MPI_Comm_set_errhandler(c, h);
    MPI_Comm_split(c, me % 2, 0, &d);
    MPI_Errhandler_free(&h);
    told = 0;
    MPI_Send(&me, 1, MPI_INT, np + 3, 0, c);
    CHECK(told == 1 && told_comm == c && told_class == MPI_ERR_RANK);
    MPI_Send(&me, 1, MPI_INT, 0, -9, d);
    CHECK(told == 2 && told_comm == d && told_class == MPI_ERR_TAG);
    MPI_Comm_call_errhandler(d, MPI_ERR_OTHER);
    CHECK(told == 3 && told_class == MPI_ERR_OTHER);
    MPI_Comm_free(&c);
    MPI_Comm_free(&d);
    return finish();
}
