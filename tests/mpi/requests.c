/* SPDX-License-Identifier: BSD-3-Clause
 *
 * requests.c - the Wait and Test families over null, inactive, complete and pending requests, the
 * host's own among them; Request_free, Request_get_status, Cancel, persistent requests, handles to
 * Fortran and back.
 */
#include "check.h"

enum { N = 16 };
static int right, left, in[N], out[N];
static MPI_Request r[2 * N];

static void post(void)
{
    for (int i = 0; i < N; i++) {
        out[i] = me * 100 + i;
        in[i] = -1;
        MPI_Irecv(&in[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &r[i]);
    }
    for (int i = 0; i < N; i++)
        MPI_Isend(&out[i], 1, MPI_INT, right, i, MPI_COMM_WORLD, &r[N + i]);
}

static void check_data(void)
{
    for (int i = 0; i < N; i++)
        CHECK(in[i] == left * 100 + i);
    for (int i = 0; i < 2 * N; i++)
        CHECK(r[i] == MPI_REQUEST_NULL);
}

static void all(void)
{
    MPI_Status s[2 * N];
    int flag = 0;

    post();
    MPI_Waitall(2 * N, r, s);
    check_data();
    for (int i = 0; i < N; i++)
        CHECK(s[i].MPI_SOURCE == left && s[i].MPI_TAG == i && count_in(&s[i], MPI_INT) == 1);
    post();
    MPI_Waitall(2 * N, r, MPI_STATUSES_IGNORE);
    check_data();
    post();
    while (!flag)
        MPI_Testall(2 * N, r, &flag, s);
    check_data();
    CHECK(s[3].MPI_TAG == 3 && s[3].MPI_SOURCE == left);
    flag = 0;
    MPI_Testall(2 * N, r, &flag, MPI_STATUSES_IGNORE);
    CHECK(flag);
}

static void any(void)
{
    MPI_Status s;
    int index, flag, seen[2 * N] = {0};

    post();
    for (int k = 0; k < 2 * N; k++) {
        MPI_Waitany(2 * N, r, &index, &s);
        CHECK(index >= 0 && index < 2 * N && !seen[index]);
        seen[index] = 1;
        CHECK(index >= N || (s.MPI_TAG == index && in[index] == left * 100 + index));
    }
    MPI_Waitany(2 * N, r, &index, &s);
    CHECK(index == MPI_UNDEFINED && s.MPI_SOURCE == MPI_ANY_SOURCE && count_in(&s, MPI_INT) == 0);
    check_data();
    post();
    for (int k = 0; k < 2 * N;) {
        MPI_Testany(2 * N, r, &index, &flag, &s);
        CHECK(!flag || (index >= 0 && index < 2 * N));
        k += flag;
    }
    MPI_Testany(2 * N, r, &index, &flag, &s);
    CHECK(flag && index == MPI_UNDEFINED);
    check_data();
}

static void some(void)
{
    MPI_Status s[2 * N];
    int indices[2 * N], n, total = 0;

    post();
    while (total < 2 * N) {
        MPI_Waitsome(2 * N, r, &n, indices, s);
        CHECK(n > 0);
        for (int i = 0; i < n; i++)
            CHECK(indices[i] >= N || s[i].MPI_TAG == indices[i]);
        total += n;
    }
    MPI_Waitsome(2 * N, r, &n, indices, s);
    CHECK(n == MPI_UNDEFINED);
    check_data();
    post();
    for (total = 0; total < 2 * N; total += n)
        MPI_Testsome(2 * N, r, &n, indices, s);
    MPI_Testsome(2 * N, r, &n, indices, s);
    CHECK(n == MPI_UNDEFINED);
    check_data();
}

static void single(void)
{
    MPI_Status s;
    MPI_Request q = MPI_REQUEST_NULL, p;
    int flag = 0, v = -1;

    MPI_Wait(&q, &s);
    CHECK(s.MPI_SOURCE == MPI_ANY_SOURCE && s.MPI_TAG == MPI_ANY_TAG && count_in(&s, MPI_INT) == 0);
    MPI_Test(&q, &flag, &s);
    CHECK(flag);
    MPI_Irecv(&v, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &q);
    CHECK(q != MPI_REQUEST_NULL);
    MPI_Wait(&q, &s);
    CHECK(q == MPI_REQUEST_NULL && s.MPI_SOURCE == MPI_PROC_NULL && count_in(&s, MPI_INT) == 0 &&
          v == -1);
    MPI_Irecv(&v, 1, MPI_INT, left, 77, MPI_COMM_WORLD, &q);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Test(&q, &flag, &s);
    CHECK(!flag && q != MPI_REQUEST_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(&me, 1, MPI_INT, right, 77, MPI_COMM_WORLD, &p);
    for (flag = 0; !flag;)
        MPI_Request_get_status(q, &flag, &s);
    CHECK(q != MPI_REQUEST_NULL && s.MPI_SOURCE == left && s.MPI_TAG == 77);
    MPI_Request_free(&p);
    CHECK(p == MPI_REQUEST_NULL);
    for (flag = 0; !flag;)
        MPI_Test(&q, &flag, &s);
    CHECK(v == left && q == MPI_REQUEST_NULL && s.MPI_SOURCE == left);
}

enum { GAPS = 20 };

/* Every other int of buf is `first`, `first` + 1, ..., the others are 0; first < 0: all are 0. */
static void check_gaps(const int *buf, int first)
{
    for (int i = 0; i < 2 * GAPS; i++)
        CHECK(buf[i] == (i % 2 || first < 0 ? 0 : first + i / 2));
}

/* When Request_get_status says that a receive is over, its data is there. Once the request is freed
 * the buffer is the program's: nothing is written there any more. */
static void freed_when_over(int persists)
{
    int buf[2 * GAPS] = {0}, data[GAPS], flag, v = -1;
    MPI_Datatype every_other;
    MPI_Request q;
    MPI_Status s;

    MPI_Type_vector(GAPS, 1, 2, MPI_INT, &every_other);
    MPI_Type_commit(&every_other);
    for (int i = 0; i < GAPS; i++)
        data[i] = me * 100 + 1 + i;
    if (persists) {
        MPI_Recv_init(buf, 1, every_other, left, 9, MPI_COMM_WORLD, &q);
        MPI_Start(&q);
    } else {
        MPI_Irecv(buf, 1, every_other, left, 9, MPI_COMM_WORLD, &q);
    }
    MPI_Send(data, GAPS, MPI_INT, right, 9, MPI_COMM_WORLD);
    for (flag = 0; !flag;)
        MPI_Request_get_status(q, &flag, &s);
    CHECK(s.MPI_SOURCE == left && count_in(&s, MPI_INT) == GAPS);
    check_gaps(buf, left * 100 + 1);
    MPI_Request_free(&q);
    CHECK(q == MPI_REQUEST_NULL);
    check_gaps(buf, left * 100 + 1);
    memset(buf, 0, sizeof buf);
    MPI_Irecv(&v, 1, MPI_INT, left, 10, MPI_COMM_WORLD, &q);
    MPI_Send(&me, 1, MPI_INT, right, 10, MPI_COMM_WORLD);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    CHECK(v == left);
    check_gaps(buf, -1);
    MPI_Type_free(&every_other);
}

static void cancel(void)
{
    MPI_Request q;
    MPI_Status s;
    int v = 1, flag = 0;

    MPI_Irecv(&v, 1, MPI_INT, left, 99, MPI_COMM_WORLD, &q);
    MPI_Cancel(&q);
    MPI_Wait(&q, &s);
    MPI_Test_cancelled(&s, &flag);
    CHECK(flag && v == 1 && q == MPI_REQUEST_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Sendrecv(&me, 1, MPI_INT, right, 99, &v, 1, MPI_INT, left, 99, MPI_COMM_WORLD, &s);
    MPI_Test_cancelled(&s, &flag);
    CHECK(!flag && v == left);
}

static void persistent(void)
{
    MPI_Request q[4];
    MPI_Status s[4];
    int a, b, c = 0, flag, index;

    MPI_Recv_init(&b, 1, MPI_INT, left, 5, MPI_COMM_WORLD, &q[0]);
    MPI_Send_init(&a, 1, MPI_INT, right, 5, MPI_COMM_WORLD, &q[1]);
    MPI_Recv_init(&c, 1, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &q[2]);
    q[3] = MPI_REQUEST_NULL;
    MPI_Waitany(4, q, &index, s); /* all inactive */
    CHECK(index == MPI_UNDEFINED);
    for (int i = 0; i < 5; i++) {
        a = me * 10 + i;
        b = -1;
        MPI_Startall(3, q);
        MPI_Waitall(4, q, s);
        CHECK(b == left * 10 + i && s[0].MPI_SOURCE == left && s[2].MPI_SOURCE == MPI_PROC_NULL);
        CHECK(q[0] != MPI_REQUEST_NULL && q[1] != MPI_REQUEST_NULL);
        MPI_Test(&q[0], &flag, &s[0]);
        CHECK(flag && count_in(&s[0], MPI_INT) == 0);
    }
    MPI_Start(&q[0]);
    a = 4711;
    MPI_Start(&q[1]);
    MPI_Wait(&q[0], &s[0]);
    MPI_Wait(&q[1], &s[1]);
    CHECK(b == 4711);
    for (int i = 0; i < 3; i++)
        MPI_Request_free(&q[i]);
    CHECK(q[0] == MPI_REQUEST_NULL);
}

static int no_query(void *x, MPI_Status *s)
{
    (void)x;
    MPI_Status_set_elements(s, MPI_INT, 3);
    MPI_Status_set_cancelled(s, 0);
    s->MPI_SOURCE = 1;
    s->MPI_TAG = 2;
    return MPI_SUCCESS;
}
static int no_free(void *x) { return (void)x, MPI_SUCCESS; }
static int no_cancel(void *x, int done) { return (void)x, (void)done, MPI_SUCCESS; }

/* A generalized request is the host's own: it comes along in the same arrays. */
static void generalized(void)
{
    MPI_Request q[3];
    MPI_Status s[3];
    int v, flag;

    MPI_Grequest_start(no_query, no_free, no_cancel, NULL, &q[0]);
    MPI_Irecv(&v, 1, MPI_INT, left, 6, MPI_COMM_WORLD, &q[1]);
    MPI_Isend(&me, 1, MPI_INT, right, 6, MPI_COMM_WORLD, &q[2]);
    MPI_Testall(3, q, &flag, s);
    CHECK(!flag);
    MPI_Grequest_complete(q[0]);
    MPI_Waitall(3, q, s);
    CHECK(count_in(&s[0], MPI_INT) == 3 && v == left && s[1].MPI_SOURCE == left);
    CHECK(q[0] == MPI_REQUEST_NULL && q[1] == MPI_REQUEST_NULL && q[2] == MPI_REQUEST_NULL);
    for (int k = 0; k < 2; k++) {
        int index;
        MPI_Irecv(&v, 1, MPI_INT, left, 7 + k, MPI_COMM_WORLD, &q[1]);
        MPI_Grequest_start(no_query, no_free, no_cancel, NULL, &q[0]);
        if (k == 0) {
            MPI_Grequest_complete(q[0]);
            MPI_Waitany(2, q, &index, s);
            CHECK(index == 0 && s[0].MPI_SOURCE == 1 && s[0].MPI_TAG == 2);
        }
        MPI_Send(&me, 1, MPI_INT, right, 7 + k, MPI_COMM_WORLD);
        MPI_Waitany(2, q, &index, s);
        CHECK(index == 1 && v == left);
        if (k == 1) {
            MPI_Grequest_complete(q[0]);
            MPI_Wait(&q[0], s);
        }
        CHECK(q[0] == MPI_REQUEST_NULL);
    }
}

static void fortran_handles(void)
{
    MPI_Request q;
    int v;

    MPI_Irecv(&v, 1, MPI_INT, left, 8, MPI_COMM_WORLD, &q);
    MPI_Fint f = MPI_Request_c2f(q);
    CHECK(MPI_Request_f2c(f) == q);
    CHECK(MPI_Request_f2c(MPI_Request_c2f(MPI_REQUEST_NULL)) == MPI_REQUEST_NULL);
    MPI_Send(&me, 1, MPI_INT, right, 8, MPI_COMM_WORLD);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    CHECK(v == left);
}

/* More at once than one would expect, completed backwards; then all are used again. */
static void many(void)
{
    enum { M = 3000 };
    static MPI_Request q[M];
    static int v[M];

    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < M; i++)
            MPI_Irecv(&v[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &q[i]);
        for (int i = 0; i < M; i++) {
            int x = i ^ round;
            MPI_Send(&x, 1, MPI_INT, right, i, MPI_COMM_WORLD);
        }
        for (int i = M - 1; i >= 0; i--) {
            MPI_Wait(&q[i], MPI_STATUS_IGNORE);
            CHECK(v[i] == (i ^ round));
        }
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    right = (me + 1) % np;
    left = (me + np - 1) % np;
    all();
    any();
    some();
    single();
    freed_when_over(0);
    freed_when_over(1);
    cancel();
    persistent();
    generalized();
    fortran_handles();
    many();
    return finish();
}
