/* SPDX-License-Identifier: BSD-3-Clause
 *
 * job_shell.h - the shell between a simulated main and its machine, and what happens in a job.
 */
#ifndef FT_SIM_JOB_SHELL_H
#define FT_SIM_JOB_SHELL_H

#include "model_job.h"

enum {
    JOB_SEES,
    JOB_OBEYS,
    JOB_MOVES,
    JOB_LOOKS,
    JOB_PARKS,
    JOB_ACCESSES,
    JOB_IS_DUE,
    JOB_TIME,
    JOB_IS_STUCK,
    JOB_FORGES,
    JOB_DIVERGES,
    JOB_DIES,
    JOB_HEARS_OUT,
    JOB_UNTOUCHED,
    JOB_CALLS_OFF,
    JOB_ASKS,
    JOB_BEGINS,
    JOB_COPIES,
    JOB_DECLINES,
    JOB_SEES_LIVE,
    JOB_SEES_GROUP,
};

/* The node of a process; whether the process was lost with its node. */
static inline int job_node(const struct sim *s, int q)
{
    int slots = job_world(s)->node_slots;
    return slots ? q / slots : 0;
}
static inline int job_lost_with_node(const struct sim *s, int q)
{
    return ft_bit_get(&job_world(s)->lost_with_node, q);
}

uint64_t job_clock(const struct sim *s); /* the time, which is the same for all processes */
/* Feeds p's machine one event, and what p owes after it. */
void job_event(struct sim *s, int p, struct ft_process_event ev);
struct ft_process_event job_seen(uint32_t look, uint64_t value);
void job_look(struct sim *s, int p); /* looks at p's main */
void job_mail(struct sim *s, int p, int from, const struct ft_mail *m);
void job_carry_out(struct sim *s, int p, const struct ft_process_actions *out);
/* Nobody is inside an access to p's windows that began before p had entered the snapshot. */
int job_is_untouched(const struct sim *s, int p);

/* job_choices.c: what can happen next */
void job_can(struct sim *s, struct sim_choices *out);
int job_root_is_idle(const struct sim *s);
int job_missing_child(
    const struct ft_order *o); /* a child that has not answered; -1: there is none */

#endif
