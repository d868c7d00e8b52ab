/* SPDX-License-Identifier: BSD-3-Clause
 *
 * until.c - steps until rank 0 sees a file, which the test makes when it has seen what it wants to
 * see while the job goes on. The job ends with 1 if the file has not come after a minute or so.
 *
 *   until FILE
 */
#include <ftrma.h>
#include <mpi.h>
#include <unistd.h>

enum { STEPS = 12000, STEP_US = 5000 };

static struct {
    int step, over;
} state;
static int me;
static const char *file;

static void body(void *arg)
{
    (void)arg;
    for (; !state.over && state.step < STEPS; state.step++) {
        FTRMA_Safepoint();
        int seen = me == 0 && access(file, F_OK) == 0;
        usleep(STEP_US);
        MPI_Allreduce(&seen, &state.over, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    file = argc > 1 ? argv[1] : "";
    FTRMA_Protect(&state, sizeof state);
    FTRMA_Run(body, NULL);
    MPI_Finalize();
    return !state.over;
}
