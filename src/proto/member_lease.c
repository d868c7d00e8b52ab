/* SPDX-License-Identifier: BSD-3-Clause
 *
 * member_lease.c - a node's lease, from the keeper's side. member.h explains the rules.
 */
#include <string.h>

#include "proto/member.h"

void ft_lease_init(struct ft_lease *m, uint64_t length, uint64_t give_up, uint64_t now)
{
    FT_ASSERT(length >= 4);
    memset(m, 0, sizeof *m);
    m->length = length;
    m->give_up = give_up;
    m->from = m->asked = m->looked = now;
}

static uint32_t end(struct ft_lease *m)
{
    m->state = FT_LEASE_ENDED;
    return FT_LEASE_END;
}

static uint32_t on_time(struct ft_lease *m, const struct ft_lease_event *ev)
{
    uint64_t past = ev->now - m->from;
    uint32_t out = 0;
    if (past >= m->length + m->give_up)
        return end(m);
    if (m->state == FT_LEASE_RUNS && past >= m->length / 4 * 3) {
        m->state = FT_LEASE_STOPPED;
        m->gateway_lived = m->looked < ev->gateway + m->length / 2;
        out |= FT_LEASE_STOP;
    }
    int lives = m->state == FT_LEASE_STOPPED ? m->gateway_lived != 0
                                             : ev->now - ev->gateway < m->length / 4;
    if (lives && ev->now - m->asked >= m->length / 4) {
        m->asked = ev->now;
        out |= FT_LEASE_ASK;
    }
    return out;
}

static uint32_t look(struct ft_lease *m, const struct ft_lease_event *ev)
{
    uint32_t out = on_time(m, ev);
    m->looked = ev->now;
    return out;
}

static uint32_t on_grant(struct ft_lease *m, const struct ft_lease_event *ev)
{
    FT_ASSERT(ev->sent <= ev->now);
    if (ev->sent <= m->from)
        return 0;
    m->from = ev->sent;
    if (m->state != FT_LEASE_STOPPED || ev->now - m->from >= m->length / 4 * 3)
        return 0;
    m->state = FT_LEASE_RUNS;
    return FT_LEASE_GO_ON;
}

uint32_t ft_lease_step(struct ft_lease *m, const struct ft_lease_event *ev)
{
    if (m->state == FT_LEASE_ENDED)
        return 0;
    switch (ev->kind) {
    case FT_LEASE_TIME: return look(m, ev);
    case FT_LEASE_GRANT: return on_grant(m, ev);
    case FT_LEASE_OUT: return end(m);
    }
    return 0;
}
