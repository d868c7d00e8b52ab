/* SPDX-License-Identifier: BSD-3-Clause
 *
 * orphan.c - the paper's figure 4: p puts x at q; q reads x, and only because of it puts y at r. q
 * is lost then. If p had not logged its put by that time, q's replacement would not find x, and r
 * would depend on a put that was never made: r would be an orphan.
 */
#include "../program.h"
#include "ftrma.h"

enum { P, Q, R };

static MPI_Win win;
static uint64_t *mine, y;

static void work(void *arg)
{
    const uint64_t x = 4, because = 5;
    (void)arg;
    FTRMA_Safepoint();
    if (me == P)
        MPI_Put(&x, 1, MPI_UINT64_T, Q, 0, 1, MPI_UINT64_T, win);
    MPI_Win_fence(0, win);
    if (me == Q && mine[0] == x)
        MPI_Put(&because, 1, MPI_UINT64_T, R, 0, 1, MPI_UINT64_T, win);
    MPI_Win_fence(0, win); /* the loss is here, before q's home log has a word of its put */
    y = mine[0];
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &np);
    MPI_Win_allocate(8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    MPI_Win_fence(0, win);
    FTRMA_Protect(&y, sizeof y);
    FTRMA_Run(work, NULL);
    MPI_Win_free(&win);
    return finish(y);
}
