/* SPDX-License-Identifier: BSD-3-Clause
 *
 * p2p_strict.c - the rules of MPI-3.1 for statuses and errors of point-to-point calls (3.2.4 to
 * 3.2.6, 3.7, 3.9 to 3.11), each section in a function. Errors are returned here.
 */
#include "check.h"

static int right(void) { return (me + 1) % np; }
static int left(void) { return (me + np - 1) % np; }

static int class_of(int code)
{
    int class;
    MPI_Error_class(code, &class);
    return class;
}

/* Bytes that no call would write. */
static MPI_Status untouched(void)
{
    MPI_Status s;
    memset(&s, 0x5a, sizeof s);
    return s;
}

static int is_empty(const MPI_Status *s)
{
    int cancelled, elements;
    MPI_Test_cancelled(s, &cancelled);
    MPI_Get_elements(s, MPI_INT, &elements);
    return s->MPI_SOURCE == MPI_ANY_SOURCE && s->MPI_TAG == MPI_ANY_TAG &&
           count_in(s, MPI_INT) == 0 && elements == 0 && !cancelled;
}

static int is_of_nobody(const MPI_Status *s)
{
    return s->MPI_SOURCE == MPI_PROC_NULL && s->MPI_TAG == MPI_ANY_TAG &&
           count_in(s, MPI_BYTE) == 0;
}

/* 3.11 */
static void nobody(void)
{
    MPI_Status s[2];
    MPI_Request r[2];
    int v = 17, flag = 0, index = -1, n;
    s[0] = untouched();
    CHECK(MPI_Recv(&v, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &s[0]) ==
          MPI_SUCCESS);
    CHECK(is_of_nobody(&s[0]) && v == 17);
    s[0] = untouched();
    CHECK(MPI_Probe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &s[0]) == MPI_SUCCESS && is_of_nobody(&s[0]));
    s[0] = untouched();
    CHECK(MPI_Iprobe(MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &s[0]) == MPI_SUCCESS &&
          flag && is_of_nobody(&s[0]));
    s[0] = untouched();
    CHECK(MPI_Sendrecv(&me, 1, MPI_INT, MPI_PROC_NULL, 0, &v, 1, MPI_INT, MPI_PROC_NULL, 0,
                       MPI_COMM_WORLD, &s[0]) == MPI_SUCCESS);
    CHECK(is_of_nobody(&s[0]) && v == 17);
    s[0] = untouched();
    CHECK(MPI_Sendrecv_replace(&v, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_PROC_NULL, 0, MPI_COMM_WORLD,
                               &s[0]) == MPI_SUCCESS);
    CHECK(is_of_nobody(&s[0]) && v == 17);
    MPI_Irecv(&v, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(&v, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &r[1]);
    s[0] = s[1] = untouched();
    MPI_Waitall(2, r, s);
    CHECK(is_of_nobody(&s[0]) && r[0] == MPI_REQUEST_NULL && r[1] == MPI_REQUEST_NULL);
    MPI_Irecv(&v, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &r[0]);
    r[1] = MPI_REQUEST_NULL;
    s[0] = untouched();
    MPI_Waitany(2, r, &index, &s[0]);
    CHECK(index == 0 && is_of_nobody(&s[0]));
    MPI_Recv_init(&v, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &r[0]);
    MPI_Start(&r[0]);
    s[0] = untouched();
    MPI_Waitsome(1, r, &n, &index, s);
    CHECK(n == 1 && index == 0 && is_of_nobody(&s[0]) && r[0] != MPI_REQUEST_NULL);
    MPI_Request_free(&r[0]);
    CHECK(class_of(MPI_Send(&v, -1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD)) == MPI_ERR_COUNT);
}

/* 3.7.3, 3.7.5: null and inactive requests */
static void nothing_to_wait_for(void)
{
    MPI_Request r[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status s[3];
    int flag, index, n, v = 0, indices[3];
    for (int inactive = 0; inactive < 2; inactive++) {
        if (inactive) {
            MPI_Send_init(&v, 1, MPI_INT, right(), 1, MPI_COMM_WORLD, &r[1]);
            MPI_Recv_init(&v, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &r[2]);
        }
        for (int i = 0; i < 3; i++) {
            s[0] = untouched();
            CHECK(MPI_Wait(&r[i], &s[0]) == MPI_SUCCESS && is_empty(&s[0]));
            s[0] = untouched();
            flag = 0;
            CHECK(MPI_Test(&r[i], &flag, &s[0]) == MPI_SUCCESS && flag && is_empty(&s[0]));
            s[0] = untouched();
            flag = 0;
            CHECK(MPI_Request_get_status(r[i], &flag, &s[0]) == MPI_SUCCESS && flag &&
                  is_empty(&s[0]));
        }
        s[0] = s[1] = s[2] = untouched();
        CHECK(MPI_Waitall(3, r, s) == MPI_SUCCESS && is_empty(&s[0]) && is_empty(&s[1]) &&
              is_empty(&s[2]));
        s[0] = s[1] = s[2] = untouched();
        flag = 0;
        CHECK(MPI_Testall(3, r, &flag, s) == MPI_SUCCESS && flag && is_empty(&s[0]) &&
              is_empty(&s[1]) && is_empty(&s[2]));
        s[0] = untouched();
        index = 0;
        CHECK(MPI_Waitany(3, r, &index, &s[0]) == MPI_SUCCESS && index == MPI_UNDEFINED &&
              is_empty(&s[0]));
        s[0] = untouched();
        index = flag = 0;
        CHECK(MPI_Testany(3, r, &index, &flag, &s[0]) == MPI_SUCCESS && flag &&
              index == MPI_UNDEFINED && is_empty(&s[0]));
        n = 0;
        CHECK(MPI_Waitsome(3, r, &n, indices, s) == MPI_SUCCESS && n == MPI_UNDEFINED);
        n = 0;
        CHECK(MPI_Testsome(3, r, &n, indices, s) == MPI_SUCCESS && n == MPI_UNDEFINED);
        CHECK((r[1] != MPI_REQUEST_NULL) == inactive);
    }
    MPI_Request_free(&r[1]);
    MPI_Request_free(&r[2]);
    CHECK(r[1] == MPI_REQUEST_NULL && r[2] == MPI_REQUEST_NULL);
    CHECK(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    CHECK(MPI_Testall(0, NULL, &flag, MPI_STATUSES_IGNORE) == MPI_SUCCESS && flag);
    CHECK(MPI_Waitany(0, NULL, &index, MPI_STATUS_IGNORE) == MPI_SUCCESS && index == MPI_UNDEFINED);
    CHECK(MPI_Testany(0, NULL, &index, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && flag &&
          index == MPI_UNDEFINED);
    CHECK(MPI_Waitsome(0, NULL, &n, indices, MPI_STATUSES_IGNORE) == MPI_SUCCESS &&
          n == MPI_UNDEFINED);
    CHECK(MPI_Testsome(0, NULL, &n, indices, MPI_STATUSES_IGNORE) == MPI_SUCCESS &&
          n == MPI_UNDEFINED);
    CHECK(class_of(MPI_Request_free(&r[0])) == MPI_ERR_REQUEST);
}

/* 3.2.5: MPI_ERROR is not changed where a call returns one status. */
static void error_field(void)
{
    MPI_Status s = untouched();
    MPI_Request r;
    int was = s.MPI_ERROR, v, flag = 0;
    MPI_Send(&me, 1, MPI_INT, right(), 2, MPI_COMM_WORLD);
    MPI_Send(&me, 1, MPI_INT, right(), 2, MPI_COMM_WORLD);
    MPI_Recv(&v, 1, MPI_INT, left(), 2, MPI_COMM_WORLD, &s);
    CHECK(s.MPI_ERROR == was && v == left());
    MPI_Irecv(&v, 1, MPI_INT, left(), 2, MPI_COMM_WORLD, &r);
    while (!flag)
        MPI_Test(&r, &flag, &s);
    CHECK(s.MPI_ERROR == was);
    MPI_Request both[2];
    MPI_Irecv(&v, 1, MPI_INT, left(), 2, MPI_COMM_WORLD, &both[0]);
    MPI_Isend(&me, 1, MPI_INT, right(), 2, MPI_COMM_WORLD, &both[1]);
    int index = 0;
    MPI_Waitany(2, both, &index, &s);
    CHECK(s.MPI_ERROR == was);
    MPI_Waitany(2, both, &index, &s);
    CHECK(s.MPI_ERROR == was);
}

/* 3.7.5: which of several is wrong */
static void errors_in_statuses(void)
{
    MPI_Request r[3];
    MPI_Status s[3];
    int out[2] = {1, 2}, in[3][2], n, indices[3], flag, done = 0, wrong = 0, code;
    for (int kind = 0; kind < 6; kind++) {
        memset(in, -1, sizeof in);
        for (int i = 0; i < 3; i++)
            MPI_Irecv(in[i], i == 1 ? 1 : 2, MPI_INT, left(), 10 + i, MPI_COMM_WORLD, &r[i]);
        for (int i = 0; i < 3; i++)
            MPI_Send(out, 2, MPI_INT, right(), 10 + i, MPI_COMM_WORLD);
        s[0] = s[1] = s[2] = untouched();
        done = wrong = 0;
        switch (kind) {
        case 0:
            CHECK(class_of(MPI_Waitall(3, r, s)) == MPI_ERR_IN_STATUS);
            CHECK(s[0].MPI_ERROR == MPI_SUCCESS && class_of(s[1].MPI_ERROR) == MPI_ERR_TRUNCATE &&
                  s[2].MPI_ERROR == MPI_SUCCESS);
            CHECK(count_in(&s[0], MPI_INT) == 2 && s[2].MPI_TAG == 12 && s[0].MPI_SOURCE == left());
            break;
        case 1:
            do
                code = MPI_Testall(3, r, &flag, s);
            while (code == MPI_SUCCESS && !flag);
            CHECK(class_of(code) == MPI_ERR_IN_STATUS &&
                  class_of(s[1].MPI_ERROR) == MPI_ERR_TRUNCATE && s[0].MPI_ERROR == MPI_SUCCESS &&
                  s[2].MPI_ERROR == MPI_SUCCESS);
            break;
        case 2:
        case 3:
            while (done < 3) {
                code = kind == 2 ? MPI_Waitsome(3, r, &n, indices, s)
                                 : MPI_Testsome(3, r, &n, indices, s);
                int bad = 0;
                for (int i = 0; i < n; i++)
                    if (code != MPI_SUCCESS && s[i].MPI_ERROR != MPI_SUCCESS) {
                        CHECK(indices[i] == 1 && class_of(s[i].MPI_ERROR) == MPI_ERR_TRUNCATE);
                        bad++;
                    }
                CHECK(bad ? class_of(code) == MPI_ERR_IN_STATUS : code == MPI_SUCCESS);
                done += n;
                wrong += bad;
            }
            CHECK(wrong == 1);
            break;
        case 4:
        case 5:
            for (; done < 3; done += flag) {
                int index;
                flag = 1;
                code =
                    kind == 4 ? MPI_Waitany(3, r, &index, s) : MPI_Testany(3, r, &index, &flag, s);
                if (!flag)
                    continue;
                CHECK(index == 1 ? class_of(code) == MPI_ERR_TRUNCATE : code == MPI_SUCCESS);
            }
            break;
        }
        CHECK(r[0] == MPI_REQUEST_NULL && r[2] == MPI_REQUEST_NULL);
        CHECK(in[0][1] == 2 && in[2][1] == 2 && in[1][0] == 1 && in[1][1] == -1);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    int two[2] = {5, 6}, one[2] = {-1, -1};
    MPI_Send(two, 2, MPI_INT, right(), 1, MPI_COMM_WORLD);
    CHECK(class_of(MPI_Recv(one, 1, MPI_INT, left(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)) ==
          MPI_ERR_TRUNCATE);
    CHECK(one[1] == -1);
}

/* 3.2.5: counts of incomplete elements. */
static void counts(void)
{
    MPI_Datatype three, pair, none;
    MPI_Status s;
    int out[8] = {1, 2, 3, 4, 5, 6, 7, 8}, in[9], n;
    MPI_Count big;
    MPI_Type_contiguous(3, MPI_INT, &three);
    MPI_Type_contiguous(0, MPI_INT, &none);
    MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 8},
                           (MPI_Datatype[]){MPI_INT, MPI_DOUBLE}, &pair);
    MPI_Type_commit(&three);
    MPI_Type_commit(&none);
    MPI_Type_commit(&pair);
    MPI_Send(out, 8, MPI_INT, right(), 1, MPI_COMM_WORLD);
    MPI_Recv(in, 3, three, left(), 1, MPI_COMM_WORLD, &s);
    MPI_Get_count(&s, three, &n);
    CHECK(n == MPI_UNDEFINED);
    MPI_Get_elements(&s, three, &n);
    CHECK(n == 8);
    MPI_Get_elements_x(&s, three, &big);
    CHECK(big == 8);
    MPI_Get_count(&s, MPI_INT, &n);
    CHECK(n == 8);
    MPI_Get_count(&s, MPI_DOUBLE, &n);
    CHECK(n == 4);
    MPI_Send(out, 3, MPI_BYTE, right(), 1, MPI_COMM_WORLD);
    MPI_Recv(in, 36, MPI_BYTE, left(), 1, MPI_COMM_WORLD, &s);
    MPI_Get_count(&s, MPI_INT, &n);
    CHECK(n == MPI_UNDEFINED);
    struct {
        int a;
        double b;
    } mine[2] = {{me, me + 0.5}, {me + 1, me + 1.5}}, theirs[2];
    memset(theirs, 0, sizeof theirs);
    MPI_Sendrecv(mine, 2, pair, right(), 1, theirs, 2, pair, left(), 1, MPI_COMM_WORLD, &s);
    MPI_Get_count(&s, pair, &n);
    CHECK(n == 2 && theirs[1].a == left() + 1 && theirs[1].b == left() + 1.5);
    MPI_Get_elements(&s, pair, &n);
    CHECK(n == 4);
    MPI_Send(out, 5, none, right(), 1, MPI_COMM_WORLD);
    MPI_Recv(in, 0, MPI_INT, left(), 1, MPI_COMM_WORLD, &s);
    MPI_Get_count(&s, MPI_INT, &n);
    CHECK(n == 0);
    MPI_Get_count(&s, none, &n);
    CHECK(n == 0);
    MPI_Status_set_elements(&s, MPI_INT, 7);
    CHECK(count_in(&s, MPI_INT) == 7);
    MPI_Status_set_cancelled(&s, 1);
    MPI_Test_cancelled(&s, &n);
    CHECK(n == 1);
    MPI_Type_free(&three);
    MPI_Type_free(&none);
    MPI_Type_free(&pair);
}

/* 3.10: types that differ, strides, sizes of 0, oneself */
static void exchanges(void)
{
    MPI_Datatype column;
    MPI_Status s;
    int a[4][5], b[4] = {-1, -1, -1, -1}, self = me;
    MPI_Type_vector(4, 1, 5, MPI_INT, &column);
    MPI_Type_commit(&column);
    for (int i = 0; i < 20; i++)
        a[i / 5][i % 5] = 100 * me + i;
    MPI_Sendrecv(&a[0][2], 1, column, right(), 3, b, 4, MPI_INT, left(), 3, MPI_COMM_WORLD, &s);
    CHECK(count_in(&s, MPI_INT) == 4 && count_in(&s, column) == 1);
    for (int i = 0; i < 4; i++)
        CHECK(b[i] == 100 * left() + 5 * i + 2);
    MPI_Sendrecv_replace(&a[0][1], 1, column, right(), 3, left(), MPI_ANY_TAG, MPI_COMM_WORLD, &s);
    CHECK(s.MPI_TAG == 3);
    for (int i = 0; i < 20; i++)
        CHECK(a[i / 5][i % 5] == 100 * (i % 5 == 1 ? left() : me) + i);
    MPI_Sendrecv(NULL, 0, MPI_INT, right(), 3, NULL, 0, MPI_DOUBLE, MPI_ANY_SOURCE, 3,
                 MPI_COMM_WORLD, &s);
    CHECK(s.MPI_SOURCE == left() && count_in(&s, MPI_DOUBLE) == 0);
    MPI_Sendrecv_replace(&self, 1, MPI_INT, me, 4, me, 4, MPI_COMM_WORLD, &s);
    CHECK(self == me && s.MPI_SOURCE == me);
    MPI_Sendrecv_replace(&self, 1, MPI_INT, 0, 4, 0, 4, MPI_COMM_SELF, &s);
    CHECK(self == me && s.MPI_SOURCE == 0);
    MPI_Type_free(&column);
}

/* 3.2.2, 3.2.4, 8.1.2: arguments */
static void arguments(void)
{
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    int v = 0, found, *ub = NULL, flag;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &ub, &found);
    CHECK(found && *ub >= 32767);
    CHECK(MPI_Send(&v, 1, MPI_INT, right(), *ub, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(MPI_Recv(&v, 1, MPI_INT, left(), *ub, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(class_of(MPI_Send(&v, 1, MPI_INT, right(), -1, MPI_COMM_WORLD)) == MPI_ERR_TAG);
    CHECK(class_of(MPI_Send(&v, 1, MPI_INT, right(), MPI_ANY_TAG, MPI_COMM_WORLD)) == MPI_ERR_TAG);
    CHECK(class_of(MPI_Recv(&v, 1, MPI_INT, left(), -5, MPI_COMM_WORLD, MPI_STATUS_IGNORE)) ==
          MPI_ERR_TAG);
    CHECK(class_of(MPI_Send(&v, -1, MPI_INT, right(), 0, MPI_COMM_WORLD)) == MPI_ERR_COUNT);
    CHECK(class_of(MPI_Irecv(&v, -1, MPI_INT, right(), 0, MPI_COMM_WORLD, &r)) == MPI_ERR_COUNT);
    CHECK(class_of(MPI_Send(&v, 1, type, right(), 0, MPI_COMM_WORLD)) == MPI_ERR_TYPE);
    CHECK(class_of(MPI_Recv(&v, 1, type, left(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)) ==
          MPI_ERR_TYPE);
    CHECK(class_of(MPI_Send(&v, 1, MPI_INT, np, 0, MPI_COMM_WORLD)) == MPI_ERR_RANK);
    CHECK(class_of(MPI_Ssend(&v, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD)) == MPI_ERR_RANK);
    CHECK(class_of(MPI_Isend(&v, 1, MPI_INT, -7, 0, MPI_COMM_WORLD, &r)) == MPI_ERR_RANK);
    CHECK(class_of(MPI_Recv(&v, 1, MPI_INT, np, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)) ==
          MPI_ERR_RANK);
    CHECK(class_of(MPI_Probe(np, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)) == MPI_ERR_RANK);
    CHECK(class_of(MPI_Iprobe(np, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE)) == MPI_ERR_RANK);
    CHECK(class_of(MPI_Send(&v, 1, MPI_INT, right(), 0, MPI_COMM_NULL)) == MPI_ERR_COMM);
    MPI_Send_init(&v, 1, MPI_INT, right(), 0, MPI_COMM_WORLD, &r);
    MPI_Request_free(&r);
    CHECK(class_of(MPI_Start(&r)) == MPI_ERR_REQUEST);
}

/* A communicator's own handler, and what it inherits */
static int called, called_with;
static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    called++;
    called_with = class_of(*code);
}

static void handlers(void)
{
    MPI_Errhandler mine;
    MPI_Comm dup, child;
    MPI_Request r;
    int v = 0, two[2] = {1, 2};
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    CHECK(class_of(MPI_Send(&v, 1, MPI_INT, np, 0, dup)) == MPI_ERR_RANK); /* inherited: returned */
    MPI_Comm_create_errhandler(handler, &mine);
    MPI_Comm_set_errhandler(dup, mine);
    MPI_Errhandler_free(&mine);
    called = 0;
    CHECK(class_of(MPI_Send(&v, 1, MPI_INT, np, 0, dup)) == MPI_ERR_RANK && called == 1 &&
          called_with == MPI_ERR_RANK);
    CHECK(class_of(MPI_Send(&v, 1, MPI_INT, np, 0, MPI_COMM_WORLD)) == MPI_ERR_RANK && called == 1);
    MPI_Comm_dup(dup, &child);
    MPI_Irecv(&v, 1, MPI_INT, left(), 1, child, &r);
    MPI_Send(two, 2, MPI_INT, right(), 1, child);
    CHECK(class_of(MPI_Wait(&r, MPI_STATUS_IGNORE)) == MPI_ERR_TRUNCATE && called == 2 &&
          called_with == MPI_ERR_TRUNCATE);
    MPI_Comm_free(&child);
    MPI_Comm_free(&dup);
}

/* 3.8.4 */
static void cancelling(void)
{
    MPI_Request r;
    MPI_Status s;
    int v = -1, gone = 0, flag = 0;
    MPI_Irecv(&v, 1, MPI_INT, left(), 8, MPI_COMM_WORLD, &r);
    MPI_Cancel(&r);
    MPI_Wait(&r, &s);
    MPI_Test_cancelled(&s, &gone);
    CHECK(gone && v == -1 && r == MPI_REQUEST_NULL);
    MPI_Recv_init(&v, 1, MPI_INT, left(), 8, MPI_COMM_WORLD, &r);
    for (int i = 0; i < 2; i++) {
        MPI_Start(&r);
        MPI_Cancel(&r);
        for (flag = 0; !flag;)
            MPI_Test(&r, &flag, &s);
        MPI_Test_cancelled(&s, &gone);
        CHECK(gone && r != MPI_REQUEST_NULL);
    }
    MPI_Start(&r); /* and is a receive again */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&me, 1, MPI_INT, right(), 8, MPI_COMM_WORLD);
    MPI_Wait(&r, &s);
    MPI_Test_cancelled(&s, &gone);
    CHECK(!gone && v == left());
    MPI_Request_free(&r);
    MPI_Isend(&me, 1, MPI_INT, right(), 9, MPI_COMM_WORLD, &r); /* either way it is over */
    MPI_Cancel(&r);
    MPI_Wait(&r, &s);
    MPI_Test_cancelled(&s, &gone);
    MPI_Sendrecv(&gone, 1, MPI_INT, right(), 10, &gone, 0, MPI_INT, MPI_PROC_NULL, 10,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&flag, 1, MPI_INT, left(), 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!flag)
        MPI_Recv(&v, 1, MPI_INT, left(), 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(v == left());
}

/* 3.5: order; a wildcard does not see the library's own messages; communicators are apart */
static void order(void)
{
    MPI_Comm dup;
    MPI_Request r[4];
    MPI_Status s;
    int in[4], flag, v;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    for (int i = 0; i < 4; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, i % 2 ? MPI_ANY_SOURCE : left(), i < 2 ? MPI_ANY_TAG : 5,
                  MPI_COMM_WORLD, &r[i]);
    for (int i = 0; i < 4; i++) {
        v = 10 * me + i;
        MPI_Send(&v, 1, MPI_INT, right(), 5, MPI_COMM_WORLD);
    }
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 4; i++)
        CHECK(in[i] == 10 * left() + i);
    MPI_Barrier(dup);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &s);
    CHECK(!flag);
    MPI_Send(&me, 1, MPI_INT, right(), 1, dup);
    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, dup, &s);
    CHECK(s.MPI_SOURCE == left() && s.MPI_TAG == 1 && count_in(&s, MPI_INT) == 1);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &s);
    CHECK(!flag);
    MPI_Recv(&v, 1, MPI_INT, s.MPI_SOURCE, s.MPI_TAG, dup, MPI_STATUS_IGNORE);
    CHECK(v == left());
    MPI_Barrier(dup); /* nobody sends anything else before all have probed */
    MPI_Comm_free(&dup);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    nobody();
    nothing_to_wait_for();
    error_field();
    MPI_Barrier(MPI_COMM_WORLD);
    errors_in_statuses();
    counts();
    exchanges();
    arguments();
    handlers();
    cancelling();
    MPI_Barrier(MPI_COMM_WORLD);
    order();
    return finish();
}
