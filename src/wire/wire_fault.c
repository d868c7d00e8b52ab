/* SPDX-License-Identifier: BSD-3-Clause
 *
 * wire_fault.c - the provider fault: wraps another one, cuts its connections at any time, and takes
 * packets slowly.
 */
#include "base/base.h"
#include "wire/provider.h"
#include "wire/wire_net.h"

static const struct ft_wire_ops *inner(const struct ft_wire *w) { return w->cfg.faults->inner; }

static int one_in(struct ft_wire_faults *f, unsigned n)
{
    return n && ft_prng_below(&f->rng, n) == 0;
}

static enum ft_status fault_open(struct ft_wire *w)
{
    return w->cfg.faults && inner(w) != w->ops ? inner(w)->open(w) : FT_ERR_ARG;
}

static void fault_close(struct ft_wire *w) { inner(w)->close(w); }
static void fault_dial(struct ft_wire *w, int node) { inner(w)->dial(w, node); }
static void fault_hang_up(struct ft_wire *w, int node) { inner(w)->hang_up(w, node); }

static int fault_ready(const struct ft_wire *w, int node)
{
    struct ft_wire_faults *f = w->cfg.faults;
    return (f->slow_in == 0 || one_in(f, f->slow_in)) && inner(w)->ready(w, node);
}

static void fault_put(struct ft_wire *w, int node, const struct ft_packet *p)
{
    inner(w)->put(w, node, p);
}

static void fault_poll(struct ft_wire *w, uint64_t now_ns)
{
    struct ft_wire_faults *f = w->cfg.faults;
    for (int i = 0; i < w->cfg.nnodes; i++) {
        if (i == w->cfg.self || !w->peer[i].connected || !one_in(f, f->cut_in))
            continue;
        f->cuts++;
        inner(w)->hang_up(w, i);
        ft_wire_lost(w, i);
    }
    inner(w)->poll(w, now_ns);
}

static int fault_fd(const struct ft_wire *w) { return inner(w)->fd(w); }

const struct ft_wire_ops ft_wire_fault = {.name = "fault",
                                          .open = fault_open,
                                          .close = fault_close,
                                          .dial = fault_dial,
                                          .hang_up = fault_hang_up,
                                          .ready = fault_ready,
                                          .put = fault_put,
                                          .poll = fault_poll,
                                          .fd = fault_fd};
