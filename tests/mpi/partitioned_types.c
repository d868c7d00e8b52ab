/* SPDX-License-Identifier: BSD-3-Clause
 *
 * partitioned_types.c - MPI-4.0, 4: data that is not contiguous, on either side; more partitions at
 * the receiver; nobody on the other side, nothing to send, requests that were never started.
 */
#include "partitioned.h"

#ifdef HAVE_PARTITIONED
/* Every other element here, pairs with a hole there. */
static void layouts(void)
{
    enum { PARTS = 6 };
    MPI_Datatype strided, pairs;
    MPI_Request req[2];

    MPI_Type_vector(2, 1, 2, MPI_INT, &strided);
    MPI_Type_create_resized(strided, 0, 4 * sizeof(int), &pairs); /* 2 of 4 */
    MPI_Type_free(&strided);
    MPI_Type_commit(&pairs);
    MPI_Type_contiguous(2, MPI_INT, &strided); /* 2 of 2 */
    MPI_Type_commit(&strided);
    MPI_Psend_init(out, PARTS, 3, pairs, right(), 5, MPI_COMM_WORLD, MPI_INFO_NULL, &req[0]);
    MPI_Precv_init(in, PARTS / 2, 6, strided, left(), 5, MPI_COMM_WORLD, MPI_INFO_NULL, &req[1]);
    MPI_Type_free(&strided);
    fill(PARTS * 12, 0);
    MPI_Startall(2, req);
    mark(req[0], PARTS, 2);
    MPI_Waitall(2, req, MPI_STATUSES_IGNORE);
    for (int i = 0; i < PARTS * 6; i++)
        CHECK(in[i] == word(left(), 0, 2 * i));
    MPI_Request_free(&req[0]);
    MPI_Request_free(&req[1]);

    MPI_Psend_init(out, 4, 9, MPI_INT, right(), 5, MPI_COMM_WORLD, MPI_INFO_NULL, &req[0]);
    MPI_Precv_init(in, PARTS, 3, pairs, left(), 5, MPI_COMM_WORLD, MPI_INFO_NULL, &req[1]);
    fill(PARTS * 12, 1);
    MPI_Startall(2, req);
    mark(req[0], 4, 0);
    for (int i = PARTS; i-- > 0;) {
        for (int flag = 0; !flag;)
            MPI_Parrived(req[1], i, &flag);
        for (int k = i * 12; k < (i + 1) * 12; k++)
            CHECK(in[k] == (k % 2 ? -1 : word(left(), 1, k / 2)));
    }
    MPI_Waitall(2, req, MPI_STATUSES_IGNORE);
    MPI_Request_free(&req[0]);
    MPI_Request_free(&req[1]);
    MPI_Type_free(&pairs);
}

static void nothing(void)
{
    MPI_Request req[2];
    int flag = 0;

    MPI_Psend_init(out, 3, 2, MPI_INT, MPI_PROC_NULL, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &req[0]);
    MPI_Precv_init(in, 3, 2, MPI_INT, MPI_PROC_NULL, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &req[1]);
    MPI_Startall(2, req);
    MPI_Pready_range(0, 2, req[0]);
    MPI_Parrived(req[1], 1, &flag);
    CHECK(flag);
    MPI_Waitall(2, req, MPI_STATUSES_IGNORE);
    MPI_Request_free(&req[0]);
    MPI_Request_free(&req[1]);

    MPI_Psend_init(out, 3, 0, MPI_INT, right(), 6, MPI_COMM_WORLD, MPI_INFO_NULL, &req[0]);
    MPI_Precv_init(in, 2, 0, MPI_INT, left(), 6, MPI_COMM_WORLD, MPI_INFO_NULL, &req[1]);
    MPI_Parrived(req[1], 0, &flag); /* inactive */
    CHECK(flag);
    for (int round = 0; round < 3; round++) {
        MPI_Startall(2, req);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Test(&req[1], &flag, MPI_STATUS_IGNORE);
        CHECK(!flag);
        MPI_Barrier(MPI_COMM_WORLD);
        mark(req[0], 3, round);
        MPI_Waitall(2, req, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&req[0]);
    MPI_Request_free(&req[1]);
}

int main(int argc, char **argv)
{
    MPI_Status st;
    MPI_Request req[2];
    start(&argc, &argv);
    uneven(1, 24, 8);
    uneven(2, 30000, 6);
    layouts();
    nothing();
    fill(30, 0);
    MPI_Psend_init(out, 3, 10, MPI_INT, right(), 7, MPI_COMM_WORLD, MPI_INFO_NULL, &req[0]);
    MPI_Precv_init(in, 3, 10, MPI_INT, left(), 7, MPI_COMM_WORLD, MPI_INFO_NULL, &req[1]);
    MPI_Startall(2, req);
    mark(req[0], 3, 0);
    MPI_Wait(&req[1], &st);
    CHECK(st.MPI_SOURCE == left() && st.MPI_TAG == 7 && count_in(&st, MPI_INT) == 30);
    MPI_Wait(&req[0], MPI_STATUS_IGNORE);
    verify(0, 30, 0);
    MPI_Request_free(&req[0]);
    MPI_Request_free(&req[1]);
    return finish();
}
#else
int main(int argc, char **argv)
{
    start(&argc, &argv);
    return finish();
}
#endif
