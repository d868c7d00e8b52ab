/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rt.h - one process of a job: what main and agent share (rt_state.h), and its parts.
 *
 * Main and agent meet in two ways only. (1) Through the mailbox: main says where it is, and where
 * it stands it takes commands from the agent, one at a time. (2) `ft_attention` tells a main that
 * is under way that a new generation has come, or that it has to leave its call for a rollback.
 * Only the agent touches the machines of src/proto; only main touches messages and windows.
 */
#ifndef FT_RUNTIME_RT_H
#define FT_RUNTIME_RT_H

#include "runtime/rt_state.h"

static inline int ft_is_rank(const struct ft_rt *rt)
{
    int p = atomic_load(&rt->pos);
    return p >= 0 && p < rt->board->nranks;
}
static inline int ft_is_checksum(const struct ft_rt *rt)
{
    return atomic_load(&rt->pos) >= rt->board->nranks;
}
static inline uint32_t ft_who(const struct ft_rt *rt)
{
    int p = atomic_load(&rt->pos), n = rt->board->nranks;
    return p < 0   ? FT_WHO(FT_ROLE_SPARE, rt->spare)
           : p < n ? FT_WHO(FT_ROLE_RANK, p)
                   : FT_WHO(FT_ROLE_CHECKSUM, p - n);
}

static inline enum ft_place ft_main_at(const struct ft_rt *rt) { return ft_box_place(&rt->box); }
static inline int ft_in_body(const struct ft_rt *rt)
{
    return ft_main_at(rt) == FT_AT_BODY || ft_main_at(rt) == FT_AT_HELD;
}
static inline int ft_in_run(const struct ft_rt *rt)
{
    return ft_main_at(rt) >= FT_AT_ENTRY && ft_main_at(rt) <= FT_AT_RESTORED;
}
static inline int ft_said(const struct ft_rt *rt, uint32_t flag) /* FT_SAYS_* */
{
    return (atomic_load(&rt->box.flags) & flag) != 0;
}

/* station.c: main stands at a place and carries out commands. Returns the command that lets it go
 * on, and its argument. BODY and RESUME are answered only when main has entered body. */
enum ft_command ft_station(struct ft_rt *rt, enum ft_place at, struct ft_command_arg *arg);
/* The first part of that: main comes to the place. It may be taken back for a rollback meanwhile.
 */
void ft_rt_stand(struct ft_rt *rt, enum ft_place at);
void ft_rt_move(struct ft_rt *rt, enum ft_place to); /* main has come to a place; tells the agent */
void ft_rt_answer(struct ft_rt *rt, struct ft_answer with);
void ft_rt_attend(void);
void ft_still_answer(struct ft_rt *rt); /* still.c: main records on the board where it is */

/* shell.c */
void ft_agent_start(struct ft_rt *rt);
/* main calls it when something has changed that the agent should look at */
void ft_agent_nudge(struct ft_rt *rt);
void ft_rt_event(struct ft_rt *rt, enum ft_event_kind kind, uint32_t who, int64_t a, int64_t b,
                 int64_t c, uint64_t dur_ns);
/* End the job for all, and this process. Either thread. fail: the program has failed, with this
 * status. give_up: is called by ft_give_up (base/reason.h), which all others call. */
_Noreturn void ft_rt_fail(struct ft_rt *rt, int status, const char *message);
_Noreturn void ft_rt_give_up(struct ft_rt *rt, enum ft_reason reason, const char *message);

/* station.c, release.c. Main calls these, or the agent in its turn. */
void ft_rt_rebind(struct ft_rt *rt); /* from now on each rank is accessed at its present carrier */
/* gives back the arenas of the dead that nobody here uses any more */
void ft_rt_release(struct ft_rt *rt);
/* main: who carries a position, by the mapping that the agent handed over last */
int ft_rt_slot_at(struct ft_rt *rt, int pos);
#endif
