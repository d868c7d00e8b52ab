/* SPDX-License-Identifier: BSD-3-Clause
 *
 * npb_cg_log - the solver of npb_cg, which outlives lost processes by its own logs: way (a) of
 * docs/EVALUATION.md. An iteration of the log is a step of conjugate gradients, with what comes
 * before the first and after the last of 25.
 */
#include "cg.h"
#include "rescue.h"

#include <ftrma.h>

struct program {
    struct cg_run run;
    struct rescue rescue;
};

static void body(void *arg)
{
    struct program *p = arg;

    rescue_enter(&p->rescue);
    while (p->run.st.iter <= p->run.niter) {
        rescue_begin(&p->rescue);
        cg_step(&p->run);
        rescue_end(&p->rescue);
    }
    rescue_leave(&p->rescue);
}

static void setup(struct program *p)
{
    struct cg_run *r = &p->run;

    cg_create(r);
    r->grid.sender = &p->rescue.sender;
    const struct rescue_part parts[] = {{&r->st, sizeof r->st}, {r->x, cg_vector_bytes(r)}};
    rescue_create(&p->rescue, r->name, parts, 2);
}

int main(int argc, char **argv)
{
    static struct program p; /* static: part of it is protected */

    FTRMA_Handle_losses();
    MPI_Init(&argc, &argv);
    rescue_options(&p.rescue, CG_STEPS, &argc, argv);
    int status = cg_start(&p.run, "npb_cg_log", argc, argv, RESCUE_USAGE("25"));
    if (status < 0) {
        setup(&p);
        double seconds = rescue_run(body, &p);
        rescue_report(&p.rescue, seconds);
        status = cg_report(&p.run, seconds);
        rescue_destroy(&p.rescue);
        cg_destroy(&p.run);
    }
    MPI_Finalize();
    return status;
}
