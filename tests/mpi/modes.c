/* SPDX-License-Identifier: BSD-3-Clause
 *
 * modes.c - the four send modes, blocking, nonblocking and persistent: a synchronous send must not
 * complete before it is matched, a buffered one may; and the buffer.
 */
#include "check.h"

enum { N = 3000, FEW = 4, LONG = 200000 };

static int right(void) { return (me + 1) % np; }
static int left(void) { return (me + np - 1) % np; }

static void fill(int *a, int n, int key)
{
    for (int i = 0; i < n; i++)
        a[i] = key * 7919 + i;
}

static void verify(const int *a, int n, int key)
{
    for (int i = 0; i < n; i++)
        CHECK(a[i] == key * 7919 + i);
}

static void recv_from_left(int n, int tag)
{
    static int in[LONG];
    MPI_Status st;
    memset(in, -1, sizeof in);
    MPI_Recv(in, n, MPI_INT, left(), tag, MPI_COMM_WORLD, &st);
    CHECK(st.MPI_SOURCE == left() && st.MPI_TAG == tag && count_in(&st, MPI_INT) == n);
    verify(in, n, left() + tag);
}

static int test_often(MPI_Request *r)
{
    int flag = 0;
    for (int i = 0; i < 200 && !flag; i++)
        MPI_Test(r, &flag, MPI_STATUS_IGNORE);
    return flag;
}

/* The send is not done before its receiver, which waits for a word, has a receive for it. */
static void issend_waits(int n, int tag)
{
    static int out[LONG];
    MPI_Request r;
    int go = 1;
    fill(out, n, me + tag);
    MPI_Issend(out, n, MPI_INT, right(), tag, MPI_COMM_WORLD, &r);
    if (np == 1) {
        CHECK(!test_often(&r));
        recv_from_left(n, tag);
    } else if (me % 2 == 0 &&
               !(me == np - 1)) { /* who asks first, then lets the neighbour receive */
        CHECK(!test_often(&r));
        MPI_Send(&go, 1, MPI_INT, right(), 99, MPI_COMM_WORLD);
        if (me > 0)
            MPI_Recv(&go, 1, MPI_INT, left(), 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        recv_from_left(n, tag);
    } else {
        MPI_Recv(&go, 1, MPI_INT, left(), 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        recv_from_left(n, tag);
        if (right() != 0)
            MPI_Send(&go, 1, MPI_INT, right(), 99, MPI_COMM_WORLD);
    }
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK(r == MPI_REQUEST_NULL);
}

/* A receive that is posted already; one that comes later; long messages; an empty one. */
static void ssend(int n, int tag)
{
    static int out[LONG], in[LONG];
    MPI_Request r;
    fill(out, n, me + tag);
    memset(in, -1, sizeof in);
    MPI_Irecv(in, n, MPI_INT, left(), tag, MPI_COMM_WORLD, &r);
    MPI_Ssend(out, n, MPI_INT, right(), tag, MPI_COMM_WORLD);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    verify(in, n, left() + tag);
    if (np == 1)
        return;
    if (me % 2 == 0) {
        MPI_Ssend(out, n, MPI_INT, right(), tag, MPI_COMM_WORLD);
        if (np % 2 == 0 || me > 0)
            recv_from_left(n, tag);
        else
            recv_from_left(n, tag);
    } else {
        recv_from_left(n, tag);
        MPI_Ssend(out, n, MPI_INT, right(), tag, MPI_COMM_WORLD);
    }
}

/* Matched in another order than sent, by wildcards, some only after others were tested. */
static void issend_out_of_order(void)
{
    enum { K = 20 };
    static int out[K][50], in[K][50];
    MPI_Request r[K];
    int done = 0, flag, index, seen[K] = {0};
    for (int k = 0; k < K; k++) {
        fill(out[k], 50, me + k);
        MPI_Issend(out[k], k == 7 ? 0 : 50, MPI_INT, right(), k, MPI_COMM_WORLD, &r[k]);
    }
    MPI_Testall(K, r, &flag, MPI_STATUSES_IGNORE);
    CHECK(!flag);
    MPI_Barrier(MPI_COMM_WORLD); /* nobody receives before its left one has tested */
    for (int k = K - 1; k >= 0; k--) {
        MPI_Status st;
        MPI_Recv(in[k], 50, MPI_INT, k % 3 ? left() : MPI_ANY_SOURCE, k, MPI_COMM_WORLD, &st);
        CHECK(count_in(&st, MPI_INT) == (k == 7 ? 0 : 50));
        verify(in[k], k == 7 ? 0 : 50, left() + k);
    }
    while (done < K) {
        MPI_Waitany(K, r, &index, MPI_STATUS_IGNORE);
        CHECK(index >= 0 && index < K && !seen[index]++);
        done++;
    }
    MPI_Waitany(K, r, &index, MPI_STATUS_IGNORE);
    CHECK(index == MPI_UNDEFINED);
}

/* Few in the buffered one: started again, Open MPI 4.1.4 sends what was there the first time if
 * they are more. */
static void persistent(void)
{
    static int out[3][N], in[3][N];
    MPI_Request r[6];
    int size = 3 * (int)(sizeof out[0] + MPI_BSEND_OVERHEAD), got;
    void *buffer = malloc((size_t)size), *back = NULL;
    MPI_Buffer_attach(buffer, size);
    MPI_Ssend_init(out[0], N, MPI_INT, right(), 0, MPI_COMM_WORLD, &r[0]);
    MPI_Bsend_init(out[1], FEW, MPI_INT, right(), 1, MPI_COMM_WORLD, &r[1]);
    MPI_Rsend_init(out[2], N, MPI_INT, right(), 2, MPI_COMM_WORLD, &r[2]);
    for (int k = 0; k < 3; k++)
        MPI_Recv_init(in[k], k == 1 ? FEW : N, MPI_INT, left(), k, MPI_COMM_WORLD, &r[3 + k]);
    for (int round = 0; round < 5; round++) {
        for (int k = 0; k < 3; k++) {
            fill(out[k], N, me + k + round);
            memset(in[k], -1, sizeof in[k]);
        }
        MPI_Startall(3, r + 3);
        MPI_Barrier(MPI_COMM_WORLD); /* a ready send asks for it */
        MPI_Startall(3, r);
        MPI_Waitall(6, r, MPI_STATUSES_IGNORE);
        for (int k = 0; k < 3; k++) {
            verify(in[k], k == 1 ? FEW : N, left() + k + round);
            CHECK(r[k] != MPI_REQUEST_NULL);
        }
    }
    for (int k = 0; k < 6; k++)
        MPI_Request_free(&r[k]);
    MPI_Buffer_detach(&back, &got);
    CHECK(back == buffer && got == size);
    free(buffer);
}

static void buffered(void)
{
    enum { K = 8 };
    static int out[N];
    int size = K * (int)(sizeof out + MPI_BSEND_OVERHEAD), got = 0, code, class;
    void *buffer = malloc((size_t)size), *back = NULL;
    MPI_Request r;
    MPI_Buffer_attach(buffer, size);
    for (int k = 0; k < K;
         k++) { /* to somebody who does not receive yet; the data may be changed at once */
        fill(out, N, me + k);
        if (k % 2) {
            MPI_Ibsend(out, N, MPI_INT, right(), k, MPI_COMM_WORLD, &r);
            MPI_Wait(&r, MPI_STATUS_IGNORE);
        } else {
            MPI_Bsend(out, N, MPI_INT, right(), k, MPI_COMM_WORLD);
        }
        memset(out, 0, sizeof out);
    }
    for (int k = K - 1; k >= 0; k--)
        recv_from_left(N, k);
    MPI_Buffer_detach(&back, &got);
    CHECK(back == buffer && got == size);
    MPI_Buffer_attach(buffer, 100 + MPI_BSEND_OVERHEAD);
    MPI_Comm other; /* where nothing else is sent: Open MPI 4.1.4 counts what it refuses, and waits
                       for it */
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(other, MPI_ERRORS_RETURN);
    code = MPI_Bsend(out, N, MPI_INT, right(), 0, other);
    MPI_Error_class(code, &class);
    CHECK(class == MPI_ERR_BUFFER);
    code = MPI_Buffer_attach(out, sizeof out);
    MPI_Error_class(code, &class);
    CHECK(class == MPI_ERR_BUFFER);
    CHECK(MPI_Bsend(out, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD) == MPI_SUCCESS);
    fill(out, 5, me);
    CHECK(MPI_Bsend(out, 5, MPI_INT, right(), 0, MPI_COMM_WORLD) == MPI_SUCCESS);
    recv_from_left(5, 0);
    MPI_Buffer_detach(&back, &got);
    CHECK(back == buffer && got == 100 + MPI_BSEND_OVERHEAD);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_free(&other);
    free(buffer);
}

/* Who detaches the buffer does not wait for what was never in it: a send in standard mode, whose
 * request is freed, and which is received only after something that its sender sends later. */
static void detach(void)
{
    static int out[16384], in[16384];
    static char room[100 + MPI_BSEND_OVERHEAD];
    MPI_Request r;
    int size, go = 1;
    void *back;
    fill(out, 16384, me);
    if (me % 2 == 0 && me + 1 < np) {
        MPI_Buffer_attach(room, sizeof room);
        MPI_Isend(out, 16384, MPI_INT, me + 1, 1, MPI_COMM_WORLD, &r);
        MPI_Request_free(&r);
        MPI_Buffer_detach(&back, &size);
        CHECK(back == room && size == sizeof room);
        MPI_Send(&go, 1, MPI_INT, me + 1, 2, MPI_COMM_WORLD);
    } else if (me % 2 == 1) {
        MPI_Recv(&go, 1, MPI_INT, me - 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(in, 16384, MPI_INT, me - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        verify(in, 16384, me - 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Data that is not contiguous; and requests that are freed while they are under way. */
static void vectors(void)
{
    static int out[40], in[40];
    MPI_Datatype every_other;
    MPI_Request r[2];
    int size;
    MPI_Type_vector(20, 1, 2, MPI_INT, &every_other);
    MPI_Type_commit(&every_other);
    MPI_Pack_size(1, every_other, MPI_COMM_WORLD, &size);
    size += MPI_BSEND_OVERHEAD;
    void *buffer = malloc((size_t)size);
    MPI_Buffer_attach(buffer, size);
    for (int k = 0; k < 3; k++) {
        fill(out, 40, me + k);
        memset(in, 0, sizeof in);
        MPI_Irecv(in, 1, every_other, left(), k, MPI_COMM_WORLD, &r[1]);
        if (k == 0) {
            MPI_Ssend(out, 1, every_other, right(), k, MPI_COMM_WORLD);
        } else if (k == 1) {
            MPI_Bsend(out, 1, every_other, right(), k, MPI_COMM_WORLD);
        } else {
            MPI_Issend(out, 1, every_other, right(), k, MPI_COMM_WORLD, &r[0]);
            MPI_Request_free(&r[0]);
            CHECK(r[0] == MPI_REQUEST_NULL);
        }
        MPI_Wait(&r[1], MPI_STATUS_IGNORE);
        for (int i = 0; i < 40; i++)
            CHECK(in[i] == (i % 2 ? 0 : (left() + k) * 7919 + i));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Buffer_detach(&buffer, &size);
    free(buffer);
    MPI_Type_free(&every_other);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    static const int lengths[] = {0, 1, 8, 9, N, LONG};
    for (int i = 0; i < 6; i++) {
        issend_waits(lengths[i], 10 + i);
        MPI_Barrier(MPI_COMM_WORLD);
        ssend(lengths[i], 20 + i);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    issend_out_of_order();
    persistent();
    MPI_Barrier(MPI_COMM_WORLD);
    buffered();
    detach();
    vectors();
    MPI_Ssend(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    return finish();
}
