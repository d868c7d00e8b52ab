/* SPDX-License-Identifier: BSD-3-Clause
 *
 * lulesh_log - the run of lulesh, which outlives lost processes by its own logs: way (a) of
 * docs/EVALUATION.md. An iteration of the log is a cycle.
 */
#include "lulesh.h"
#include "rescue.h"

#include <ftrma.h>

struct program {
    struct lulesh_run run;
    struct rescue rescue;
};

static void body(void *arg)
{
    struct program *p = arg;

    rescue_enter(&p->rescue);
    while (p->run.st.cycle < p->run.cycles) {
        rescue_begin(&p->rescue);
        lulesh_cycle(&p->run);
        rescue_end(&p->rescue);
    }
    rescue_leave(&p->rescue);
}

static void setup(struct program *p)
{
    struct lulesh_run *r = &p->run;

    lulesh_create(r);
    r->d.halo.sender = &p->rescue.sender;
    const struct rescue_part parts[] = {{&r->st, sizeof r->st}, {r->d.x[X], r->d.state_bytes}};
    rescue_create(&p->rescue, r->name, parts, 2);
}

int main(int argc, char **argv)
{
    static struct program p; /* static: part of it is protected */

    FTRMA_Handle_losses();
    MPI_Init(&argc, &argv);
    rescue_options(&p.rescue, 20, &argc, argv);
    int status = lulesh_start(&p.run, "lulesh_log", argc, argv, RESCUE_USAGE("20"));
    if (status < 0) {
        setup(&p);
        double seconds = rescue_run(body, &p);
        rescue_report(&p.rescue, seconds);
        status = lulesh_report(&p.run, seconds);
        rescue_destroy(&p.rescue);
        domain_destroy(&p.run.d);
    }
    MPI_Finalize();
    return status;
}
