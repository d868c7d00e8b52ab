/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sim_main.c - what a main does that does not depend on the others.
 */
#include "sim_main.h"

void sim_main_to(struct sim_main *m, enum ft_place place)
{
    m->place = (int32_t)place;
    m->moves++;
    m->news = 1;
}

/* It waits at a safepoint while it is asked to stop, as it has promised not to pass before it is
 * told where to stop. */
void sim_main_arrives(struct sim_main *m, int own)
{
    m->news = 1;
    if (m->replaying) {
        m->passed = m->reached; /* it is not stopped here, as the lost process had come further */
        return;
    }
    if (!own && m->hold == FT_HOLD_ASK)
        return;
    if (own || m->hold == FT_HOLD_AT + m->reached)
        sim_main_to(m, FT_AT_HELD);
    else
        m->passed = m->reached;
}

int sim_main_can_move(const struct sim_main *m)
{
    if (m->diverged || m->inside || m->taking || m->wants || (m->gate && m->gate == m->until_over))
        return 0;
    if (m->place == FT_AT_BODY) /* it looks at what it was told at each step */
        return m->reached == m->passed || m->hold != FT_HOLD_ASK;
    return m->place == FT_AT_SETUP || m->place == FT_AT_AFTER;
}

int sim_main_can_obey(const struct sim_main *m)
{
    return m->number != m->answered && ft_place_stands((enum ft_place)m->place);
}

int sim_main_can_park(const struct sim_main *m)
{
    return m->attention & FT_ATTENTION_PARK && !m->inside && !m->taking &&
           (m->place == FT_AT_BODY || m->place == FT_AT_HELD);
}

void sim_main_copy(struct sim_main *m, struct ft_main *out)
{
    memset(out, 0, sizeof *out);
    out->moves = m->moves;
    out->place = (enum ft_place)m->place;
    out->reached = m->reached;
    out->passed = m->passed;
    out->answered = m->answered;
    out->answer = m->answer;
    out->asks = m->asks;
    out->cannot = m->cannot;
    out->replaying = (uint32_t)m->replaying;
    out->hold = m->hold;
    m->asks = 0;
    m->news = 0;
}
