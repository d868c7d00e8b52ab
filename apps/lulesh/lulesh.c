/* SPDX-License-Identifier: BSD-3-Clause
 *
 * lulesh - the hydrodynamics of LLNL's proxy LULESH with a fixed time step: a blast wave from a
 * corner of a cube. Forces and masses of nodes go to 26 neighbours, gradients to 6; there is no
 * collective communication in the loop.
 *
 * An ordinary MPI program; what makes it outlive lost processes are the lines with FTRMA_ in this
 * file. Protected are what lives from one cycle to the next and the number of the cycle; constants
 * are made again by setup, and the rest is filled by each cycle.
 */
#include "lulesh.h"

#include <ftrma.h>
#include <stdio.h>
#include <stdlib.h>

static void body(void *arg)
{
    struct lulesh_run *r = arg;

    while (r->st.cycle < r->cycles) {
        FTRMA_Safepoint();
        lulesh_cycle(r);
    }
}

static void setup(struct lulesh_run *r)
{
    const struct domain *d = &r->d;

    lulesh_create(r);
    bool ok = FTRMA_Protect(&r->st, sizeof r->st) == MPI_SUCCESS;
    ok = ok && FTRMA_Protect(d->x[X], d->state_bytes) == MPI_SUCCESS;
    FTRMA_Unprotect(d->scratch, d->scratch_bytes); /* said, so that nobody takes it for forgotten */
    FTRMA_Unprotect(d->halo.own, d->halo.bytes);
    if (!ok) {
        fprintf(stderr, "lulesh: rank %d: no memory for %d^3 elements\n", r->rank, d->n);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
}

static double solve(struct lulesh_run *r)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    if (FTRMA_Run(body, r) != MPI_SUCCESS) /* it has said why */
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    return MPI_Wtime() - start;
}

int main(int argc, char **argv)
{
    static struct lulesh_run r; /* static: part of it is protected */

    MPI_Init(&argc, &argv);
    int status = lulesh_start(&r, "lulesh", argc, argv, "");
    if (status < 0) {
        setup(&r);
        double seconds = solve(&r);
        status = lulesh_report(&r, seconds);
        domain_destroy(&r.d);
    }
    MPI_Finalize();
    return status;
}
