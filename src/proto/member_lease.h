/* SPDX-License-Identifier: BSD-3-Clause
 *
 * member_lease.h - the machine in the keeper of each node that holds the node's lease (member.h).
 */
#ifndef FT_PROTO_MEMBER_LEASE_H
#define FT_PROTO_MEMBER_LEASE_H

#include "base/base.h"

/* The lease counts from when the granted request was *sent*. [It counts from when the grant came:
 * both had waited for long, the arbiter's own count is over first, and the node is replaced while
 * it runs.] At three quarters the node stops forwarding and stops its ranks; a later grant lets
 * them go on. The keeper asks only if its gateway is alive. [The gateway hangs and the keeper does
 * not: nobody votes, and nobody is out.] The gateway is stopped with the ranks, and says nothing
 * while it is: then what counts is whether it was alive at that time. [The arbiter stands for two
 * leases. All that was asked before is too old by then to go on with, and nobody would ask again.]
 * One that hangs was not: its last round is three quarters of a lease old at least. That is counted
 * up to when the keeper itself looked last. [The host sleeps, and the arbiter's, too.] */
enum ft_lease_state { FT_LEASE_RUNS, FT_LEASE_STOPPED, FT_LEASE_ENDED };
struct ft_lease {
    uint64_t length,
        /* give_up: this long after the lease's end the node ends its processes by itself */
        give_up;
    uint64_t from; /* when the newest granted request had been sent */
    uint64_t asked, looked; /* looked: at the clock */
    uint32_t gateway_lived; /* STOPPED: the gateway was alive when it was stopped */
    enum ft_lease_state state;
};
enum ft_lease_event_kind {
    FT_LEASE_TIME = 1, /* gateway: when the gateway last passed through its loop */
    FT_LEASE_GRANT,    /* now; of the request of `sent` */
    FT_LEASE_OUT,      /* this node is out, or the job is over */
};
struct ft_lease_event {
    enum ft_lease_event_kind kind;
    uint64_t now, gateway, sent;
};
#define FT_LEASE_ASK 1u   /* ask the arbiter; the request carries `asked` */
#define FT_LEASE_STOP 2u  /* forward nothing, then stop all ranks */
#define FT_LEASE_GO_ON 4u /* ranks go on, output is forwarded */
#define FT_LEASE_END 8u   /* end all processes of the node */

#define FT_LEASE_FOREVER (UINT64_MAX / 8) /* as a length: the lease is never over */
void ft_lease_init(struct ft_lease *m, uint64_t length, uint64_t give_up, uint64_t now);
uint32_t ft_lease_step(struct ft_lease *m, const struct ft_lease_event *ev); /* FT_LEASE_* */
/* Agents check this themselves before they vote. [The keeper itself is stopped.] */
static inline int ft_lease_lasts(const struct ft_lease *m, uint64_t now)
{
    return m->state != FT_LEASE_ENDED && now - m->from < m->length;
}

#endif
