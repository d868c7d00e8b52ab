/* SPDX-License-Identifier: BSD-3-Clause
 *
 * matched.c - matched probes: a taken message is out of the queue for all other calls, and is
 * received by its handle, in any order.
 */
#include "check.h"

static int right(void) { return (me + 1) % np; }
static int left(void) { return (me + np - 1) % np; }

static void tell(int to, int tag, int v) { MPI_Send(&v, 1, MPI_INT, to, tag, MPI_COMM_WORLD); }

static void out_of_the_queue(void)
{
    MPI_Message m[3];
    MPI_Status st;
    MPI_Request r;
    int flag, v;
    for (int i = 0; i < 4; i++)
        tell(right(), 5, 100 * me + i);
    for (int i = 0; i < 3; i++) {
        MPI_Mprobe(i == 1 ? MPI_ANY_SOURCE : left(), i == 2 ? MPI_ANY_TAG : 5, MPI_COMM_WORLD,
                   &m[i], &st);
        CHECK(m[i] != MPI_MESSAGE_NULL && m[i] != MPI_MESSAGE_NO_PROC);
        CHECK(st.MPI_SOURCE == left() && st.MPI_TAG == 5 && count_in(&st, MPI_INT) == 1);
    }
    MPI_Recv(&v, 1, MPI_INT, left(), 5, MPI_COMM_WORLD, &st); /* the fourth */
    CHECK(v == 100 * left() + 3);
    MPI_Iprobe(left(), 5, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag);
    MPI_Mrecv(&v, 1, MPI_INT, &m[2], &st);
    CHECK(v == 100 * left() + 2 && m[2] == MPI_MESSAGE_NULL && st.MPI_SOURCE == left() &&
          st.MPI_TAG == 5);
    MPI_Message copy = MPI_Message_f2c(MPI_Message_c2f(m[0]));
    CHECK(copy == m[0]);
    MPI_Imrecv(&v, 1, MPI_INT, &copy, &r);
    CHECK(copy == MPI_MESSAGE_NULL && r != MPI_REQUEST_NULL);
    MPI_Wait(&r, &st);
    CHECK(v == 100 * left() && st.MPI_SOURCE == left() && st.MPI_TAG == 5 &&
          count_in(&st, MPI_INT) == 1);
    MPI_Mrecv(&v, 1, MPI_INT, &m[1], MPI_STATUS_IGNORE);
    CHECK(v == 100 * left() + 1);
    CHECK(MPI_Message_f2c(MPI_Message_c2f(MPI_MESSAGE_NULL)) == MPI_MESSAGE_NULL);
    CHECK(MPI_Message_f2c(MPI_Message_c2f(MPI_MESSAGE_NO_PROC)) == MPI_MESSAGE_NO_PROC);
}

/* A taken message may still be on its way; two of them are received in reverse order. */
static void long_ones(void)
{
    enum { LONG = 300000 };
    static int out[LONG], in[2][LONG];
    MPI_Message m[2];
    MPI_Request r[4];
    MPI_Status st;
    for (int i = 0; i < LONG; i++)
        out[i] = me + i;
    MPI_Isend(out, LONG, MPI_INT, right(), 1, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(out, LONG, MPI_INT, right(), 2, MPI_COMM_WORLD, &r[1]);
    MPI_Mprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &m[0], &st);
    CHECK(count_in(&st, MPI_INT) == LONG);
    MPI_Mprobe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &m[1], MPI_STATUS_IGNORE);
    MPI_Imrecv(in[1], LONG, MPI_INT, &m[1], &r[2]);
    MPI_Imrecv(in[0], LONG, MPI_INT, &m[0], &r[3]);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < LONG; i++)
        CHECK(in[0][i] == left() + i && in[1][i] == left() + i);
}

/* A synchronous send completes when its message is received, not when it is found. */
static void synchronous(void)
{
    MPI_Message m;
    MPI_Request r;
    int out = me, in = -1, flag, token = 0;
    MPI_Issend(&out, 1, MPI_INT, right(), 3, MPI_COMM_WORLD, &r);
    for (int i = 0; i < 50; i++) {
        MPI_Probe(left(), 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* does not match it */
        MPI_Iprobe(left(), 3, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        CHECK(flag);
        MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Mprobe(left(), 3, MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&me, 1, MPI_INT, right(), 4, &token, 1, MPI_INT, left(), 4, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag && token == left() && in == -1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Mrecv(&in, 1, MPI_INT, &m, MPI_STATUS_IGNORE);
    CHECK(in == left());
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void improbe(void)
{
    MPI_Message m = MPI_MESSAGE_NO_PROC;
    MPI_Status st;
    int flag = 1, v = -1;
    MPI_Improbe(left(), 6, MPI_COMM_WORLD, &flag, &m, &st);
    CHECK(!flag && m == MPI_MESSAGE_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    tell(right(), 6, me);
    do
        MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &m, &st);
    while (!flag);
    CHECK(st.MPI_SOURCE == left() && st.MPI_TAG == 6);
    MPI_Mrecv(&v, 1, MPI_INT, &m, &st);
    CHECK(v == left());
}

static void nobody(void)
{
    MPI_Message m;
    MPI_Status st;
    MPI_Request r;
    int flag = 0, v = 17;
    MPI_Mprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &m, &st);
    CHECK(m == MPI_MESSAGE_NO_PROC && st.MPI_SOURCE == MPI_PROC_NULL && st.MPI_TAG == MPI_ANY_TAG &&
          count_in(&st, MPI_INT) == 0);
    MPI_Mrecv(&v, 1, MPI_INT, &m, &st);
    CHECK(m == MPI_MESSAGE_NULL && st.MPI_SOURCE == MPI_PROC_NULL && st.MPI_TAG == MPI_ANY_TAG &&
          v == 17);
    MPI_Improbe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &flag, &m, MPI_STATUS_IGNORE);
    CHECK(flag && m == MPI_MESSAGE_NO_PROC);
    MPI_Imrecv(&v, 1, MPI_INT, &m, &r);
    CHECK(m == MPI_MESSAGE_NULL);
    MPI_Wait(&r, &st);
    CHECK(r == MPI_REQUEST_NULL && st.MPI_SOURCE == MPI_PROC_NULL && st.MPI_TAG == MPI_ANY_TAG &&
          count_in(&st, MPI_INT) == 0);
}

static void wrong_ones(void)
{
    MPI_Message m;
    int v[2] = {-1, -1}, two[2] = {1, 2}, class;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Send(two, 2, MPI_INT, right(), 7, MPI_COMM_WORLD);
    MPI_Mprobe(left(), 7, MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE);
    MPI_Error_class(MPI_Mrecv(v, 1, MPI_INT, &m, MPI_STATUS_IGNORE), &class);
    CHECK(class == MPI_ERR_TRUNCATE && v[0] == 1 && v[1] == -1);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    out_of_the_queue();
    MPI_Barrier(MPI_COMM_WORLD);
    long_ones();
    synchronous();
    MPI_Barrier(MPI_COMM_WORLD);
    improbe();
    nobody();
    MPI_Barrier(MPI_COMM_WORLD);
    wrong_ones();
    return finish();
}
