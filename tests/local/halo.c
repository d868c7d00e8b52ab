/* SPDX-License-Identifier: BSD-3-Clause
 *
 * halo.c - a grid that closes on itself in one direction and ends in the other, whose ranks
 * exchange edges by nonblocking, persistent and blocking neighbourhood collectives. Rows, columns
 * and duplicates are made, used and freed in some of the rounds. What Test said is told to a
 * neighbour, who is asked in the end what it heard, so that a replacement that says anything else
 * is found out. The result holds nothing that depends on timing. (No 2 x 2 torus:
 * tests/mpi/EXCEPTIONS.txt, neighbor_nonblocking.)
 */
#include "protect.h"

#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

enum { EDGE = 40, AROUND = 4 };

static struct {
    uint64_t round, seen, said, heard, u[AROUND][EDGE];
} st;

static MPI_Comm grid, copy;
static MPI_Request persistent;
static uint64_t in[AROUND][EDGE], pout[AROUND][EDGE], pin[AROUND][EDGE];
static int low, high;

static void look(const uint64_t *data, size_t n)
{
    for (int k = 0; k < AROUND; k++)
        for (int i = 0; i < EDGE; i++)
            st.u[k][i] = mix(st.u[k][i] ^ data[(size_t)(k * EDGE + i) % n]);
}

static void wait_for(MPI_Request *q)
{
    int flag = 0, vain = 0;
    while (!flag) {
        MPI_Test(q, &flag, MPI_STATUS_IGNORE);
        vain += !flag;
    }
    st.seen = mix(st.seen + (uint64_t)vain);
}

/* Edges of different lengths: those sent down are longer than those sent up. */
static void uneven(uint64_t r)
{
    int counts[AROUND], back[AROUND], displs[AROUND];
    for (int k = 0; k < AROUND; k++) {
        counts[k] = k % 2 ? (int)(r % EDGE) : EDGE;
        back[k ^ 1] = counts[k];
        displs[k] = k * EDGE;
    }
    memset(in, 0, sizeof in);
    MPI_Neighbor_alltoallv(st.u, counts, displs, MPI_UINT64_T, in, back, displs, MPI_UINT64_T,
                           copy);
    look(in[0], AROUND * EDGE);
}

/* Makes a row or a column, and a duplicate of it while its neighbours are asked. */
static void part(uint64_t r)
{
    int remain[2] = {r % 2 == 0, r % 2};
    uint64_t two[2] = {0, 0};
    MPI_Comm line, dup;
    MPI_Request q[2];
    MPI_Cart_sub(grid, remain, &line);
    MPI_Comm_idup(line, &dup, &q[0]);
    MPI_Ineighbor_allgather(st.u, 1, MPI_UINT64_T, two, 1, MPI_UINT64_T, line, &q[1]);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    look(two, 2);
    MPI_Neighbor_allgather(st.u[1], 1, MPI_UINT64_T, two, 1, MPI_UINT64_T, dup);
    look(two, 2);
    MPI_Comm_free(&line);
    MPI_Comm_free(&dup);
}

static void one_round(uint64_t r)
{
    MPI_Request q;
    MPI_Ineighbor_alltoall(st.u, EDGE, MPI_UINT64_T, in, EDGE, MPI_UINT64_T, grid, &q);
    for (int k = 0; k < AROUND; k++)
        for (int i = 0; i < EDGE; i++)
            pout[k][i] = mix(st.u[k][i] + r);
    MPI_Start(&persistent);
    if (r % 3) {
        wait_for(&q);
        wait_for(&persistent);
    } else {
        wait_for(&persistent);
        wait_for(&q);
    }
    look(in[0], AROUND * EDGE);
    look(pin[0], AROUND * EDGE);
    uneven(r);
    if (r % 4 == 1)
        part(r);
    uint64_t mine = mix(st.seen), theirs;
    st.said = mix(st.said ^ mine);
    MPI_Sendrecv(&mine, 1, MPI_UINT64_T, high, 2, &theirs, 1, MPI_UINT64_T, low, 2, copy,
                 MPI_STATUS_IGNORE);
    st.heard = mix(st.heard ^ theirs);
}

static void body(void *arg)
{
    (void)arg;
    for (; st.round < opt.rounds; st.round++) {
        safepoint();
        one_round(st.round);
    }
}

int main(int argc, char **argv)
{
    start(argc, argv, 24);
    int dims[2] = {1, np}, periods[2] = {0, 1};
    uint64_t theirs;
    MPI_Request q;
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Comm_idup(grid, &copy, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Cart_shift(copy, 1, 1, &low, &high);
#ifdef OMPI_HAVE_MPI_EXT_PCOLLREQ
    MPIX_Neighbor_alltoall_init(pout, EDGE, MPI_UINT64_T, pin, EDGE, MPI_UINT64_T, copy,
                                MPI_INFO_NULL, &persistent);
#else
    MPI_Neighbor_alltoall_init(pout, EDGE, MPI_UINT64_T, pin, EDGE, MPI_UINT64_T, copy,
                               MPI_INFO_NULL, &persistent);
#endif
    for (int k = 0; k < AROUND; k++)
        for (int i = 0; i < EDGE; i++)
            st.u[k][i] = mix((uint64_t)((me * AROUND + k) * EDGE + i));
    protect(&st, sizeof st);
    unprotect(in, sizeof in);
    unprotect(pout, sizeof pout);
    unprotect(pin, sizeof pin);
    run(body, NULL);
    MPI_Sendrecv(&st.said, 1, MPI_UINT64_T, high, 4, &theirs, 1, MPI_UINT64_T, low, 4, grid,
                 MPI_STATUS_IGNORE);
    CHECK(theirs == st.heard);
    MPI_Request_free(&persistent);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&grid);
    return finish(mix_all(0, st.u, AROUND * EDGE));
}
