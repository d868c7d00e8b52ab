/* SPDX-License-Identifier: BSD-3-Clause
 *
 * icoll_freed.c - types, operations and communicators may be freed while open nonblocking
 * collectives need them.
 */
#include "check.h"

enum { WORDS = 3000 };
static int buf[WORDS];

static void append_digit(void *in, void *inout, int *n, MPI_Datatype *t)
{
    int *a = in, *b = inout;
    (void)t;
    for (int i = 0; i < *n; i++) /* (digits, how many): concatenated in the order of ranks */
        if (i % 2 == 0) {
            int shift = 1;
            for (int k = 0; k < b[i + 1]; k++)
                shift *= 10;
            b[i] += a[i] * shift;
            b[i + 1] += a[i + 1];
        }
}

int main(int argc, char **argv)
{
    MPI_Comm sub;
    MPI_Datatype sparse;
    MPI_Op op;
    MPI_Request req[3];
    int in[4] = {0, 1, 0, 1}, got[4], digits = 0;

    start(&argc, &argv);
    for (int round = 0; round < 20; round++) {
        MPI_Type_vector(WORDS / 3, 1, 3, MPI_INT, &sparse);
        MPI_Type_commit(&sparse);
        MPI_Op_create(append_digit, 0, &op);
        MPI_Comm_dup(MPI_COMM_WORLD, &sub);
        for (int i = 0; i < WORDS; i++)
            buf[i] = me == np - 1 ? i + round : -1;
        in[0] = in[2] = me + 1;
        MPI_Ibcast(buf, 1, sparse, np - 1, sub, &req[0]);
        MPI_Iallreduce(in, got, 4, MPI_INT, op, sub, &req[1]);
        MPI_Ibarrier(sub, &req[2]);
        MPI_Type_free(&sparse);
        MPI_Op_free(&op);
        MPI_Comm_free(&sub);
        CHECK(sparse == MPI_DATATYPE_NULL && op == MPI_OP_NULL && sub == MPI_COMM_NULL);
        MPI_Waitall(3, req, MPI_STATUSES_IGNORE);
        for (int i = 0; i < WORDS; i++)
            CHECK(buf[i] == (me == np - 1 || i % 3 == 0 ? i + round : -1));
        digits = 0;
        for (int r = 1; r <= np; r++)
            digits = digits * 10 + r;
        CHECK(got[0] == digits && got[1] == np && got[2] == digits && got[3] == np);
    }
    return finish();
}
