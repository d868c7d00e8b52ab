/* SPDX-License-Identifier: BSD-3-Clause
 *
 * isendrecv.c - MPI-4.0, 3.10: MPI_Isendrecv and MPI_Isendrecv_replace around a ring, also with
 * nobody on one side; 7.4.2: MPI_Comm_idup_with_info.
 */
#include "check.h"

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
enum { N = 30000 };
static int out[N], in[N], both[2 * N];

static void ring(int n)
{
    int right = (me + 1) % np, left = (me + np - 1) % np;
    MPI_Request req[2];
    MPI_Status st[2];
    MPI_Datatype every_other;

    MPI_Type_vector(n, 1, 2, MPI_INT, &every_other);
    MPI_Type_commit(&every_other);
    for (int i = 0; i < n; i++) {
        out[i] = me * N + i;
        both[2 * i] = -me * N - i;
        both[2 * i + 1] = -1;
    }
    MPI_Isendrecv(out, n, MPI_INT, right, 1, in, n, MPI_INT, left, MPI_ANY_TAG, MPI_COMM_WORLD,
                  &req[0]);
    MPI_Isendrecv_replace(both, 1, every_other, left, 2, right, 2, MPI_COMM_WORLD, &req[1]);
    MPI_Type_free(&every_other);
    MPI_Waitall(2, req, st);
    CHECK(req[0] == MPI_REQUEST_NULL && req[1] == MPI_REQUEST_NULL);
    for (int i = 0; i < n; i++)
        CHECK(in[i] == left * N + i && both[2 * i] == -right * N - i && both[2 * i + 1] == -1);
}

static void ends(void)
{
    int up = me + 1 < np ? me + 1 : MPI_PROC_NULL, down = me > 0 ? me - 1 : MPI_PROC_NULL,
        mine = me, theirs = -7;
    MPI_Request req;

    MPI_Isendrecv(&mine, 1, MPI_INT, up, 3, &theirs, 1, MPI_INT, down, 3, MPI_COMM_WORLD, &req);
    MPI_Wait(&req, MPI_STATUS_IGNORE);
    CHECK(theirs == (me > 0 ? me - 1 : -7) && mine == me);
    MPI_Isendrecv_replace(&mine, 1, MPI_INT, down, 4, up, 4, MPI_COMM_WORLD, &req);
    MPI_Wait(&req, MPI_STATUS_IGNORE);
    CHECK(mine == (me + 1 < np ? me + 1 : me));
}

static void idup_with_info(void)
{
    MPI_Info info, used;
    MPI_Comm c;
    MPI_Request req;
    int size = 0, rank = -1, sum = 0;

    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    MPI_Comm_idup_with_info(MPI_COMM_WORLD, info, &c, &req);
    MPI_Info_free(&info);
    MPI_Wait(&req, MPI_STATUS_IGNORE);
    MPI_Comm_size(c, &size);
    MPI_Comm_rank(c, &rank);
    CHECK(size == np && rank == me);
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, c);
    CHECK(sum == np * (np - 1) / 2);
    MPI_Comm_get_info(c, &used);
    MPI_Info_free(&used);
    MPI_Comm_free(&c);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    ring(1);
    ring(N);
    ends();
    idup_with_info();
    return finish();
}
#else
int main(int argc, char **argv)
{
    start(&argc, &argv);
    return finish();
}
#endif
