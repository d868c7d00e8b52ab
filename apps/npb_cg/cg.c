/* SPDX-License-Identifier: BSD-3-Clause
 *
 * npb_cg - the NAS Parallel Benchmark CG over two-sided MPI: the greatest eigenvalue's neighbour of
 * a sparse matrix by the inverse power method, 25 steps of conjugate gradients an iteration.
 *
 * An ordinary MPI program; what makes it outlive lost processes are the lines with FTRMA_ in this
 * file. Protected are the vectors that live from one step to the next (x, z, p, r) and a small
 * struct of state; the matrix is made again by setup, and w, q and room are filled by each step.
 */
#include "cg.h"

#include <ftrma.h>
#include <stdio.h>
#include <stdlib.h>

static void body(void *arg)
{
    struct cg_run *r = arg;

    while (r->st.iter <= r->niter) {
        FTRMA_Safepoint();
        cg_step(r);
    }
}

static void setup(struct cg_run *r)
{
    cg_create(r);
    bool ok = FTRMA_Protect(&r->st, sizeof r->st) == MPI_SUCCESS;
    ok = ok && FTRMA_Protect(r->x, cg_vector_bytes(r)) == MPI_SUCCESS;
    FTRMA_Unprotect(r->q, cg_scratch_bytes(r)); /* said, so that nobody takes it for forgotten */
    if (!ok) {
        fprintf(stderr, "npb_cg: rank %d: no memory for class %c\n", r->rank, r->cls->name);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
}

/* The seconds that it takes; as NPB counts, without making the matrix. */
static double solve(struct cg_run *r)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    if (FTRMA_Run(body, r) != MPI_SUCCESS) /* it has said why */
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    return MPI_Wtime() - start;
}

int main(int argc, char **argv)
{
    static struct cg_run r; /* static: part of it is protected */

    MPI_Init(&argc, &argv);
    int status = cg_start(&r, "npb_cg", argc, argv, "");
    if (status < 0) {
        setup(&r);
        double seconds = solve(&r);
        status = cg_report(&r, seconds);
        cg_destroy(&r);
    }
    MPI_Finalize();
    return status;
}
