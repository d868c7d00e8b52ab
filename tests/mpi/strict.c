/* SPDX-License-Identifier: BSD-3-Clause
 *
 * strict.c - rules that Open MPI does not enforce, beside the other tests: MPI_Cart_map and
 * MPI_Graph_map report an error if some rank would get no place; invalid graphs, dimensions and
 * intercommunicators, scans over two groups, and missing neighbourhoods are errors.
 */
#include "errors.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int used = np > 1 ? np - 1 : 1, dims[2] = {1, used}, periods[2] = {0, 1}, rank = -1;
    MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &rank);
    CHECK(rank == (me < used ? me : MPI_UNDEFINED));
    int index[2] = {1, 2}, edges[2] = {np > 1, 0}, nodes = np > 1 ? 2 : 1;
    MPI_Graph_map(MPI_COMM_WORLD, nodes, index, edges, &rank);
    CHECK(rank == (me < nodes ? me : MPI_UNDEFINED));
    dims[0] = 2;
    dims[1] = np;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &rank) != MPI_SUCCESS); /* too many */
    MPI_Comm none;
    edges[0] = np;
    CHECK(MPI_Graph_create(MPI_COMM_WORLD, 1, index, edges, 0, &none) != MPI_SUCCESS);
    MPI_Comm c;
    int one = 1, source, dest;
    MPI_Cart_create(MPI_COMM_SELF, 1, &one, periods, 0, &c);
    MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
    WRONG(MPI_Cart_shift(c, 1, 1, &source, &dest), MPI_ERR_DIMS);
    WRONG(MPI_Cart_shift(c, -1, 1, &source, &dest), MPI_ERR_DIMS);
    MPI_Comm_free(&c);
    if (np > 1) { /* there is no scan over two groups */
        MPI_Comm merged;
        MPI_Group group;
        MPI_Win win;
        void *base;
        MPI_Comm_split(MPI_COMM_WORLD, me > 0, 0, &none);
        MPI_Intercomm_create(none, 0, MPI_COMM_WORLD, me == 0, 0, &c);
        MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
        WRONG(MPI_Scan(&me, &rank, 1, MPI_INT, MPI_SUM, c), MPI_ERR_COMM);
        WRONG(MPI_Exscan(&me, &rank, 1, MPI_INT, MPI_SUM, c), MPI_ERR_COMM);
        WRONG(MPI_Neighbor_allgather(&me, 1, MPI_INT, &rank, 1, MPI_INT, none), MPI_ERR_TOPOLOGY);
        WRONG(MPI_Comm_remote_size(none, &rank), MPI_ERR_COMM);
        WRONG(MPI_Comm_remote_group(none, &group), MPI_ERR_COMM);
        WRONG(MPI_Intercomm_merge(none, 0, &merged), MPI_ERR_COMM);
        WRONG(MPI_Win_allocate(8, 1, MPI_INFO_NULL, c, &base, &win), MPI_ERR_COMM);
        MPI_Comm_free(&c);
        MPI_Comm_free(&none);
    }
    return finish();
}
